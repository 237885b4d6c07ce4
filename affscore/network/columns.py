"""How a column of a result is described, and the columns that every result has."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Literal, get_args

import pandas as pd
import pyarrow as pa
from pandas.api import types

from affscore.network.reduction import OrderName, ReductionName
from affscore.recorder.calls import KINDS
from affscore.transport.assignment import DecidedBy
from affscore.transport.covariance import CovarianceName

CONSTANT = ("constant input", "constant output")
"""The flags of an activation whose input or output does not vary."""

OTHER_WIDTH = "other width"
"""The flag of a block whose output has another width than its input."""

NO_SCORE = ("constant input", OTHER_WIDTH)
"""The flags of what has no score."""

ANYWHERE = "anywhere"
"""In place of the flags with which a value is missing: it may be missing with any, or with none."""

_ANY, _FROM_0, _FROM_1 = (-math.inf, math.inf), (0, math.inf), (1, math.inf)
_TYPES = {
    "text": (pa.large_string(), types.is_string_dtype),
    "integer": (pa.int64(), types.is_integer_dtype),
    "boolean": (pa.bool_(), types.is_bool_dtype),
    "number": (pa.float64(), types.is_float_dtype),
}


def column(
    name: str,
    kind: Literal["text", "integer", "boolean", "number"],
    description: str,
    within: tuple[float, float] = _ANY,
    words: Sequence[str] = (),
    missing: Sequence[str] = (),
    required: bool = True,
) -> pa.Field:
    """A column of a result.

    Args:
        name: Its name.
        kind: What it holds; a number is a 64-bit floating point number.
        description: What that is, in Markdown.
        within: Its smallest and largest value.
        words: The texts that it may hold; none for any.
        missing: The flags (column ``flag``) with which a value is missing, or :data:`ANYWHERE`.
        required: Whether the results of all versions have it.

    >>> field = column("share", "number", "a share", (0, 1), missing=CONSTANT)
    >>> field.type, field.nullable, details(field)["within"]
    (DataType(double), True, [0, 1])
    """
    metadata = {key: json.dumps(value) for key, value in locals().items() if key != "name"}
    return pa.field(name, _TYPES[kind][0], nullable=bool(missing), metadata=metadata)


@cache
def details(field: pa.Field) -> dict[str, Any]:
    """The arguments that :func:`column` got, without the name."""
    return {key.decode(): json.loads(value) for key, value in field.metadata.items()}


def misfits(table: pd.DataFrame, fields: Iterable[pa.Field]) -> Iterator[str]:
    """What is wrong with the columns of a table: which are missing, and which hold something else."""
    for field in fields:
        kind = details(field)["kind"]
        if field.name not in table:
            if details(field)["required"]:
                yield f"the column {field.name!r} is missing"
        elif not _TYPES[kind][1](table[field.name]):
            yield f"the column {field.name!r} holds {table[field.name].dtype}, not {kind}s"


ALWAYS = (
    column("model", "text", "the network's name, without folders"),
    column("weights", "text", "the weights' name; the name of a file; `in memory` for a module that was handed over"),
    column("dataset", "text", "the data's name, without folders above the last; `data_name=` names data in memory"),
    column("index", "integer", "the activation call, in the order in which they run", _FROM_0),
    column("layer", "text", "the path of the module that made the call"),
    column("call", "integer", "which call of this layer: a ReLU that a block uses twice has calls 0 and 1", _FROM_0),
    column("activation", "text", "the function, however it was spelt: `relu`, `gelu`, ... ({doc}`activations`)"),
    column("kind", "text", "its place in its block, or what it is for; of a block, what it is; see below",
           words=KINDS),
    column("depth", "integer", "activations on the longest path from the input to this one, itself included", _FROM_1),
    column("width", "integer", "$c$, the number of coordinates of the two clouds (with the flag `other width`, of the "
           "input)", _FROM_1),
    column("batch", "integer", "the batch", _FROM_0),
    column("n", "integer", "the number of points of each cloud: samples in the batch (of an expert those that "
           "reach it), or with `positions` their points",
           (2, math.inf)),
    column("reduction", "text", "from a feature map to a point", words=get_args(ReductionName)),
    column("order", "text", "of reduction and activation", words=get_args(OrderName)),
    column("covariance", "text", "the estimator", words=get_args(CovarianceName)),
    column("coupling", "text", "of the score: `paired` for more than 2,048 points of several "
           "positions", words=("exact", "paired")),
    column("score", "number", r"$\rho$, see {eq}`eq-affinity-score`", (0, 1), missing=NO_SCORE),
    column("raw", "number", "the score before it is cut at 0", (-math.inf, 1), missing=NO_SCORE),
    column("paired", "number", r"the score under the pairing $i \to i$ of each input with its own output; never above "
           "`score`", (0, 1), missing=NO_SCORE, required=False),
    column("effective_width", "number", "$d$ in the rule for the bias of a small $n$: four times the "
           "participation ratio of the variances of the input or the output, at most `width`", _FROM_1,
           missing=(*CONSTANT, OTHER_WIDTH), required=False),
    column("pairing_optimal", "boolean", r"whether the pairing $i \to i$ was an optimal coupling; missing where only "
           "that one was tried", missing=(ANYWHERE,)),
    column("decided_by", "text", "how the coupling was found: the arithmetic in which the pairing was proved optimal, "
           "`assignment` where the problem was solved, or empty; the score itself is computed in double precision",
           words=("", *get_args(DecidedBy)), required=False),
    column("bound_exceeded", "boolean", "whether `raw` is below 0 and the score was cut (heavy tails under shrinkage)"),
    column("flag", "text", "why a number is not what it seems, see below",
           words=("", *CONSTANT, "degenerate input", OTHER_WIDTH)),
    column("seconds", "number", "time that the score and the criteria took", _FROM_0),
)  # fmt: skip
"""The columns of every result; those of the criteria come before the last one."""

EXTRAPOLATED = (
    column("extrapolated", "number", "the score, corrected for the bias of a finite $n$; missing without a score, and "
           "for fewer than 4 samples", (0, 1), missing=(ANYWHERE,)),
    column("paired_extrapolated", "number", "`paired`, corrected likewise", (0, 1), missing=(ANYWHERE,)),
)  # fmt: skip
"""The columns of a multiverse with ``bias="extrapolated"``, before those of the criteria."""
