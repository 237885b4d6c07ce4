"""What the papers say of activation functions and of how the score is estimated."""

from __future__ import annotations

from affscore.analysis.cells import cell
from affscore.analysis.claims.claim import Claim, Outcome
from affscore.analysis.claims.facts import Facts

__all__ = ["FUNCTIONS"]

PAPER, FIRST = "From Alexnet to Transformers", "first version"

NEAR_ZERO = 0.1
AGREE = 0.02
DRIFT = 0.03


def _near_zero(facts: Facts) -> Outcome | None:
    if facts.activations is None:
        return None
    lowest = facts.activations.domain["lowest"]
    numbers = {name: float(lowest[name]) for name in ("relu", "gelu")}
    holds = max(numbers.values()) < NEAR_ZERO
    ends = "both below" if holds else "not both below"
    return Outcome(
        holds, f"the lowest scores are {{relu:.2f}} for ReLU and {{gelu:.2f}} for GELU, {ends} {NEAR_ZERO}", numbers
    )


def _sigmoid_stays_away(facts: Facts) -> Outcome | None:
    if facts.activations is None:
        return None
    numbers = {"sigmoid": cell(facts.activations.domain, "sigmoid", "lowest")}
    holds = numbers["sigmoid"] >= NEAR_ZERO
    ends = "not below" if holds else "below"
    return Outcome(holds, f"the lowest score of Sigmoid is {{sigmoid:.2f}}, {ends} {NEAR_ZERO}", numbers)


def _wide_and_narrow(facts: Facts) -> Outcome | None:
    if facts.activations is None:
        return None
    bent = facts.activations.domain["bent"]
    numbers = {name: float(bent[name]) for name in ("sigmoid", "gelu", "relu")}
    holds = min(numbers["sigmoid"], numbers["gelu"]) >= 3 * numbers["relu"]
    ends = "at least three times as many for both" if holds else "less than three times as many for one of them"
    words = (
        "of 20 means the median score is below 0.95 at {sigmoid:.0f} for Sigmoid, {gelu:.0f} for GELU and {relu:.0f} "
    )
    return Outcome(holds, f"{words}for ReLU: {ends}", numbers)


def _tanh_lower(facts: Facts) -> Outcome | None:
    if facts.activations is None:
        return None
    lowest = facts.activations.domain["lowest"]
    numbers = {name: float(lowest[name]) for name in ("tanh", "sigmoid")}
    holds = numbers["tanh"] < numbers["sigmoid"] / 2
    ends = "less than half of" if holds else "not less than half of"
    return Outcome(holds, f"the lowest score of Tanh is {{tanh:.2f}}, {ends} the {{sigmoid:.2f}} of Sigmoid", numbers)


def _leaky(facts: Facts) -> Outcome | None:
    if facts.activations is None:
        return None
    average = facts.activations.domain["average"]
    numbers = {name: float(average[name]) for name in ("leaky_relu", "relu", "relu6")}
    holds = numbers["leaky_relu"] > max(numbers["relu"], numbers["relu6"])
    ends = "larger than" if holds else "not larger than both of"
    return Outcome(
        holds,
        f"LeakyReLU scores {{leaky_relu:.3f}} on average, {ends} {{relu:.3f}} (ReLU) and {{relu6:.3f}} (ReLU6)",
        numbers,
    )


def _relu_more_than_sigmoid(facts: Facts) -> Outcome | None:
    if facts.activations is None:
        return None
    score = facts.activations.reductions["score"]
    numbers = {name: float(score[name]) for name in ("relu", "tanh", "sigmoid")}
    holds = numbers["relu"] < numbers["tanh"] and numbers["relu"] < numbers["sigmoid"]
    ends = "the lowest of" if holds else "not the lowest of"
    words = "on the same standard normal input ReLU scores {relu:.2f}, "
    return Outcome(holds, f"{words}{ends} the three: Tanh {{tanh:.2f}}, Sigmoid {{sigmoid:.2f}}", numbers)


def _reductions_agree(facts: Facts) -> Outcome | None:
    if facts.activations is None:
        return None
    three = facts.activations.reductions[["mean", "sum", "flatten"]]
    numbers = {"largest": float((three.max(axis=1) - three.min(axis=1)).max())}
    holds = numbers["largest"] < AGREE
    ends = "by at most" if holds else "by up to"
    return Outcome(
        holds,
        f"on maps of independent entries averaging, summing and flattening differ {ends} {{largest:.3f}} for any of "
        f"nine functions ({AGREE} is the limit)",
        numbers,
    )


def _sample_covariance_drifts(facts: Facts) -> Outcome | None:
    if facts.activations is None:
        return None
    curves = facts.activations.empirical
    rise = curves.iloc[:, -1] - curves.iloc[:, 0]
    numbers = {"smallest": float(rise.min()), "largest": float(rise.max())}
    holds = numbers["smallest"] > DRIFT
    ends = "all" if holds else "not all"
    words = "from d = n/2 to 4.5 n the scores of nine functions rise by {smallest:.2f} to {largest:.2f}"
    return Outcome(holds, f"{words}, {ends} by more than {DRIFT}", numbers)


def _shrinkage_is_constant(facts: Facts) -> Outcome | None:
    if facts.activations is None:
        return None
    curves = facts.activations.shrinkage_drift
    numbers = {"largest": float((curves.max(axis=1) - curves.min(axis=1)).max())}
    holds = numbers["largest"] < AGREE
    ends = "at most" if holds else "up to"
    words = f"with shrinkage scores of nine functions move by {ends} {{largest:.3f}} from d = n/2 to 4.5 n"
    return Outcome(holds, f"{words} ({AGREE} is the limit)", numbers)


_NOTHING = "nothing that is not computed here"

FUNCTIONS = (
    Claim(
        "relu-and-gelu-near-zero",
        f"{PAPER}, appendix D; {FIRST}, section 3.1",
        "On some inputs ReLU and GELU are almost as non-linear as can be.",
        f"The lowest score of either is below {NEAR_ZERO}.",
        _near_zero,
        _NOTHING,
    ),
    Claim(
        "sigmoid-not-near-zero",
        f"{PAPER}, appendix D; {FIRST}, section 3.1",
        "Sigmoid never comes close to a score of 0.",
        f"Its lowest score is not below {NEAR_ZERO}.",
        _sigmoid_stays_away,
        _NOTHING,
    ),
    Claim(
        "wide-and-narrow",
        f"{PAPER}, appendix D; {FIRST}, section 3.1",
        "ReLU bends only near its kink, Sigmoid and GELU over much of the axis.",
        "Both bend at three times as many of the twenty means as ReLU.",
        _wide_and_narrow,
        _NOTHING,
    ),
    Claim(
        "tanh-lower-than-sigmoid",
        f"{PAPER}, appendix D",
        "Tanh looks like Sigmoid and yet reaches much lower scores.",
        "Its lowest score is less than half of Sigmoid's.",
        _tanh_lower,
        _NOTHING,
    ),
    Claim(
        "leaky-relu-more-linear",
        f"{PAPER}, appendix D",
        "Over many inputs a leak below zero pays off: ReLU and ReLU6, which have none, score lower than LeakyReLU.",
        "Its average score over all inputs of figure 6 is the largest of the three.",
        _leaky,
        _NOTHING,
    ),
    Claim(
        "relu-more-than-sigmoid",
        f"{PAPER}, section 3.2",
        "Given one input, ReLU bends it more than Sigmoid or Tanh, though it is made of two straight pieces.",
        "On a standard normal input its score is the lowest of the three.",
        _relu_more_than_sigmoid,
        _NOTHING,
    ),
    Claim(
        "reductions-agree",
        f"{PAPER}, appendix E; {FIRST}, section 3.2",
        "On maps of independent entries the score is the same whether they are averaged, summed or flattened.",
        f"The three agree to {AGREE} for all nine functions of figure 7, on maps of independent normal numbers. Maps "
        "whose positions share a part are another matter: see chapter 3.",
        _reductions_agree,
        _NOTHING,
    ),
    Claim(
        "sample-covariance-drifts",
        f"{PAPER}, appendix E; {FIRST}, section 3.2",
        "With the sample covariance and more dimensions than points the score is not robust.",
        f"The scores of all nine functions rise by more than {DRIFT} along the axis of figure 7.",
        _sample_covariance_drifts,
        _NOTHING,
    ),
    Claim(
        "shrinkage-is-constant",
        f"{PAPER}, appendix E; {FIRST}, section 3.2",
        "With a shrunk covariance the score stays the same whatever the dimension.",
        f"No score of the nine functions moves by {AGREE} along the axis of figure 7.",
        _shrinkage_is_constant,
        _NOTHING,
    ),
)
"""Claims that need no network."""
