"""The ledger: every number that the papers print beside ours, and every claim with its verdict."""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from operator import attrgetter
from types import ModuleType

import pandas as pd

import affscore.papers
from affscore.errors import AffscoreError
from affscore.papers.all_results import AllResults
from affscore.papers.claim import WORDS, Claim, ClaimRow, Verdict
from affscore.papers.comparison import (
    COMPUTED,
    DIFFERS,
    LOOKED_UP,
    MEASURED,
    NEEDS_DATA,
    REPRODUCED,
    VERDICTS,
    WAYS,
    Row,
    counted_verdict,
)
from affscore.papers.results import Results
from affscore.papers.robustness import robustness, shipped_claims

COLUMNS = ("source", "item", "published", "way", "ours", "analogue", "difference", "verdict", "command")
"""The columns of the table, and of the file that the command writes."""

_CELLS = ("printed.source", "printed.item", "printed.text", "our_number.way", "ours", "analogue", "difference",
          "verdict_text", "command")  # fmt: skip
_CLAIM_CELLS = {
    "claim": "claim.text", "source": "claim.source", "test": "claim.test",
    "on": "results.about", "scope": "scope", "networks": "verdict.networks",
    "analogue": "results.analogue", "verdict": "word", "papers_choice": "verdict.word",
    "specifications": "specifications", "found": "found",
}  # fmt: skip
_ROBUSTNESS_CELLS = {
    "claim": "claim.text", "on": "results.about", "verdict": "word", "papers_choice": "verdict.word",
    "specifications": "robustness.specifications", "holds": "robustness.holds", "does not hold": "robustness.fails",
    "cannot be decided": "robustness.undecided", "turned_apart": "robustness.turned_apart",
}  # fmt: skip

ALL = "all"

MATERIAL = ("the papers' own material", "analogues")
"""What claims are tested on."""


@cache
def figures_and_tables() -> tuple[ModuleType, ...]:
    """The modules of all papers' figures and tables, paper by paper and by their names.

    >>> [module.__name__.rpartition(".")[2] for module in figures_and_tables()][:2]
    ['appendix_b', 'appendix_f']
    """
    found = pkgutil.walk_packages(affscore.papers.__path__, "affscore.papers.")
    return tuple(import_module(one.name) for one in found if one.name.count(".") == 3)


@cache
def all_claims() -> tuple[Claim, ...]:
    """The claims of all papers, by their numbers."""
    found = {one for module in figures_and_tables() for one in vars(module).values() if isinstance(one, Claim)}
    return tuple(sorted(found, key=lambda one: one.number))


@dataclass(frozen=True)
class Ledger:
    """Every printed number with what we have for it, and every claim with its verdict on each kind of results.

    Attributes:
        results: What there is.
        by_specification: The claims asked again, as
            :func:`affscore.papers.specifications.claims_by_specification`; unless given those of the package.

    Source: all figures and tables of the papers that print numbers; they are in
        :func:`affscore.papers.printed_tables`.
    """

    results: AllResults
    by_specification: pd.DataFrame = field(default_factory=shipped_claims, repr=False, compare=False)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """A row for each number, with its verdict, in the order of the papers' figures and tables."""
        with_rows = (module for module in figures_and_tables() if hasattr(module, "rows"))
        return tuple(row for module in with_rows for row in module.rows(self.results))

    @cached_property
    def claims(self) -> tuple[ClaimRow, ...]:
        """For each claim a row for each kind of results that has something to say of it; one without where none has."""
        return tuple(row for claim in all_claims() for row in self._tested(claim))

    def _tested(self, claim: Claim) -> list[ClaimRow]:
        """A row for each kind of results that has something to say of a claim; one without where none has."""
        tested = ((kind, claim.decide(kind)) for kind in self.results.kinds)
        found = [
            ClaimRow(claim, kind, verdict, robustness(self.by_specification, claim, kind, verdict))
            for kind, verdict in tested
            if verdict is not None
        ]
        return found or [ClaimRow(claim, Results(""), Verdict(None, f"It takes {claim.needs}."))]

    def conclusions(self, *names: str) -> pd.DataFrame:
        """The claims of these names as a chapter ends: one row for each, and for each kind of results that tests it.

        Args:
            names: Names of claims, in their order (:attr:`affscore.papers.claim.Claim.name`).

        Returns:
            A table by ``conclusion`` with ``verdict`` ("depends on ..." where another choice turns it round),
            ``under other choices``: in how many specifications it holds, ``tested on`` and ``networks``. A claim that
            nothing tests has no row.

        Raises:
            AffscoreError: A name that no claim has.
        """
        known = {claim.name: claim for claim in all_claims()}
        if unknown := [name for name in names if name not in known]:
            raise AffscoreError(f"no claim is called {unknown[0]!r}; known are {', '.join(known)}")
        rows = [
            (row.claim.text, row.word, row.specifications, row.results.about, row.verdict.networks)
            for name in names
            for row in self._tested(known[name])
            if row.results.about
        ]
        columns = ["conclusion", "verdict", "under other choices", "tested on", "networks"]
        return pd.DataFrame(rows, columns=columns).set_index("conclusion")

    @property
    def table(self) -> pd.DataFrame:
        """A row for each number, with the columns :data:`COLUMNS`; ``published`` is text, as printed.

        ``way`` says how ours was found, or has to be: one of measured, computed (from public metadata) and looked up,
        which is no experiment. ``ours`` is empty unless the same thing was measured: the same network, weights and
        data. ``analogue`` says what it is of. ``verdict`` begins with one of reproduced, differs and needs data; the
        reason stands in brackets. ``command`` is there where something can be measured that is not.
        """
        cells = attrgetter(*_CELLS)
        table = pd.DataFrame([cells(row) for row in self.rows], columns=list(COLUMNS))
        return table.astype({"ours": float, "difference": float})

    @property
    def counts(self) -> pd.DataFrame:
        """How many numbers have each verdict, by the way in which ours was found, or has to be, and by source.

        A year that was looked up says less than a score that was measured, so they are never added up. The rows are
        pairs of a way and a source, and :data:`ALL` for each way; the columns are the verdicts and ``numbers``.
        """
        rows = self.table[["way", "source"]].assign(kind=[row.verdict for row in self.rows])
        rows = pd.concat([rows, rows.assign(source=ALL)])
        counts = pd.crosstab([rows["way"], rows["source"]], rows["kind"]).reindex(columns=list(VERDICTS), fill_value=0)
        order = [(way, source) for way in WAYS for source in rows.loc[rows["way"] == way, "source"].unique()]
        counts = counts.loc[order]
        return counts.assign(numbers=counts.sum(axis=1)).rename_axis(columns=None)

    @property
    def claim_table(self) -> pd.DataFrame:
        """The claims as a table.

        A row for each of :attr:`claims`: ``claim``, ``source``, ``test``, ``on`` (what it was tested on), ``scope``
        (which trainings and batches, and under which choices they were measured), ``networks`` (how many),
        ``analogue`` (whether that is something else than the papers looked at), ``verdict`` ("depends on ..." where an
        equally defensible choice turns it round), ``papers_choice`` (the verdict under the papers' own),
        ``specifications`` (in how many it holds and fails) and ``found``, a sentence with the numbers under the papers'
        choice, and why they leave an undecided claim open.
        """
        cells = attrgetter(*_CLAIM_CELLS.values())
        return pd.DataFrame([cells(row) for row in self.claims], columns=list(_CLAIM_CELLS))

    @property
    def robustness_table(self) -> pd.DataFrame:
        """The claims that were asked again: in how many of how many specifications each holds.

        A row for each of :attr:`claims` that was: ``claim``, ``on``, ``verdict`` and ``papers_choice`` as in
        :attr:`claim_table`; ``specifications`` (how many), in how many of these it ``holds``, ``does not hold`` and
        ``cannot be decided``; and ``turned_apart``, in how many more it is turned round, with the axes of the
        published code (:class:`affscore.papers.robustness.Robustness`).
        """
        cells = attrgetter(*_ROBUSTNESS_CELLS.values())
        rows = [cells(row) for row in self.claims if row.robustness is not None]
        return pd.DataFrame(rows, columns=list(_ROBUSTNESS_CELLS))

    @property
    def claim_counts(self) -> pd.DataFrame:
        """How many tested claims have each verdict, those on the papers' own material apart from analogues.

        A row for each of :data:`MATERIAL`, a column for each of :data:`affscore.papers.claim.WORDS`.
        """
        tested = [(MATERIAL[row.results.analogue], row.counted_as) for row in self.claims if row.results.about]
        table = pd.DataFrame(tested, columns=["material", "verdict"])
        counts = pd.crosstab(table["material"], table["verdict"])
        counts = counts.reindex(index=list(MATERIAL), columns=list(WORDS), fill_value=0)
        return counts.rename_axis(index=None, columns=None)

    def __str__(self) -> str:
        counts = self.counts.reset_index("source").query("source == @ALL").drop(columns="source")
        words = {MEASURED: "measured here", COMPUTED: "computed from public metadata", LOOKED_UP: "looked up"}
        of_ways = zip(map(str, counts.index), counts[REPRODUCED], counts[DIFFERS], strict=True)
        ways = "; ".join(
            f"{words[way]}: {counted_verdict(same, REPRODUCED)}, {counted_verdict(other, DIFFERS)}"
            for way, same, other in of_ways
        )
        total, with_analogue = counts.sum(), sum(bool(row.analogue) for row in self.rows)
        return (
            f"{total['numbers']} printed numbers; {ways}; {NEEDS_DATA}: {total[NEEDS_DATA]}; "
            f"{with_analogue} have an analogue"
        )
