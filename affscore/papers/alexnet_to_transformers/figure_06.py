"""Figure 6: activation functions over their domain, and what appendix D and section 3.2 say of them."""

from __future__ import annotations

import pandas as pd

from affscore.experiments.activation_domain import domain_summary
from affscore.papers.alexnet_to_transformers import FIRST, PAPER
from affscore.papers.claim import Verdict, claim
from affscore.papers.estimate import SCORES, every, mean_of, require
from affscore.papers.evidence import inputs_of
from affscore.papers.results import Results

COMPUTED_HERE = "nothing that is not computed here"
_BOTH_VERSIONS = f"{PAPER}, appendix D; {FIRST}, section 3.1"


def _over_domain(results: Results, column: str, *names: str) -> list[pd.Series]:
    """A column of the summary of figure 6 for these functions, a value for each draw."""
    sweep = results.sweep("domain")
    require(set(names) <= set(sweep["activation"]))
    chosen = sweep[sweep["activation"].isin(names)]
    summary = pd.concat({draw: domain_summary(rows)[column] for draw, rows in chosen.groupby("draw")})
    return [summary.xs(name, level=1) for name in names]


def _inputs(results: Results, *names: str) -> str:
    """On which inputs these functions were tried."""
    sweep = results.sweep("domain")
    return inputs_of(sweep[sweep["activation"].isin(names)])


@claim(1, _BOTH_VERSIONS, COMPUTED_HERE)
def relu_and_gelu_near_zero(results: Results) -> Verdict:
    """On some inputs ReLU and GELU are almost as non-linear as can be.

    Test: The lowest scores of both are below 0.1, with intervals over samples.
    """
    relu, gelu = (mean_of(one, SCORES) for one in _over_domain(results, "lowest", "relu", "gelu"))
    holds = every(one.below(0.1, together=2) for one in (relu, gelu))
    found = f"The lowest scores are {relu:.3f} for ReLU and {gelu:.3f} for GELU."
    return Verdict(holds, found, tested_on=_inputs(results, "relu", "gelu"))


@claim(2, _BOTH_VERSIONS, COMPUTED_HERE)
def sigmoid_not_near_zero(results: Results) -> Verdict:
    """Sigmoid never comes close to a score of 0.

    Test: Its lowest score is above 0.1, with its interval over samples.
    """
    sigmoid = mean_of(_over_domain(results, "lowest", "sigmoid")[0], SCORES)
    found = f"The lowest score of Sigmoid is {sigmoid:.2f}."
    return Verdict(sigmoid.above(0.1), found, tested_on=_inputs(results, "sigmoid"))


@claim(3, _BOTH_VERSIONS, COMPUTED_HERE)
def wide_and_narrow(results: Results) -> Verdict:
    """ReLU bends only near its kink, Sigmoid and GELU over much of the axis.

    Test: Both bend at three times as many of the twenty means as ReLU, in every sample.
    """
    sigmoid, gelu, relu = _over_domain(results, "bent", "sigmoid", "gelu", "relu")
    holds = every(mean_of(one - 3 * relu).above(-0.5, together=2) for one in (sigmoid, gelu))
    means = f"{sigmoid.mean():.1f} for Sigmoid, {gelu.mean():.1f} for GELU, {relu.mean():.1f} for ReLU"
    found = f"Of 20 means the median score is below 0.95 at {means}."
    return Verdict(holds, found, tested_on=_inputs(results, "sigmoid", "gelu", "relu"))


@claim(4, f"{PAPER}, appendix D", COMPUTED_HERE)
def tanh_lower_than_sigmoid(results: Results) -> Verdict:
    """Tanh looks like Sigmoid and yet reaches much lower scores.

    Test: Its lowest score is less than half of Sigmoid's, with an interval over samples.
    """
    lowest = _over_domain(results, "lowest", "tanh", "sigmoid")
    tanh, sigmoid = (mean_of(one, SCORES) for one in lowest)
    found = f"The lowest score of Tanh is {tanh:.3f}, that of Sigmoid {sigmoid:.3f}."
    return Verdict(mean_of(lowest[0] - lowest[1] / 2).below(), found, tested_on=_inputs(results, "tanh", "sigmoid"))


@claim(5, f"{PAPER}, appendix D", COMPUTED_HERE)
def leaky_relu_more_linear(results: Results) -> Verdict:
    """Over many inputs a leak below zero pays off: ReLU and ReLU6, which have none, score lower than LeakyReLU.

    Test: Its average score over all inputs of figure 6 is above that of both, with intervals over samples.
    """
    leaky, relu, relu6 = _over_domain(results, "average", "leaky_relu", "relu", "relu6")
    holds = every(mean_of(leaky - other).above(together=2) for other in (relu, relu6))
    means = f"{leaky.mean():.3f} for LeakyReLU, {relu.mean():.3f} for ReLU and {relu6.mean():.3f} for ReLU6"
    tested_on = _inputs(results, "leaky_relu", "relu", "relu6")
    return Verdict(holds, f"The average scores are {means}.", tested_on=tested_on)


@claim(6, f"{PAPER}, section 3.2", COMPUTED_HERE)
def relu_more_than_sigmoid(results: Results) -> Verdict:
    """Given one input, ReLU bends it more than Sigmoid or Tanh, though it is made of two straight pieces.

    Test: On every normal input around 0 that was tried its score is below those of both, with intervals over samples.
    """
    inputs = results.sweeps.get("wide")
    if inputs is None:
        inputs = results.sweep("reductions").rename(columns={"mean": "score"}).assign(mean=0.0, std=1.0)
    scores = inputs.pivot_table(index=["std", "draw"], columns="activation", values="score")
    leads = scores[["tanh", "sigmoid"]].sub(scores["relu"], axis=0).groupby("std")
    holds = every(mean_of(rows[name]).above(together=2 * leads.ngroups) for _, rows in leads for name in rows)
    means = scores.groupby("std").mean()[["relu", "tanh", "sigmoid"]].itertuples()
    listed = "; ".join(f"{std:g}: {relu:.2f}, {tanh:.2f}, {sigmoid:.2f}" for std, relu, tanh, sigmoid in means)
    found = f"Scores of ReLU, Tanh and Sigmoid on a normal input around 0 by its deviation: {listed}."
    tried = inputs[inputs["activation"].isin(["relu", "tanh", "sigmoid"])]
    return Verdict(holds, found, tested_on=inputs_of(tried.assign(mean=0.0)))
