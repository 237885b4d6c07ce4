"""Figure 5 D: the same networks with and without residual connections."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd
from scipy import stats

from affscore.analysis import (
    common_language_effect_size,
    component_agreement,
    mixture_test,
    p_value_text,
    unimodality_test,
)
from affscore.errors import AffscoreError
from affscore.network.result import Signature
from affscore.options import Specification, check_integer
from affscore.papers.alexnet_to_transformers import PAPER
from affscore.papers.alexnet_to_transformers.figure_05 import one_mode
from affscore.papers.claim import ON_IMAGENET, Verdict, claim
from affscore.papers.estimate import CHANCE, SCORES, every, if_significant, mean_of, not_significant, require
from affscore.papers.evidence import counted
from affscore.papers.results import Results

_D = f"{PAPER}, section 4 and figure 5 D"
FIRST, SECOND = ("first",), ("second", "after-sum")
"""Kinds of the two activations of a block."""

MOST_LISTED = 4
"""Of how many pairs a sentence gives the p-values."""

_TWINS = "trained pairs of networks with and without shortcuts, six at least"


def groups_of_scores(study: pd.DataFrame, resamples: int = 99) -> pd.DataFrame:
    """Are the scores of each network of one group, and are the groups the two activations of its blocks?

    Args:
        study: Networks with blocks of two activations (:mod:`affscore.survey.studies`).
        resamples: Of Silverman's test, 19 at least: with fewer no p-value is below 5 %.

    Returns:
        A row for each network and specification: ``network``, ``weights``, ``shortcuts`` (whether it has them),
        ``activations``, the five words of the specification; ``one Gaussian`` and ``one mode``, the p-values
        of :func:`affscore.analysis.mixture_test` and :func:`affscore.analysis.unimodality_test`; ``agreement`` of the
        two Gaussians with the two activations of a block (:func:`affscore.analysis.component_agreement`; the stem is
        left out); ``separation``, how often the score of the second one, or of that after the sum, exceeds one of a
        first (:func:`affscore.analysis.common_language_effect_size`); and ``first``, ``second``, p-values of
        one Gaussian for each of the two alone.

    Raises:
        AffscoreError: Too few resamples, or a network without blocks of two activations.

    >>> from affscore.survey.studies import load_study, under
    >>> rows = under(load_study("shortcuts")).query("network == 'residual34' and seed == 1")
    >>> (found,) = groups_of_scores(rows).itertuples()
    >>> found.activations, found.separation > 0.9
    (33, True)
    """
    check_integer("resamples", resamples, 19)
    rows, words = [], list(Specification._fields)
    for (model, weights, *choice), table in study.groupby(["model", "weights", *words], sort=False):
        first, second = (table.loc[table["kind"].isin(kinds), "score"].dropna() for kinds in (FIRST, SECOND))
        if first.empty or second.empty:
            raise AffscoreError(f"expected a network with blocks of two activations, got {model}, which has none")
        scores = table["score"].dropna()
        labels = ["first"] * len(first) + ["second"] * len(second)
        rows.append({
            "network": str(model).rpartition(":")[2],
            "weights": weights,
            "shortcuts": bool((table["kind"] == "after-sum").any()),
            "activations": len(scores),
            **dict(zip(words, choice, strict=True)),
            "one Gaussian": mixture_test(scores).p_value,
            "one mode": unimodality_test(scores, resamples).p_value,
            "agreement": component_agreement([*first, *second], labels),
            "separation": common_language_effect_size(second, first),
            "first": mixture_test(first).p_value,
            "second": mixture_test(second).p_value,
        })  # fmt: skip
    return pd.DataFrame(rows)


@claim(20, _D, _TWINS)
def shortcuts_make_two_modes(results: Results) -> Verdict:
    """With shortcuts the scores of a network have two modes; without them the same network has one.

    Test: Silverman's test rejects one mode for the residual network alone more often than for its plain twin alone, by
    a sign test over pairs.
    """
    return _more_often(
        results, one_mode, "Silverman's p for one mode", "An accepted single mode is no evidence of one."
    )


@claim(51, f"{_D}, by another test", _TWINS)
def shortcuts_make_two_components(results: Results) -> Verdict:
    """With shortcuts the scores of a network are of two groups; without them those of the same network are of one.

    Test: The likelihood ratio of two Gaussians rejects one for the residual network alone more often than for its
    plain twin alone, by a sign test over pairs.
    """
    note = "A skewed group is no Gaussian either, so that a rejection need not mean two groups."
    return _more_often(results, one_gaussian, "The p-value of one Gaussian", note)


@claim(52, f"{_D}, taken further", "trained pairs of networks with and without shortcuts")
def groups_are_kinds(results: Results) -> Verdict:
    """With shortcuts the scores of a network are of two groups, which are the two activations of its blocks.

    Test: How often a score after a sum is above one inside a block is above 0.9, and above what the second and the
    first activation of a block reach in the plain twin, with intervals over pairs.
    """
    require(pairs := twins(results))
    plain, residual = (np.array([_separation(one) for one in several]) for several in zip(*pairs, strict=True))
    shares, lead = mean_of(residual, SCORES), mean_of(residual - plain)
    found = (
        f"A score after a sum is above one inside a block in {shares:.2f} of all cases; without shortcuts the second "
        f"of a block is above the first in {plain.mean():.2f}: a lead of {lead:.2f} over {len(pairs)} pairs."
    )
    return Verdict(every([shares.above(0.9, together=2), lead.above(together=2)]), found, 2 * len(pairs))


def _separation(signature: Signature) -> float:
    """How often the second activation of a block, or that after its sum, has a higher score than the first."""
    summary = signature.summary.dropna(subset="score")
    first, second = (summary.loc[summary["kind"].isin(kinds), "score"] for kinds in (FIRST, SECOND))
    return common_language_effect_size(second, first)


def _more_often(results: Results, p_value: Callable[[Signature], float], what: str, note: str) -> Verdict:
    """Whether a test rejects for residual networks alone more often than for their plain twins alone."""
    tested = [(len(residual), p_value(plain), p_value(residual)) for plain, residual in twins(results)]
    require(tested)
    with_it = sum(residual < CHANCE <= plain for _, plain, residual in tested)
    without = sum(plain < CHANCE <= residual for _, plain, residual in tested)
    p = stats.binomtest(with_it, with_it + without).pvalue if with_it + without else 1.0
    of_pairs = [f"{plain:.3f} / {residual:.3f} ({n})" for n, plain, residual in tested[-MOST_LISTED:]]
    which = f", the {MOST_LISTED} largest" if len(tested) > MOST_LISTED else ""
    found = (
        f"{what} without / with shortcuts (activations of the pair{which}): {', '.join(of_pairs)}. It is rejected for "
        f"the residual network alone in {with_it} of {len(tested)} pairs, for the plain one alone in {without} "
        f"({p_value_text(p)}). {note}"
    )
    holds = if_significant(p, with_it > without)
    return Verdict.of_parts(
        {not_significant(p, "the sign test", f"{counted(with_it + without, 'pair')} with a difference"): holds},
        found,
        2 * len(tested),
    )


def twins(results: Results) -> list[tuple[Signature, Signature]]:
    """Plain networks and their residual twins, those with the fewest activations first."""
    names = [(name.replace("resnet", "plainnet"), name) for name in results.beginning("resnet")]
    both = results.signatures
    return [(both[plain], both[residual]) for plain, residual in names if plain in both]


def one_gaussian(signature: Signature) -> float:
    """The p-value of one Gaussian against two."""
    return _mixture(tuple(signature.scores[np.isfinite(signature.scores)]))


@cache
def _mixture(scores: tuple[float, ...]) -> float:
    return mixture_test(scores).p_value


@claim(22, f"{PAPER}, section 4", f"ResNets {ON_IMAGENET}")
def upper_group_is_linear(results: Results) -> Verdict:
    """The upper group of a residual network's scores, those after a sum, is highly linear.

    Test: The median score after sums is above 0.9, with an interval over networks. (The paper says that one of two
    modes lies at highly linear activations. Whether there are two modes is not tested here, but by the claims above.)
    """
    medians = [np.median(after) for after, _ in results.inside_and_outside("resnet", "kind", "after-sum")]
    median = mean_of(medians, SCORES)
    found = f"The median score after a sum is {median:.2f} on average over the ResNets."
    return Verdict(median.above(0.9), found, len(medians))
