"""Section 5 leaves language models to future work: what small ones say that were trained here."""

from __future__ import annotations

from typing import cast

import pandas as pd

from affscore.papers.alexnet_to_transformers import PAPER
from affscore.papers.claim import Verdict, claim
from affscore.papers.estimate import Estimate, every, mean_of, require
from affscore.papers.results import Results

_NEEDS = "a study of language models (python scripts/make_studies.py --only language)"

SAME = 0.01
"""Mean scores that are closer than this count as the same: it is what the choice of a batch moves."""


def mean_scores(results: Results) -> pd.DataFrame:
    """The mean score of each training of the language models: rows are seeds, columns (``network``, ``way``)."""
    require("language" in results.studies)
    study = results.studies["language"]
    return cast(pd.DataFrame, study.pivot_table("score", "seed", ["network", "way"]))


@claim(74, f"{PAPER}, section 5, future work", _NEEDS)
def gates_show_in_language_models(results: Results) -> Verdict:
    """In language models the score shows the effect of an architectural choice.

    Test: The mean scores of language models that differ in the gates of their feed-forward parts differ, with an
    interval over trainings. The claim does not hold where the whole interval of the difference is within 0.01.
    """
    means = mean_scores(results).xs("language", axis=1, level="way")
    require({"char_gpt", "gated_char_gpt"} <= set(means) and len(means) > 1)
    plain, gated = (mean_of(means[name]) for name in ("char_gpt", "gated_char_gpt"))
    gap = gated - plain
    low, high = gap.interval()
    found = f"With gated units the mean score is {gap:+.3f} from that without ({plain.value:.3f})."
    return Verdict(_differ(low, high), found, 2 * len(means))


def _differ(low: float, high: float) -> bool | None:
    """Whether an interval of a difference leaves out 0; not, where all of it is next to 0.

    >>> _differ(0.02, 0.03), _differ(-0.005, 0.006), _differ(-0.1, 0.2)
    (True, False, None)
    """
    return True if low > 0 or high < 0 else False if max(-low, high) < SAME else None


@claim(75, f"{PAPER}, section 5 and figure 9, carried over to language models", _NEEDS)
def training_bends_language_models(results: Results) -> Verdict:
    """Training makes a language model more non-linear.

    Test: The mean score is lower after training than before, in each architecture, with intervals over trainings.
    """
    means = mean_scores(results)
    networks = list(dict.fromkeys(means.columns.get_level_values("network")))
    falls: list[Estimate] = []
    for name in networks:
        require({"language", "untrained"} <= set(means[name]) and len(means) > 1)
        falls.append(mean_of(means[name]["untrained"] - means[name]["language"]))
    listed = ", ".join(f"{fall:.3f} ({name})" for name, fall in zip(networks, falls, strict=True))
    holds = every([fall.above(together=len(falls)) for fall in falls])
    return Verdict(holds, f"Training lowers the mean score by {listed}.", len(networks) * len(means))
