"""What the papers say of activation functions and of how the score is estimated."""

from __future__ import annotations

import pandas as pd

from affscore.papers.claims.claim import Claim, Outcome
from affscore.papers.claims.estimate import SCORES, Estimate, every, mean_of
from affscore.papers.claims.facts import Facts

__all__ = ["FUNCTIONS"]

PAPER, FIRST = "From Alexnet to Transformers", "first version"

NEAR_ZERO = 0.1
AGREE = 0.02
DRIFT = 0.03


def _of_domain(facts: Facts, column: str, *names: str) -> list[pd.Series] | None:
    """A column of the summary of figure 6 for these functions, a value for each draw; None where one is not there."""
    if facts.domain is None or not set(names) <= set(facts.domain.index.get_level_values(1)):
        return None
    return [facts.domain[column].xs(name, level=1) for name in names]


def _near_zero(facts: Facts) -> Outcome | None:
    found = _of_domain(facts, "lowest", "relu", "gelu")
    if found is None:
        return None
    relu, gelu = (mean_of(one, SCORES) for one in found)
    holds = every(one.below(NEAR_ZERO, together=2) for one in (relu, gelu))
    return Outcome(holds, f"The lowest scores are {relu:.3f} for ReLU and {gelu:.3f} for GELU.")


def _sigmoid_stays_away(facts: Facts) -> Outcome | None:
    found = _of_domain(facts, "lowest", "sigmoid")
    if found is None:
        return None
    lowest = mean_of(found[0], SCORES)
    return Outcome(lowest.above(NEAR_ZERO), f"The lowest score of Sigmoid is {lowest:.2f}.")


def _wide_and_narrow(facts: Facts) -> Outcome | None:
    found = _of_domain(facts, "bent", "sigmoid", "gelu", "relu")
    if found is None:
        return None
    sigmoid, gelu, relu = found
    holds = every(mean_of(one - 3 * relu).above(-0.5, together=2) for one in (sigmoid, gelu))
    means = ", ".join(
        f"{one.mean():.1f} for {name}" for name, one in zip(("Sigmoid", "GELU", "ReLU"), found, strict=True)
    )
    return Outcome(holds, f"Of 20 means the median score is below 0.95 at {means}.")


def _tanh_lower(facts: Facts) -> Outcome | None:
    found = _of_domain(facts, "lowest", "tanh", "sigmoid")
    if found is None:
        return None
    tanh, sigmoid = found
    holds = mean_of(tanh - sigmoid / 2).below()
    return Outcome(
        holds,
        f"The lowest score of Tanh is {mean_of(tanh, SCORES):.3f}, that of Sigmoid {mean_of(sigmoid, SCORES):.3f}.",
    )


def _leaky(facts: Facts) -> Outcome | None:
    found = _of_domain(facts, "average", "leaky_relu", "relu", "relu6")
    if found is None:
        return None
    leaky, relu, relu6 = found
    holds = every(mean_of(leaky - other).above(together=2) for other in (relu, relu6))
    found_means = f"{leaky.mean():.3f} for LeakyReLU, {relu.mean():.3f} for ReLU and {relu6.mean():.3f} for ReLU6"
    return Outcome(holds, f"The average scores are {found_means}.")


def _relu_more_than_sigmoid(facts: Facts) -> Outcome | None:
    if "wide" in facts.activations:
        inputs = facts.activations["wide"]
    elif "reductions" in facts.activations:
        inputs = facts.activations["reductions"].assign(std=1.0).rename(columns={"mean": "score"})
    else:
        return None
    inputs = inputs.pivot_table(index=["std", "draw"], columns="activation", values="score")
    leads = {
        (std, name): mean_of(rows[name] - rows["relu"])
        for std, rows in inputs.groupby("std")
        for name in ("tanh", "sigmoid")
    }
    holds = every(lead.above(together=len(leads)) for lead in leads.values())
    means = inputs.groupby("std")[["relu", "tanh", "sigmoid"]].mean()
    told = "; ".join(
        f"{std:g}: {row['relu']:.2f}, {row['tanh']:.2f}, {row['sigmoid']:.2f}" for std, row in means.iterrows()
    )
    return Outcome(holds, f"Scores of ReLU, Tanh and Sigmoid on a normal input around 0 by its deviation: {told}.")


def _by_draw(reductions: pd.DataFrame) -> pd.DataFrame:
    return reductions.set_index(["draw", "activation"])


def _reductions_agree(facts: Facts) -> Outcome | None:
    if "reductions" not in facts.activations:
        return None
    three = _by_draw(facts.activations["reductions"])[["mean", "sum", "flatten"]]
    largest = mean_of((three.max(axis=1) - three.min(axis=1)).groupby("draw").max())
    found = f"Averaging, summing and flattening differ by {largest:.4f} for the function of nine that differs most."
    return Outcome(largest.below(AGREE), found)


def _sample_covariance_drifts(facts: Facts) -> Outcome | None:
    if "drift" not in facts.activations:
        return None
    sweep = facts.activations["drift"]
    rises = _along(sweep[sweep["covariance"] == "empirical"])
    smallest = mean_of((rises.iloc[:, -1] - rises.iloc[:, 0]).groupby("repeat").min())
    found = f"From d = n/2 to 4.5 n the score of every one of nine functions rises, by at least {smallest:.3f}."
    return Outcome(smallest.above(DRIFT), found)


def _shrinkage_is_constant(facts: Facts) -> Outcome | None:
    sweep = facts.activations.get("drift", facts.activations.get("correlated"))
    if sweep is None:
        return None
    errors = _along(sweep[sweep["covariance"] == "ledoit-wolf"])
    largest = _largest_move(errors)
    found = f"From d = n/2 to 4.5 n the distance of a score from its limit moves by up to {largest:.3f} with shrinkage."
    return Outcome(largest.below(AGREE), found)


def _along(sweep: pd.DataFrame) -> pd.DataFrame:
    """Scores less their limits for infinitely many points: a row for each function and draw, a column for each d/n."""
    return sweep.pivot_table(index=["activation", "repeat"], columns="width", values="error")


def _largest_move(errors: pd.DataFrame) -> Estimate:
    """Of the function that moves most, how far its mean over the draws moves, with the error of two such means."""
    means = errors.groupby("activation").mean()
    name = str((means.max(axis=1) - means.min(axis=1)).idxmax())
    rows, row = errors.xs(name, level="activation").to_numpy(), means.loc[name].to_numpy()
    return mean_of(rows[:, row.argmax()] - rows[:, row.argmin()])


_NOTHING = "nothing that is not computed here"

FUNCTIONS = (
    Claim(
        "relu-and-gelu-near-zero",
        f"{PAPER}, appendix D; {FIRST}, section 3.1",
        "On some inputs ReLU and GELU are almost as non-linear as can be.",
        f"The lowest scores of both are below {NEAR_ZERO}, with intervals over samples.",
        _near_zero,
        _NOTHING,
    ),
    Claim(
        "sigmoid-not-near-zero",
        f"{PAPER}, appendix D; {FIRST}, section 3.1",
        "Sigmoid never comes close to a score of 0.",
        f"Its lowest score is above {NEAR_ZERO}, with its interval over samples.",
        _sigmoid_stays_away,
        _NOTHING,
    ),
    Claim(
        "wide-and-narrow",
        f"{PAPER}, appendix D; {FIRST}, section 3.1",
        "ReLU bends only near its kink, Sigmoid and GELU over much of the axis.",
        "Both bend at three times as many of the twenty means as ReLU, in every sample.",
        _wide_and_narrow,
        _NOTHING,
    ),
    Claim(
        "tanh-lower-than-sigmoid",
        f"{PAPER}, appendix D",
        "Tanh looks like Sigmoid and yet reaches much lower scores.",
        "Its lowest score is less than half of Sigmoid's, with an interval over samples.",
        _tanh_lower,
        _NOTHING,
    ),
    Claim(
        "leaky-relu-more-linear",
        f"{PAPER}, appendix D",
        "Over many inputs a leak below zero pays off: ReLU and ReLU6, which have none, score lower than LeakyReLU.",
        "Its average score over all inputs of figure 6 is above that of both, with intervals over samples.",
        _leaky,
        _NOTHING,
    ),
    Claim(
        "relu-more-than-sigmoid",
        f"{PAPER}, section 3.2",
        "Given one input, ReLU bends it more than Sigmoid or Tanh, though it is made of two straight pieces.",
        "On every normal input around 0 that was tried its score is below those of both, with intervals over samples.",
        _relu_more_than_sigmoid,
        _NOTHING,
    ),
    Claim(
        "reductions-agree",
        f"{PAPER}, appendix E; {FIRST}, section 3.2",
        "On maps of independent entries the score is the same whether they are averaged, summed or flattened.",
        f"The three agree to {AGREE} for all nine functions of figure 7. Maps whose positions share a part are another "
        "matter: see chapter 3.",
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
        f"No score of the nine functions moves by {AGREE} along the axis of figure 7, less the limit that it tends to.",
        _shrinkage_is_constant,
        _NOTHING,
    ),
)
"""Claims that need no network."""
