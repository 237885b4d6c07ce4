"""Appendix D and figure 6: activation functions over their domain."""

from __future__ import annotations

import pandas as pd

from companion.chapter_02.measurements import domain_summary
from companion.claims import COMPUTED_HERE, FIRST, PAPER, Verdict, above, below, claim
from companion.results import Results
from companion.statistics import SCORES, mean_of, require

_APPENDIX = f"{PAPER}, appendix D"

_BOTH_VERSIONS = f"{_APPENDIX}; {FIRST}, section 3.1"


def _over_domain(results: Results, column: str, *names: str) -> list[pd.Series]:
    """A column of the summary of figure 6 for these functions, a value for each draw."""
    sweep = results.table("domain")
    require(set(names) <= set(sweep["activation"]))
    chosen = sweep[sweep["activation"].isin(names)]
    summary = pd.concat({draw: domain_summary(rows)[column] for draw, rows in chosen.groupby("draw")})
    return [summary.xs(name, level=1) for name in names]


@claim(_BOTH_VERSIONS, COMPUTED_HERE)
def relu_and_gelu_near_zero(results: Results) -> Verdict:
    """On some inputs ReLU and GELU are almost as non-linear as can be.

    Test: The lowest scores of both are below 0.1, with intervals over samples.
    """
    relu, gelu = (below(mean_of(one, SCORES), 0.1, ".3f") for one in _over_domain(results, "lowest", "relu", "gelu"))
    return Verdict.all_of({"ReLU": relu, "GELU": gelu}, "Lowest scores", units="samples")


@claim(_BOTH_VERSIONS, COMPUTED_HERE)
def sigmoid_not_near_zero(results: Results) -> Verdict:
    """Sigmoid never comes close to a score of 0.

    Test: Its lowest score is above 0.1, with its interval over samples.
    """
    (lowest,) = _over_domain(results, "lowest", "sigmoid")
    return Verdict.all_of({"Sigmoid": above(mean_of(lowest, SCORES), 0.1)}, "Lowest score", units="samples")


@claim(_BOTH_VERSIONS, COMPUTED_HERE)
def wide_and_narrow(results: Results) -> Verdict:
    """ReLU bends only near its kink, Sigmoid and GELU over much of the axis.

    Test: Both bend (a median score below 0.95) at three times as many of the twenty means as ReLU, with intervals over
    samples.
    """
    sigmoid, gelu, relu = _over_domain(results, "bent", "sigmoid", "gelu", "relu")
    parts = {
        name: above(mean_of(one - 3 * relu), -0.5, ".1f") for name, one in {"Sigmoid": sigmoid, "GELU": gelu}.items()
    }
    return Verdict.all_of(parts, f"Means where they bend, less three times ReLU's {relu.mean():.1f}", units="samples")


@claim(_APPENDIX, COMPUTED_HERE)
def tanh_lower_than_sigmoid(results: Results) -> Verdict:
    """Tanh looks like Sigmoid and yet reaches much lower scores.

    Test: Its lowest score is less than half of Sigmoid's, with an interval over samples.
    """
    tanh, sigmoid = _over_domain(results, "lowest", "tanh", "sigmoid")
    part = below(mean_of(tanh - sigmoid / 2), how=".3f")
    return Verdict.all_of(
        {f"of Tanh, less half of Sigmoid's {sigmoid.mean():.3f}": part}, "Lowest score", units="samples"
    )


@claim(_APPENDIX, COMPUTED_HERE)
def leaky_relu_more_linear(results: Results) -> Verdict:
    """Over many inputs a leak below zero pays off: ReLU and ReLU6, which have none, score lower than LeakyReLU.

    Test: Its average score over all inputs of figure 6 is above that of both, with intervals over samples.
    """
    return _less(results, "leaky_relu", {"ReLU": "relu", "ReLU6": "relu6"})


@claim(_APPENDIX, COMPUTED_HERE)
def modern_functions_lower(results: Results) -> Verdict:
    """More modern activation functions, as SiLU and HardSwish, are more non-linear over large parts of the axis.

    Test: Their average scores over all inputs of figure 6 are below that of ReLU, with intervals over samples.
    """
    return _less(results, "relu", {"SiLU": "silu", "HardSwish": "hardswish"})


def _less(results: Results, name: str, others: dict[str, str]) -> Verdict:
    """Whether the average score of a function is above those of others."""
    one, *rest = _over_domain(results, "average", name, *others.values())
    parts = {words: above(mean_of(one - other), how=".3f") for words, other in zip(others, rest, strict=True)}
    return Verdict.all_of(parts, f"Average score of {name}, {one.mean():.3f}, less that of", units="samples")


@claim(f"{PAPER}, section 3.2", COMPUTED_HERE)
def relu_more_than_sigmoid(results: Results) -> Verdict:
    """Given one input, ReLU bends it more than Sigmoid or Tanh, though it is made of two straight pieces.

    Test: On normal inputs around 0 with deviations from 1 to 8 its score is below those of both, with intervals over
    samples. (The paper looks at a single deviation, on which nothing else could be found.)
    """
    inputs = results.table("wide")
    scores = inputs.pivot_table(index=["std", "draw"], columns="activation", values="score")
    leads = scores[["tanh", "sigmoid"]].sub(scores["relu"], axis=0).groupby("std")
    parts = {f"{name} at {std:g}": above(mean_of(rows[name])) for std, rows in leads for name in rows}
    return Verdict.all_of(parts, "Score less that of ReLU, by the deviation of the input", units="samples")
