"""How a column of a result and a criterion are declared and chosen, and the columns that every result has."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeVar, get_args

import pandas as pd
from pandas.api.types import is_bool_dtype, is_float_dtype, is_integer_dtype, is_string_dtype

from affscore.errors import AffscoreError
from affscore.options import CovarianceName, OrderName, ReductionName, UnitsName, usual_criteria
from affscore.recorder.calls import KINDS
from affscore.transport.assignment import DecidedBy

Function = TypeVar("Function", bound=Callable[..., float])

CONSTANT = ("constant input", "constant output")
"""The flags of an activation whose input or output does not vary."""

OTHER_WIDTH = "other width"
"""The flag of a block whose output has another width than its input."""

NO_SCORE = ("constant input", OTHER_WIDTH)
"""The flags of what has no score."""

ANYWHERE = "anywhere"
"""In place of the flags with which a value is missing: it may be missing with any, or with none."""

_ANY, _FROM_0, _FROM_1 = (-math.inf, math.inf), (0, math.inf), (1, math.inf)


class Column(NamedTuple):
    """A column of a result.

    Attributes:
        name: Its name.
        kind: What it holds; a number is a 64-bit floating point number.
        description: What that is, in Markdown.
        within: Its smallest and largest value.
        words: The texts that it may hold; none for any.
        missing: The flags (column ``flag``) with which a value is missing, or :data:`ANYWHERE`.
        required: Whether the results of all versions have it.
    """

    name: str
    kind: Literal["text", "integer", "boolean", "number"]
    description: str
    within: tuple[float, float] = _ANY
    words: Sequence[str] = ()
    missing: Sequence[str] = ()
    required: bool = True


_IS = {"text": is_string_dtype, "integer": is_integer_dtype, "boolean": is_bool_dtype, "number": is_float_dtype}


class ForeignError(Exception):
    """What a table of ours has, and this one has not."""


def misfits(table: pd.DataFrame, columns: Iterable[Column]) -> Iterator[str]:
    """What is wrong with the columns of a table: which are missing, and which hold something else."""
    for column in columns:
        if column.name not in table:
            if column.required:
                yield f"the column {column.name!r} is missing"
        elif not _IS[column.kind](table[column.name]):
            yield f"the column {column.name!r} holds {table[column.name].dtype}, not {column.kind}s"


ALWAYS = (
    Column("model", "text", "the network's name, without folders"),
    Column("weights", "text", "the weights' name; the name of a file; `in memory` for a module that was handed over"),
    Column("dataset", "text", "the data's name, without folders above the last; `data_name=` names data in memory"),
    Column("index", "integer", "the activation call, in the order in which they run", _FROM_0),
    Column("layer", "text", "the path of the module that made the call"),
    Column("call", "integer", "which call of this layer: a ReLU that a block uses twice has calls 0 and 1", _FROM_0),
    Column("activation", "text", "the function, however it was spelt: `relu`, `gelu`, ... ({doc}`activations`)"),
    Column("kind", "text", "its place in its block, or what it is for; of a block, what it is; see below", words=KINDS),
    Column("depth", "integer", "activations on the longest path from the input to this one, itself included", _FROM_1),
    Column("width", "integer", "$c$, the number of coordinates (flag `other width`: of the input)", _FROM_1),
    Column("batch", "integer", "the batch", _FROM_0),
    Column("n", "integer", "points of each cloud: samples in the batch (of an expert those that reach it), or with "
           "`positions` their points", (2, math.inf)),
    Column("reduction", "text", "from a feature map to a point", words=get_args(ReductionName)),
    Column("order", "text", "of reduction and activation", words=get_args(OrderName)),
    Column("covariance", "text", "the estimator", words=get_args(CovarianceName)),
    Column("coupling", "text", "`paired` for more than 2,048 points of several positions", words=("exact", "paired")),
    Column("score", "number", r"$\rho$, see {eq}`eq-affinity-score`", (0, 1), missing=NO_SCORE),
    Column("raw", "number", "the score before it is cut at 0", (-math.inf, 1), missing=NO_SCORE),
    Column("paired", "number", r"the score under the pairing $i \to i$ of each input with its own output; never above "
           "`score`", (0, 1), missing=NO_SCORE, required=False),
    Column("effective_width", "number", "$d$ in the rule for the bias of a small $n$: four times the "
           "participation ratio of the variances of the input or the output, at most `width`", _FROM_1,
           missing=(*CONSTANT, OTHER_WIDTH), required=False),
    Column("pairing_optimal", "boolean", r"whether the pairing $i \to i$ was an optimal coupling; missing where only "
           "that one was tried", missing=(ANYWHERE,)),
    Column("decided_by", "text", "how the coupling was found: the arithmetic in which the pairing was proved optimal, "
           "`assignment` where the problem was solved, or empty; the score itself is computed in double precision",
           words=("", *get_args(DecidedBy)), required=False),
    Column("bound_exceeded", "boolean", "whether `raw` is below 0 and the score was cut (heavy tails under shrinkage)"),
    Column("flag", "text", "why a number is not what it seems, see below",
           words=("", *CONSTANT, "degenerate input", OTHER_WIDTH)),
    Column("seconds", "number", "time that the score and the criteria took", _FROM_0),
)  # fmt: skip
"""The columns of every result; those of the criteria come before the last one."""

EXTRAPOLATED = (
    Column("extrapolated", "number", "the score, corrected for the bias of a finite $n$; missing without a score, and "
           "for fewer than 4 samples", (0, 1), missing=(ANYWHERE,)),
    Column("paired_extrapolated", "number", "`paired`, corrected likewise", (0, 1), missing=(ANYWHERE,)),
)  # fmt: skip
"""The columns of a multiverse with ``bias="extrapolated"``, before those of the criteria."""


@dataclass(frozen=True)
class Criterion:
    """A number, or one before and one after each activation, with which the score is compared.

    Attributes:
        function: Computes it.
        name: As ``criteria=`` has it, and the name of its column, to which ``_before`` and ``_after`` are added where
            there are two.
        title: What figures call it.
        description: What it is, in a line, with its unit if it has one.
        within: Its smallest and largest value.
        of: Its arguments, of the samples of a batch (:class:`affscore.network.scoring.BatchSamples`); two lists of
            arguments where there are two numbers.
        before_and_after: Whether there are two numbers.
        missing: The flags of a score (:data:`affscore.network.columns.CONSTANT`) with which it is not defined, and
            not computed; with :data:`affscore.network.columns.ANYWHERE` it may be NaN elsewhere, too.
    """

    function: Callable[..., float]
    name: str
    title: str
    description: str
    within: tuple[float, float]
    of: Callable[[Any], tuple[Any, ...]] = lambda samples: (samples.source, samples.target)
    before_and_after: bool = False
    missing: tuple[str, ...] = ()

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Its columns, in the order of what is computed."""
        sides = {"_before": ", before the activation", "_after": ", after it"} if self.before_and_after else {"": ""}
        one = Column(self.name, "number", self.description, self.within, missing=self.missing)
        return tuple(one._replace(name=one.name + side, description=one.description + of) for side, of in sides.items())

    def numbers(self, flag: str, samples: Any) -> dict[str, float]:
        """Its columns in a row of the table; NaN, and not computed, where it is not defined."""
        if flag in self.missing:
            return dict.fromkeys((column.name for column in self.columns), math.nan)
        arguments = self.of(samples) if self.before_and_after else (self.of(samples),)
        return {column.name: self.function(*one) for column, one in zip(self.columns, arguments, strict=True)}


CRITERIA: dict[str, Criterion] = {}
"""All criteria by their names, in the order of their columns."""


def criterion(name: str, *about: Any, **more: Any) -> Callable[[Function], Function]:
    """Make a function a criterion; the arguments are the other attributes of :class:`Criterion`."""

    def register(function: Function) -> Function:
        CRITERIA[name] = Criterion(function, name, *about, **more)
        return function

    return register


def choose_criteria(criteria: bool | str | Collection[str], units: UnitsName = "activations") -> tuple[str, ...]:
    """The names of the criteria to compute: the usual ones for True (:func:`affscore.options.usual_criteria`).

    >>> from affscore.network.criteria import CRITERIA  # which fills it
    >>> choose_criteria(True), choose_criteria("r2, cka"), choose_criteria("all") == tuple(CRITERIA)
    (('cka', 'norm', 'sparsity', 'entropy', 'r2'), ('cka', 'r2'), True)
    """
    if isinstance(criteria, bool):
        return usual_criteria(units) if criteria else ()
    if isinstance(criteria, str):
        criteria = [name.strip() for name in criteria.split(",")]
    given = list(criteria) if isinstance(criteria, Collection) else [criteria]
    if bad := [name for name in given if name not in [*CRITERIA, "all"]]:
        raise AffscoreError(f"criteria must be True, False, all, or names among {', '.join(CRITERIA)}, got {bad[0]!r}")
    return tuple(name for name in CRITERIA if name in given or "all" in given)
