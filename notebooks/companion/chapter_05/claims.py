"""Section 4, residual connections: figure 5 D, the same networks with and without shortcuts."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy import stats

from affscore.network.result import Signature
from companion.chapter_05.measurements import unimodality_test
from companion.claims import ON_IMAGENET, PAPER, Decision, Verdict, above, claim
from companion.permutation import p_value_text
from companion.results import Results
from companion.statistics import CHANCE, SCORES, mean_of, require

_D = f"{PAPER}, section 4 and figure 5 D"

_TWINS = "trained pairs of networks with and without shortcuts, six designs at least"

_tested = cache(unimodality_test)  # by scores as a tuple


def twins(results: Results) -> list[tuple[Signature, Signature]]:
    """Plain networks and their residual twins, one pair a design, those with the fewest activations first."""
    names = [(name.replace("resnet", "plainnet"), name) for name in results.beginning("resnet")]
    both = results.signatures
    return [(both[plain], both[residual]) for plain, residual in names if plain in both]


def one_mode(signature: Signature) -> float:
    """Silverman's p-value for one mode."""
    return _tested(tuple(signature.scores[np.isfinite(signature.scores)])).p_value


def _pooled(p_values: list[float]) -> Decision:
    """Whether several tests reject one mode together, by Fisher's sum of the logarithms of their p-values."""
    p, freedom = float(stats.combine_pvalues(p_values, "fisher").pvalue), 2 * len(p_values)
    each = np.exp(-stats.chi2.isf(CHANCE, freedom) / freedom)
    return Decision(p_value_text(p), True, p, len(p_values), f"p = {each:.2f} in each would have been enough")


@claim(_D, _TWINS)
def shortcuts_make_two_modes(results: Results) -> Verdict:
    """With shortcuts the scores of a network have two modes; without them the same network has one.

    Test: Silverman's p-values for one mode, pooled over the residual designs (Fisher), reject it, and they are smaller
    than those of the plain twins, by a sign test over designs. It does not hold where those of the plain twins, pooled,
    reject it, too. (That a single mode is not rejected is no evidence of one.)
    """
    require(pairs := twins(results))
    plain, residual = (np.array([one_mode(one) for one in several]) for several in zip(*pairs, strict=True))
    smaller, larger, count = int((residual < plain).sum()), int((residual > plain).sum()), len(pairs)
    p = float(stats.binomtest(smaller, smaller + larger).pvalue) if smaller + larger else 1.0
    enough = [k for k in range(count // 2 + 1, count + 1) if stats.binomtest(k, count).pvalue < CHANCE]
    seen = f"{enough[0]} would have been seen" if enough else "so few decide nothing"
    shown = f"{smaller} of {count} ({p_value_text(p)})"
    without = _pooled(list(plain))
    parts = {
        f"with shortcuts (without them, {without.shown})": _pooled(list(residual)),
        "smaller with shortcuts in": Decision(shown, smaller > larger, p, count, seen),
    }
    if without.at():
        parts["without them, too"] = without._replace(right=False)
    return Verdict.all_of(parts, "Silverman's p for one mode", units="pairs of designs")


@claim(f"{PAPER}, figure 5 C", f"two ResNets {ON_IMAGENET}")
def resnets_bimodal(results: Results) -> Verdict:
    """The scores of ResNets have a bimodal distribution.

    Test: Silverman's p-values for one mode, pooled over the ResNets (Fisher), reject it.
    """
    resnets = [results.signatures[name] for name in results.beginning("resnet")]
    require(len(resnets) > 1)
    return Verdict.all_of(
        {"over ResNets": _pooled([one_mode(one) for one in resnets])}, "Silverman's p for one mode, pooled"
    )


@claim(f"{PAPER}, section 4", f"ResNets {ON_IMAGENET}")
def upper_group_is_linear(results: Results) -> Verdict:
    """The upper group of a residual network's scores, those after a sum, is highly linear.

    Test: The median score after sums is above 0.9, with an interval over designs. (The paper says that one of two
    modes lies at highly linear activations. Whether there are two modes is not tested here, but by the claims above.)
    """
    groups = results.inside_and_outside("resnet", "kind", "after-sum").values()
    median = mean_of([np.median(after) for after, _ in groups], SCORES)
    return Verdict.all_of({"after a sum, mean over ResNets": above(median, 0.9)}, "Median score")
