"""A network's signature under every defensible choice at once, from one forward pass."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
from torch import nn

from affscore.errors import AffscoreError, os_errors
from affscore.network.columns import ALWAYS, details
from affscore.network.files import check_destination
from affscore.network.inputs import Forward
from affscore.network.measurement import Measurement
from affscore.network.notes import give_warnings, lines, on_positions
from affscore.network.parquet import ForeignError, read_description, read_parquet, write_parquet
from affscore.network.reduction import ReductionName
from affscore.network.result import Signature, load_signature
from affscore.network.table import check_signature
from affscore.options import Options, options_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REDUCTIONS: tuple[ReductionName, ...] = ("mean", "sample")
"""The reductions of a multiverse, if no others are asked for."""

_MEASURED = ["reduction", "order", "covariance"]
_ACTIVATION = ["index", "layer", "call", "activation", "kind", "depth"]
_COLUMNS = {
    ("exact", "none"): "score",
    ("paired", "none"): "paired",
    ("exact", "extrapolated"): "extrapolated",
    ("paired", "extrapolated"): "paired_extrapolated",
}


class Specification(NamedTuple):
    """One choice of each kind under which a score is measured; the defaults are those of :func:`affscore.signature`.

    >>> Specification(coupling="paired").differences(Specification(order="reduce-first"))
    ('order', 'coupling')
    """

    reduction: str = "mean"
    order: str = "activate-first"
    covariance: str = "ledoit-wolf"
    coupling: str = "exact"
    bias: str = "none"

    def differences(self, other: Specification) -> tuple[str, ...]:
        """The names of the choices that are not those of another specification."""
        return tuple(name for name, ours, theirs in zip(self._fields, self, other, strict=True) if ours != theirs)


DEFAULT = Specification()


@dataclass(frozen=True, eq=False)
class Multiverse:
    """The scores of a network's activations under every specification: reduction, order, covariance, coupling.

    Attributes:
        rows: A row for every activation, batch, reduction, order and covariance, with the columns of a signature's
            table; the score under the pairing is the column ``paired``.
        metadata: How it was made, as of a signature; ``multiverse`` lists the reductions.
        notes: What the reader should know, in sentences.

    >>> found = multiverse("mini:digitsnet", "digits", n=64, images=64)
    >>> len(found.choices), len(found.table), list(found.summary.columns[-4:])
    (12, 108, ['mean', 'spread', 'minimum', 'rank_correlation'])
    """

    rows: pd.DataFrame
    metadata: dict[str, Any]
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, signatures: Sequence[Signature], options: Options) -> Multiverse:
        """The multiverse of signatures of one network on the same samples.

        The first of them gives the notes, but for those on several positions of a sample.
        """
        first = signatures[0]
        metadata = {name: value for name, value in first.metadata.items() if name not in (*_MEASURED, "coupling")}
        metadata |= {"multiverse": list(options.multiverse), "bias": options.bias}
        if "positions" in options.multiverse:
            metadata["positions"] = options.positions
        rows = pd.concat([one.table for one in signatures], ignore_index=True)
        on_points = (note for several in options.passes for note in on_positions(several[0]))
        return cls(rows, metadata, list(dict.fromkeys([*first.notes, *on_points])))

    @property
    def name(self) -> str:
        """Network, weights and data."""
        return f"{self.metadata['model']} ({self.metadata['weights']}) on {self.metadata['dataset']}"

    @cached_property
    def scores(self) -> pd.DataFrame:
        """Mean scores over the batches: a row for each activation (``index``), a column for each specification.

        Where the score itself is that of the pairing (more than 2,048 points), there is no column for the exact one.
        """
        columns = dict[Specification, pd.Series]()
        for (*measured, way), rows in self.rows.groupby([*_MEASURED, "coupling"], sort=False):
            means = rows.groupby("index")[[name for name in _COLUMNS.values() if name in rows]].mean()
            for (coupling, bias), name in _COLUMNS.items():
                if name in means and (coupling == "paired" or way == "exact"):
                    columns[Specification(*map(str, (*measured, coupling, bias)))] = means[name]
        first = sorted(columns, key=lambda one: (one.bias != "none", one != DEFAULT))
        return pd.DataFrame(columns).rename_axis(columns=list(Specification._fields))[first]

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row for each activation and specification, with the mean score over the batches.

        The columns are ``index``, ``layer``, ``call``, ``activation``, ``kind``, ``depth``, the five words of the
        specification, and ``score``.
        """
        activations = self.rows[_ACTIVATION].drop_duplicates("index").set_index("index")
        parts = [activations.assign(**dict(zip(Specification._fields, choice, strict=True)), score=self.scores[choice])
                 for choice in self.choices]  # fmt: skip
        return pd.concat(parts).rename_axis("index").reset_index()

    @property
    def choices(self) -> list[Specification]:
        """The specifications, the default first where it was measured."""
        return [Specification(*choice) for choice in self.scores.columns]

    @property
    def summary(self) -> pd.DataFrame:
        """A row for each specification.

        Beside its five words: ``activations`` (how many have a score), ``mean``, ``spread`` (maximum - minimum) and
        ``minimum`` of the scores, and ``rank_correlation``, Spearman's, with the scores of the default specification
        (of the first where the default was not measured) over the activations that have both.
        """
        scores = self.scores
        first = scores.iloc[:, 0]
        numbers = pd.DataFrame({
            "activations": scores.count(),
            "mean": scores.mean(),
            "spread": scores.max() - scores.min(),
            "minimum": scores.min(),
            "rank_correlation": scores.corrwith(first, method="spearman"),
        })  # fmt: skip
        return numbers.reset_index()

    def signature(
        self,
        reduction: str = "mean",
        order: str = "activate-first",
        covariance: str = "ledoit-wolf",
        coupling: str = "exact",
        bias: str = "none",
    ) -> Signature:
        """The signature under one specification, as :func:`affscore.signature` measures it (without its costs).

        Of the pairing, and of extrapolated scores, the raw score is the score itself.

        Raises:
            AffscoreError: It was not measured.

        >>> found = multiverse("mini:digitsnet", "digits", n=64, images=64)
        >>> paired = found.signature(coupling="paired").scores
        >>> bool((paired <= found.signature().scores).all())
        True
        """
        asked, column = Specification(reduction, order, covariance, coupling, bias), _COLUMNS.get((coupling, bias), "")
        if asked not in self.choices:
            known = "; ".join(", ".join(choice) for choice in self.choices)
            raise AffscoreError(f"{', '.join(asked)} was not measured; there are: {known}")
        wanted = self.rows[_MEASURED].eq([reduction, order, covariance]).all(axis=1)
        rows = self.rows[wanted].reset_index(drop=True)
        table = rows.drop(columns=["extrapolated", "paired_extrapolated"], errors="ignore")
        if column != "score":
            table = table.assign(score=rows[column], raw=rows[column], coupling=coupling, decided_by="")
            table["pairing_optimal"] = pd.Series(None, table.index, dtype="boolean")
        metadata = {**self.metadata, **asked._asdict(), "criteria": []}
        for name in {"multiverse", "positions"} - {reduction}:
            metadata.pop(name, None)
        return Signature(table, metadata, list(self.notes))

    def plot(self, title: str | None = None) -> Figure:
        """Draw the mean scores of all specifications, sorted, over the dots of their choices.

        Args:
            title: None for network, weights and data.
        """
        from affscore.figures.multiverse import specification_curve  # upwards, as Signature.plot

        quartiles = self.scores.quantile([0.25, 0.75]).T.reset_index(drop=True).set_axis(["low", "high"], axis=1)
        return specification_curve(
            self.summary.join(quartiles), low="low", high="high",
            ylabel="affinity score\n(mean and quartiles)",
            title=self.name if title is None else title,
        )  # fmt: skip

    def save(self, file: str | Path) -> Path:
        """Write it to a Parquet file, which :func:`affscore.load_multiverse` reads.

        Raises:
            AffscoreError: Another ending, or a place that cannot be written.
        """
        path = check_destination(file)
        with os_errors(lambda reason: f"the result could not be written to {path.name!r}: {reason}"):
            write_parquet(self.rows, self.metadata, self.notes, path)
        return path

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Multiverse):
            return NotImplemented
        return (self.metadata, self.notes) == (other.metadata, other.notes) and self.rows.equals(other.rows)

    def __repr__(self) -> str:
        means = self.scores.mean()
        first = means.iloc[0]
        head = (
            f"Multiverse of {self.name}: {len(self.scores)} activations, {len(self.choices)} specifications, "
            f"mean scores {means.min():.2f} to {means.max():.2f}, {first:.2f} under {', '.join(self.choices[0][:4])}"
        )
        return "\n".join([head, *lines(self.notes)])


def multiverse(
    model: nn.Module | str,
    data: Any,
    n: int = 512,
    images: int | None = None,
    device: str = "auto",
    batch_size: int = 64,
    seed: int = 0,
    progress: bool | None = None,
    reductions: str | Sequence[str] = REDUCTIONS,
    bias: str = "none",
    activations: Collection[Any] | Mapping[str, Any] | None = None,
    forward: Forward | None = None,
    data_name: str | None = None,
    positions: int = 4,
) -> Multiverse:
    """The signature of a network under every combination of reduction, order, covariance and coupling.

    The network runs once. Each score is that of a separate :func:`affscore.signature` call, to the last bit on the
    CPU. ``sample``, ``positions`` and ``flatten`` have one order, "activate-first": both are the same there.

    Args:
        model: As in :func:`affscore.signature`.
        data: As there.
        n: As there.
        images: As there.
        device: As there.
        batch_size: As there.
        seed: As there.
        progress: As there.
        reductions: Which reductions: "mean" and "sample", unless others are named.
        bias: "extrapolated" adds, for each specification, scores that are corrected for the bias of a finite n
            (:mod:`affscore.transport.extrapolation`).
        activations: As there.
        forward: As there.
        data_name: As there.
        positions: As there, for the reduction "positions".

    Returns:
        The multiverse: ``.table``, a row for each activation and specification, and ``.summary``, a row for each
        specification. An activation that cannot be applied to reduced vectors has no scores for "reduce-first", and a
        note says so.

    Raises:
        AffscoreError: As :func:`affscore.signature`; no reduction.

    Source: definition 3.1, the published code and appendix E, which differ; multiverse analysis after Steegen et
    al. (2016), specification curves after Simonsohn et al. (2020).

    >>> found = multiverse("mini:digitsnet", "digits", n=64, images=64)
    >>> found.summary.loc[0, ["reduction", "order", "covariance", "coupling"]].tolist()
    ['mean', 'activate-first', 'ledoit-wolf', 'exact']
    >>> from affscore import signature
    >>> alone = signature("mini:digitsnet", "digits", n=64, images=64, criteria=False)
    >>> bool((found.scores.iloc[:, 0] == alone.scores).all())
    True
    """
    arguments = dict(locals())
    arguments["multiverse"] = arguments.pop("reductions")
    options, execution, inputs = options_of(arguments)
    if not options.multiverse:
        raise AffscoreError("a multiverse needs the name of one reduction or more")
    measurement = Measurement(options=options, execution=execution, **inputs)
    result = Multiverse.of(measurement.signatures(list(measurement.batches())), options)
    give_warnings(result.notes, stacklevel=2)
    return result


def load_multiverse(file: str | Path) -> Multiverse:
    """The multiverse in a Parquet file that :meth:`Multiverse.save`, the command or a survey wrote.

    Raises:
        AffscoreError: No such file, not Parquet, no multiverse, of a newer version, or damaged since.

    >>> import tempfile
    >>> found = multiverse("mini:digitsnet", "digits", n=64, images=64)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load_multiverse(found.save(f"{folder}/digits.parquet")) == found
    True
    """
    return Multiverse(*read_parquet(file, "multiverse", _check))


def load_result(file: str | Path) -> Signature | Multiverse:
    """The signature or the multiverse in a file of a store.

    Raises:
        AffscoreError: As :func:`load_multiverse`.
    """
    return load_multiverse(file) if "multiverse" in read_description(Path(file)) else load_signature(file)


def _check(rows: pd.DataFrame, metadata: dict[str, Any]) -> None:
    """Refuse a table that holds no multiverse."""
    if "multiverse" not in metadata:
        raise ForeignError("it holds one signature (affscore.load_signature)")
    words = {field.name: details(field)["words"] for field in ALWAYS if field.name in (*_MEASURED, "coupling")}
    check_signature(rows, {**metadata, **words})
    for name, known in words.items():
        if unknown := set(rows[name]) - {*known}:
            raise ForeignError(f"the column {name!r} holds {min(map(repr, unknown))}")
