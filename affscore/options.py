"""The options of a measurement: what is measured, and how it is run. Only the names of criteria need PyTorch."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, fields, replace
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from affscore.errors import AffscoreError

COMMUTING = ("sample", "positions", "flatten")
"""Reductions that commute with an elementwise function, so that both orders are the same."""

MASK = "attention_mask"
"""The entry of the data that says which positions are no padding, as tokenizers call it."""

MOST_IN_A_BATCH = 100_000
"""The coupling of n images needs n^2 distances, 80 GB at this n."""

MOST_COUPLED = 2048
"""Above so many points of several positions an image the coupling is the pairing."""

ReductionName = Literal["mean", "sum", "flatten", "sample", "positions", "published"]
OrderName = Literal["activate-first", "reduce-first"]
CovarianceName = Literal["ledoit-wolf", "empirical"]
BiasName = Literal["none", "extrapolated"]
CouplingName = Literal["exact", "paired"]
UnitsName = Literal["activations", "blocks"]


class Specification(NamedTuple):
    """One choice of each kind under which a score is measured; the defaults are those of :func:`affscore.signature`."""

    reduction: str = "mean"
    order: str = "activate-first"
    covariance: str = "ledoit-wolf"
    coupling: str = "exact"
    bias: str = "none"


OF_THE_PAPERS = ("cka", "norm", "sparsity", "entropy", "r2")
"""The criteria of tables 1 and 2."""

DEFAULT = Specification()
"""What the papers measured on convolutional networks."""


def _option(default: Any, help: str, *ends: int) -> Any:
    return field(default=default, metadata={"help": help, "ends": ends})


@dataclass(frozen=True)
class Options:
    """What is measured: every choice that a number of a signature depends on (see :func:`affscore.signature`).

    This is the one place where an option has its default; the commands take their options from here. It is plain data:
    :func:`checked` looks at it, and a measurement does so before it begins. A multiverse has no criteria, and takes the
    place of reduction, order and covariance: :attr:`passes` are its options.

    >>> Options(n=64, reduction="sample").points_a_sample
    1
    """

    # ruff: noqa: RUF009  # what _option returns is a field
    n: int = _option(512, "Samples (images, windows of text) in a batch of the statistic.", 2, MOST_IN_A_BATCH)
    images: int | None = _option(None, "How many samples in all (default: all there are).", 2, 10**9)
    reduction: ReductionName = _option("mean", "mean, sum, flatten, sample, positions or published.")
    order: OrderName = _option("activate-first", "activate-first or reduce-first.")
    covariance: CovarianceName = _option("ledoit-wolf", "ledoit-wolf or empirical.")
    criteria: tuple[str, ...] = OF_THE_PAPERS
    seed: int = _option(0, "Fixes random weights, and the choice of samples.", 0)
    positions: int = _option(4, "Positions of a sample, each a point of its own, with --reduction positions.", 1, 256)
    multiverse: tuple[ReductionName, ...] = ()
    bias: BiasName = "none"
    coupling: CouplingName = "exact"
    units: UnitsName = _option("activations", "activations, or blocks: also norms, attention, residual blocks, ...")
    size: int | None = _option(None, "Pixels of a side of an image, where the network does not say what it expects.", 1)
    mask: str | None = MASK

    @property
    def only_paired(self) -> bool:
        """Whether the other options leave no choice of the coupling."""
        return self.points_a_sample > 1 and self.n * self.points_a_sample > MOST_COUPLED

    @property
    def passes(self) -> tuple[tuple[Options, ...], ...]:
        """The options of all signatures that one forward pass gives, those of the same reduced samples together.

        >>> [[one.covariance for one in several] for several in Options().passes]
        [['ledoit-wolf']]
        >>> [(several[0].reduction, several[0].order) for several in Options(multiverse=("mean", "sample")).passes]
        [('mean', 'activate-first'), ('mean', 'reduce-first'), ('sample', 'activate-first')]
        """
        if not self.multiverse:
            return ((self,),)
        found = dict[tuple[str, str], tuple[Options, ...]]()
        for reduction, order in itertools.product(self.multiverse, get_args(OrderName)):
            one = checked(replace(self, multiverse=(), bias="none", criteria=(), reduction=reduction, order=order))
            found[reduction, one.order] = tuple(replace(one, covariance=name) for name in get_args(CovarianceName))
        return tuple(found.values())

    @property
    def points_a_sample(self) -> int:
        """How many points of a cloud come from one sample, where a feature map has as many positions."""
        return self.positions if self.reduction == "positions" else 1

    def as_columns(self) -> dict[str, str]:
        """The choices that are columns of the table."""
        return {name: getattr(self, name) for name in ("reduction", "order", "covariance", "coupling")}


_WORDS = {name: kind for name, kind in get_type_hints(Options).items() if get_origin(kind) is Literal}
_VARIED = ("reduction", "order", "covariance", "coupling", "units", "criteria")
"""What a multiverse varies, or has not."""


@dataclass(frozen=True)
class Execution:
    """How a measurement is run; no number depends on it, but for rounding.

    Attributes:
        device: "auto", "cpu", "cuda", ...
        batch_size: Samples that go through the network at once.
        progress: Whether to show a bar; None for where there is a terminal.
        threads: Threads of a process; None for as many as PyTorch takes.
    """

    device: str = _option("auto", "auto, cpu, cuda, ...")
    batch_size: int = _option(64, "Samples that go through the network at once.", 1)
    progress: bool | None = None
    threads: int | None = field(default=None, metadata={"ends": (1, 1024)})


def checked(options: Options) -> Options:
    """The options, if they are possible, with one word for what is the same.

    ``order`` is "activate-first" where both orders are the same, and ``coupling`` is "paired" where the others leave no
    choice. A multiverse has no criteria.

    Raises:
        AffscoreError: An unknown name, a number out of range, or options that exclude each other.

    >>> checked(Options(reduction="sample", order="reduce-first")).order
    'activate-first'
    """
    for name, words in _WORDS.items():
        check_word(name, getattr(options, name), words)
    several = check_reductions(options.multiverse) if options.multiverse != () else ()
    if options.units == "blocks" and options.order == "reduce-first" and options.reduction not in COMMUTING:
        raise AffscoreError("a block is no function of vectors of channels: omit the order, 'reduce-first'")
    if options.bias != "none" and not several:
        raise AffscoreError(f"bias={options.bias!r} is a choice of a multiverse (affscore.multiverse)")
    if options.mask is not None and not isinstance(options.mask, str):
        raise AffscoreError(f"mask must be the name of an entry of the data, or None, got {options.mask!r}")
    chosen = [name for name in _VARIED if getattr(options, name) not in (getattr(Options, name), ())]
    if several and chosen:
        raise AffscoreError(f"a multiverse is of the activations, and of every order and covariance: omit {chosen[0]}")
    order = "activate-first" if options.reduction in COMMUTING else options.order
    criteria = () if several else options.criteria
    found = replace(in_range(options), order=order, multiverse=several, criteria=criteria)
    return replace(found, coupling="paired") if found.only_paired else found


def in_range(asked: Any) -> Any:
    """Options, or how a measurement is run, if each number that is not the default is an integer in its range.

    Raises:
        AffscoreError: A number that is none, or out of range.
    """
    numbers = {}
    for one in fields(asked):
        value, ends = getattr(asked, one.name), one.metadata.get("ends")
        if ends and value is not one.default:
            numbers[one.name] = check_integer(one.name, value, *ends)
    return replace(asked, **numbers)


def usual_criteria(units: UnitsName) -> tuple[str, ...]:
    """The papers' criteria; of blocks also the one without which their scores mislead."""
    return (*OF_THE_PAPERS, "affine_fit") if units == "blocks" else OF_THE_PAPERS


def check_integer(name: str, value: Any, least: int, most: int = 2**63 - 1) -> int:
    """The value as an int, if it is an integer from least to most.

    >>> check_integer("n", 64, 2)
    64
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise AffscoreError(f"{name} must be an integer of at least {least}, got {value!r}")
    if int(value) > most:
        raise AffscoreError(f"{name} must be at most {most}, got {value}")
    return int(value)


def check_word(what: str, value: str, words: Any) -> None:
    """Raise an AffscoreError unless this is one of the words of a Literal."""
    if value not in get_args(words):
        raise AffscoreError(f"{what} must be one of {', '.join(get_args(words))}, got {value!r}")


def is_number(value: Any) -> bool:
    """Whether a value is a real number, of Python or NumPy.

    >>> import numpy as np
    >>> is_number(np.float32(0.5)), is_number(True)
    (True, False)
    """
    return isinstance(value, Real) and not isinstance(value, bool)


def check_reductions(names: Any) -> tuple[Any, ...]:
    """Names of reductions, each once, from a text (with commas between several) or from several in their order.

    >>> check_reductions("mean,sample"), check_reductions(["mean", "sample", "mean"])
    (('mean', 'sample'), ('mean', 'sample'))
    """
    several = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
    if not isinstance(several, list | tuple) or not several:
        raise AffscoreError(f"a multiverse needs one reduction or more, in a list or a tuple, got {names!r}")
    for name in several:
        check_word("reduction", name, ReductionName)
    return tuple(dict.fromkeys(several))
