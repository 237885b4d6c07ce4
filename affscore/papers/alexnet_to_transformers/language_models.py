"""Section 5 leaves language models to future work: what small ones say that were trained here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pandas as pd

from affscore.options import Specification
from affscore.papers.alexnet_to_transformers import PAPER
from affscore.papers.claim import Verdict, claim
from affscore.papers.estimate import Estimate, differ, every, mean_of, require
from affscore.papers.evidence import study_tested, trainings_of_study
from affscore.papers.results import Results

_NEEDS = "a study of language models (python scripts/make_studies.py --only language)"

PLAIN, GATED = "char_gpt", "gated_char_gpt"
"""The networks of the study: with an ordinary feed-forward part, and with gates."""

SAME = 0.01
"""Mean scores that are closer than this count as the same: the choice of a batch moves them as far."""


def mean_scores(study: pd.DataFrame, network: str, way: str = "language") -> pd.Series:
    """The mean score of a network by ``seed``, of the rows of one specification.

    Args:
        study: Rows with ``network``, ``way``, ``seed`` and ``score``.
        network: Which.
        way: "language", or "untrained".

    Raises:
        MissingResultsError: It was not trained at least twice.
    """
    rows = study[(study["network"] == network) & (study["way"] == way)]
    require(len(set(rows["seed"])) > 1)
    return rows.groupby("seed")["score"].mean()


def fall_in_training(study: pd.DataFrame, network: str) -> Estimate:
    """How far training lowers a network's mean score, with an interval over seeds."""
    return mean_of((mean_scores(study, network, "untrained") - mean_scores(study, network)).dropna())


def gap_of_gates(study: pd.DataFrame) -> Estimate:
    """The mean score with gates less that without, with Welch's interval over seeds."""
    gated, plain = (mean_of(mean_scores(study, network)) for network in (GATED, PLAIN))
    return gated - plain


def gap_at_equal_loss(course: pd.DataFrame) -> tuple[float, Estimate]:
    """The gap of gates where every training first reaches the loss that all of them reach.

    Args:
        course: Rows with ``network``, ``seed``, ``step``, ``bits`` and ``score``.

    Returns:
        That loss in bits, and the mean score with gates less that without, with Welch's interval over seeds.
    """
    means = course.groupby(["network", "seed", "step"])[["bits", "score"]].mean().reset_index()
    target = float(means.groupby(["network", "seed"])["bits"].min().max())
    first = means[means["bits"] <= target].groupby(["network", "seed"])["score"].first()
    return target, mean_of(first[GATED]) - mean_of(first[PLAIN])


def rise_over_blocks(study: pd.DataFrame) -> Estimate:
    """The last block's score less the first one's, after training, with an interval over networks and seeds."""
    trained = study[study["way"] == "language"]
    blocks = trained.pivot_table("score", ["network", "seed"], "index")
    return mean_of(blocks.iloc[:, -1] - blocks.iloc[:, 0])


def less_families(networks: pd.DataFrame, column: str, some: Sequence[str], others: Sequence[str]) -> Estimate:
    """The mean of a statistic over some networks less that over other families, whose means count once each.

    Args:
        networks: A row for each network, with ``family``.
        column: The statistic.
        some: Families whose networks count once each.
        others: Families.

    >>> rows = pd.DataFrame({"family": [*"aabbcc"], "median": [0.7, 0.8, 0.5, 0.5, 0.6, 0.6]})
    >>> f"{less_families(rows, 'median', ['a'], ['b', 'c']).value:.2f}"
    '0.20'
    """
    rest = networks[networks["family"].isin(others)].groupby("family")[column].mean()
    return mean_of(networks[networks["family"].isin(some)][column]) - mean_of(rest)


def under_each(rows: pd.DataFrame, statistic: Callable[[pd.DataFrame], Estimate]) -> list[Estimate]:
    """A statistic of the rows of each specification."""
    return [statistic(some) for _, some in rows.groupby(list(Specification._fields), sort=False)]


def signs(estimates: Iterable[Estimate]) -> tuple[int, int, int]:
    """How many numbers are above zero, below zero, and neither with their whole interval.

    >>> signs([mean_of([1.0, 1.1]), mean_of([-1.0, 1.0]), mean_of([1.0])])
    (1, 0, 2)
    """
    above = [one.above() for one in estimates]
    return above.count(True), above.count(False), above.count(None)


@claim(74, f"{PAPER}, section 5, future work", _NEEDS)
def gates_show_in_language_models(results: Results) -> Verdict:
    """In language models the score shows the effect of an architectural choice.

    Test: The mean scores of language models with and without gates in their feed-forward parts differ, with an interval
    over trainings. The claim does not hold where the whole interval of the difference is within 0.01 of zero.
    """
    require("language" in results.studies)
    study = results.studies["language"]
    gap = gap_of_gates(study)
    found = f"With gates the mean score is {gap:+.3f} from {mean_scores(study, PLAIN).mean():.3f} without."
    trained = study[study["way"] == "language"]
    return Verdict(differ([gap], SAME), found, trained["weights"].nunique(), _tested(trained))


@claim(75, f"{PAPER}, section 5 and figure 9, carried over to language models", _NEEDS)
def training_bends_language_models(results: Results) -> Verdict:
    """Training makes a language model more non-linear.

    Test: The mean score is lower after training than before, in each architecture, with intervals over trainings.
    """
    require("language" in results.studies)
    study = results.studies["language"]
    falls = {name: fall_in_training(study, name) for name in (PLAIN, GATED)}
    listed = " and ".join(f"{fall:.3f} ({name})" for name, fall in falls.items())
    holds = every([fall.above(together=len(falls)) for fall in falls.values()])
    trained = study[study["way"] == "language"]
    tested_on = f"{_tested(trained)}, before and after training"
    return Verdict(holds, f"Training lowers the mean score by {listed}.", trained["weights"].nunique(), tested_on)


def _tested(trained: pd.DataFrame) -> str:
    return study_tested(trained) if {"n", "batches"} <= set(trained) else trainings_of_study(trained)
