"""A network's signature under every defensible choice at once, from one forward pass."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from torch import nn

from affscore.errors import AffscoreError
from affscore.network.batch import subject_of
from affscore.network.columns import ALWAYS
from affscore.network.inputs import Forward
from affscore.network.notes import Note, give_warnings, lines
from affscore.network.parquet import alike, read_description, read_parquet, write_parquet
from affscore.network.result import METADATA, Signature, check_rows, load_signature
from affscore.network.scoring import OF_CALL
from affscore.network.signature import named_options, signatures
from affscore.options import DEFAULT, MASK, BiasName, Execution, Options, ReductionName, Specification, check_reductions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REDUCTIONS: tuple[ReductionName, ...] = ("mean", "sample")
"""The reductions of a multiverse, if no others are asked for."""

_MEASURED = ["reduction", "order", "covariance"]
_COLUMNS = {
    ("exact", "none"): "score",
    ("paired", "none"): "paired",
    ("exact", "extrapolated"): "extrapolated",
    ("paired", "extrapolated"): "paired_extrapolated",
}


def multiverse(  # the others are those of signature
    model: nn.Module | str,
    data: Any,
    n: int = 512,
    images: int | None = None,
    device: str = "auto",
    batch_size: int = 64,
    seed: int = 0,
    progress: bool | None = None,
    reductions: str | Sequence[str] = REDUCTIONS,
    bias: BiasName = "none",
    activations: Collection[Any] | Mapping[str, Any] | None = None,
    forward: Forward | None = None,
    data_name: str | None = None,
    positions: int = 4,
    size: int | None = None,
    mask: str | None = MASK,
) -> Multiverse:
    """The signature of a network under every combination of reduction, order, covariance and coupling.

    As for :func:`affscore.signature`: model, data, n, images, device, batch_size, seed, progress, activations, forward,
    data_name, positions, size, mask.

    The network runs once. Each score is that of a separate :func:`affscore.signature` call, to the last bit on the
    CPU. ``sample``, ``positions`` and ``flatten`` have one order, "activate-first": both are the same there.

    Args:
        reductions: Which reductions: "mean" and "sample", unless others are named.
        bias: "extrapolated" adds, for each specification, scores that are corrected for the bias of a finite n
            (:func:`affscore.transport.extrapolated_affinity_scores`).

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
    options = named_options({**locals(), "multiverse": check_reductions(reductions)})
    subject = subject_of(model, data, options, Execution(device, batch_size, progress), activations, forward, data_name)
    give_warnings(early := subject.stream.assumptions(subject.network), stacklevel=2)
    result = Multiverse.of(signatures(subject), subject.options)
    give_warnings([note for note in result.notes if note not in early], stacklevel=2)
    return result


@dataclass(frozen=True, eq=False)
class Multiverse:
    """The scores of a network's activations under every specification: reduction, order, covariance, coupling.

    Attributes:
        rows: A row for every activation, batch, reduction, order and covariance, with the columns of a signature's
            table; the score under the pairing is the column ``paired``.
        metadata: How it was made, as of a signature; ``multiverse`` lists the reductions.
        notes: What the reader should know, in sentences.

    >>> from affscore import multiverse
    >>> found = multiverse("mini:digitsnet", "digits", n=64, images=64)
    >>> len(found.choices), len(found.table), list(found.summary.columns[-4:])
    (12, 108, ['mean', 'spread', 'minimum', 'rank_correlation'])
    """

    rows: pd.DataFrame
    metadata: dict[str, Any]
    notes: list[Note] = field(default_factory=list)

    @classmethod
    def of(cls, signatures: Sequence[Signature], options: Options) -> Multiverse:
        """The multiverse of signatures of one network on the same samples.

        It has the notes of all of them, and of the expected errors of their scores the largest. Each specification
        keeps its own (:meth:`signature`).
        """
        left_out = (*_MEASURED, "coupling")
        metadata = {name: value for name, value in signatures[0].metadata.items() if name not in left_out}
        notes = {_way(one.metadata): [note.stored() for note in one.notes] for one in signatures}
        metadata |= {"multiverse": list(options.multiverse), "bias": options.bias, "notes": notes}
        return cls(pd.concat([one.table for one in signatures], ignore_index=True), metadata, notes_of_all(notes))

    def narrowed(self, reductions: Sequence[str]) -> Multiverse:
        """The multiverse of some of its reductions, in their order."""
        parts = [self.rows[self.rows["reduction"] == name] for name in reductions]
        # files of 1.0 lack these notes
        kept = {way: own for way, own in self.metadata.get("notes", {}).items() if way.split(", ")[0] in reductions}
        metadata = {**self.metadata, "multiverse": list(reductions), "notes": kept}
        return Multiverse(pd.concat(parts, ignore_index=True), metadata, notes_of_all(kept) if kept else [*self.notes])

    @property
    def name(self) -> str:
        """Network, weights and data."""
        return f"{self.metadata['model']} ({self.metadata['weights']}) on {self.metadata['dataset']}"

    @property
    def scores(self) -> pd.DataFrame:
        """Mean scores over the batches, a row for each activation (``index``), a column for each specification.

        Where the score itself is that of the pairing (more than 2,048 points), there is no column for the exact one.
        """
        return self._scores.copy()

    @cached_property
    def _scores(self) -> pd.DataFrame:
        columns = dict[Specification, pd.Series]()
        for (*measured, way), rows in self.rows.groupby([*_MEASURED, "coupling"], sort=False):
            means = rows.groupby("index")[[name for name in _COLUMNS.values() if name in rows]].mean()
            for (coupling, bias), name in _COLUMNS.items():
                if name in means and (coupling == "paired" or way == "exact"):
                    columns[Specification(*map(str, (*measured, coupling, bias)))] = means[name]
        first = sorted(columns, key=lambda one: (one.bias != "none", one != DEFAULT))
        return pd.DataFrame(columns).rename_axis(columns=list(Specification._fields))[first]

    @property
    def table(self) -> pd.DataFrame:
        """A row for each activation and specification, with the mean score over the batches.

        The columns are ``index``, ``layer``, ``call``, ``activation``, ``kind``, ``depth``, the five words of the
        specification, and ``score``.
        """
        activations = self.rows[[*OF_CALL]].drop_duplicates("index").set_index("index")
        parts = [activations.assign(**choice._asdict(), score=self._scores[choice]) for choice in self.choices]
        return pd.concat(parts).rename_axis("index").reset_index()

    @property
    def choices(self) -> list[Specification]:
        """The specifications, the default first where it was measured."""
        return [Specification(*choice) for choice in self._scores.columns]

    @property
    def summary(self) -> pd.DataFrame:
        """A row for each specification.

        Beside its five words: ``activations`` (how many have a score), ``mean``, ``spread`` (maximum - minimum) and
        ``minimum`` of the scores, and ``rank_correlation``, Spearman's, with the scores of the default specification
        (of the first where the default was not measured) over the activations that have both
        (:func:`rank_correlation`).
        """
        scores = self._scores
        return pd.DataFrame({
            "activations": scores.count(),
            "mean": scores.mean(),
            "spread": scores.max() - scores.min(),
            "minimum": scores.min(),
            "rank_correlation": scores.corr("spearman", min_periods=3).iloc[0],  # missing where all are the same
        }).reset_index()  # fmt: skip

    def signature(
        self,
        reduction: str = "mean",
        order: str = "activate-first",
        covariance: str = "ledoit-wolf",
        coupling: str = "exact",
        bias: str = "none",
    ) -> Signature:
        """The signature under one specification, as :func:`affscore.signature` measures it (without its costs).

        Of the pairing, and of extrapolated scores, the raw score is the score itself, and ``paired`` at most that.

        Raises:
            AffscoreError: It was not measured.

        >>> from affscore import multiverse
        >>> found = multiverse("mini:digitsnet", "digits", n=64, images=64)
        >>> paired = found.signature(coupling="paired").scores
        >>> bool((paired <= found.signature().scores).all())
        True
        """
        asked = Specification(*map(str, (reduction, order, covariance, coupling, bias)))
        if asked not in self.choices:
            known = "; ".join(map(", ".join, self.choices))
            raise AffscoreError(f"{', '.join(asked)} was not measured; there are: {known}")
        column = _COLUMNS[asked.coupling, asked.bias]
        rows = self.rows[self.rows[_MEASURED].eq([*asked[:3]]).all(axis=1)].reset_index(drop=True)
        table = rows.drop(columns=["extrapolated", "paired_extrapolated"], errors="ignore")
        if column != "score":
            table = table.assign(score=rows[column], raw=rows[column], coupling=asked.coupling, decided_by="")
            table["pairing_optimal"] = pd.Series(None, table.index, dtype="boolean")
            table["paired"] = rows[_COLUMNS["paired", asked.bias]].clip(upper=table["score"])
        metadata = {**self.metadata, **asked._asdict(), "criteria": []}
        del metadata["multiverse"]
        own = metadata.pop("notes", {}).get(_way(asked._asdict()), self.notes)
        return Signature(table, metadata, list(map(Note.of, own)))

    def plot(self, title: str | None = None) -> Figure:
        """Draw the mean scores of all specifications, sorted, over the dots of their choices.

        Args:
            title: None for network, weights and data.
        """
        from affscore.plots.signature import specification_curve  # upwards, as Signature.plot

        quartiles = self.scores.quantile([0.25, 0.75]).T.reset_index(drop=True).set_axis(["low", "high"], axis=1)
        words = {"ylabel": "affinity score\n(mean and quartiles)", "title": self.name if title is None else title}
        return specification_curve(self.summary.join(quartiles), low="low", high="high", **words)

    def save(self, file: str | Path) -> Path:
        """Write it to a Parquet file, which :func:`affscore.load_multiverse` reads.

        Raises:
            AffscoreError: Another ending, or a place that cannot be written.
        """
        return write_parquet(self.rows, self.metadata, self.notes, file)

    def __eq__(self, other: object) -> bool:
        return alike(self, other, "rows") if isinstance(other, Multiverse) else NotImplemented

    def __repr__(self) -> str:
        means = self.scores.mean()
        head = f"Multiverse of {self.name}: {len(self.scores)} activations, {len(means)} specifications, mean scores"
        first = f"{means.iloc[0]:.2f} under {', '.join(self.choices[0][:4])}"
        return "\n".join([f"{head} {means.min():.2f} to {means.max():.2f}, {first}", *lines(self.notes)])


def load_multiverse(file: str | Path) -> Multiverse:
    """The multiverse in a Parquet file that :meth:`Multiverse.save`, the command or a survey wrote.

    Raises:
        AffscoreError: No such file, not Parquet, no multiverse, of a newer version, or damaged since.

    >>> import tempfile
    >>> from affscore import multiverse
    >>> found = multiverse("mini:digitsnet", "digits", n=64, images=64)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load_multiverse(found.save(f"{folder}/digits.parquet")) == found
    True
    """
    needed = {*METADATA} - {*_MEASURED, "coupling"}  # which the rows say
    return Multiverse(*read_parquet(file, "multiverse", partial(check_rows, columns=ALWAYS, needed=needed)))


def load_result(file: str | Path) -> Signature | Multiverse:
    """The signature or the multiverse in a file of a store.

    Raises:
        AffscoreError: As :func:`load_multiverse`.
    """
    return load_multiverse(file) if "multiverse" in read_description(Path(file)) else load_signature(file)


def _way(words: Mapping[str, Any]) -> str:
    """Reduction, order and covariance of a signature, in words."""
    return ", ".join(str(words[name]) for name in _MEASURED)


def notes_of_all(notes: Mapping[str, Sequence[Any]]) -> list[Note]:
    """The notes of a multiverse, given those of each specification as its metadata hold them.

    Each is there once, and of those with a value only the one with the largest.

    >>> few, many = (Note(f"{bias} too high", "warning", bias).stored() for bias in (0.1, 0.3))
    >>> notes_of_all({"mean": ["dropped", few], "sample": ["dropped", "many points", many]})
    ['dropped', 'many points', '0.3 too high']
    """
    found = dict.fromkeys(Note.of(note) for own in notes.values() for note in own)
    largest = max((note for note in found if note.value is not None), key=lambda note: note.value or 0.0, default=None)
    return [note for note in found if note.value is None or note == largest]
