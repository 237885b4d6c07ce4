"""The ledger: every number that the papers print beside ours, and every claim with its verdict.

``python -m companion.ledger`` prints it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property, partial
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import typer
from typer import Option

from affscore.cli import main, options
from affscore.cli.commands import say, write
from companion.all_results import AllResults
from companion.chapters import of_chapters
from companion.claims import DEPENDS, WORDS, Claim, Verdict, all_claims
from companion.printed import (
    COMPUTED,
    DIFFERS,
    LOOKED_UP,
    MEASURED,
    NEEDS_DATA,
    REPRODUCED,
    SIMULATED,
    VERDICTS,
    WAYS,
    Row,
)
from companion.results import MATERIAL, Results
from companion.specifications import asked_again, in_words, shipped_claims, turned

ALL = "all"

_CELLS = {
    "source": "printed.source", "item": "printed.item", "published": "printed.text", "way": "our_number.way",
    "ours": "ours", "analogue": "analogue", "difference": "difference", "verdict": "verdict_text", "command": "command",
}  # fmt: skip

COLUMNS = tuple(_CELLS)
"""The columns of the table, and of the file that the command writes."""

_CLAIM_CELLS = {
    "name": "claim.name", "claim": "claim.text", "source": "claim.source", "test": "claim.test",
    "on": "results.about", "material": "results.material", "units": "units", "verdict": "word",
    "papers_choice": "verdict.word", "specifications": "specifications", "found": "verdict.found",
}  # fmt: skip

_PLURALS = {DIFFERS: "differ", NEEDS_DATA: "need data"}

_WAYS = {
    SIMULATED: "of functions on synthetic samples", MEASURED: "measured on networks",
    COMPUTED: "computed from public metadata", LOOKED_UP: "looked up",
}  # fmt: skip


class ClaimRow(NamedTuple):
    """A claim with its verdict on some results.

    Attributes:
        claim: The claim.
        results: What it was tested on; without a name where there was nothing.
        verdict: What the test says under the papers' own choice; of a claim that was not tested, what it takes.
        again: The verdicts under the specifications, counted; None where it was not asked again.
    """

    claim: Claim
    results: Results
    verdict: Verdict
    again: Counter[str] | None = None

    @property
    def units(self) -> str:
        """How many of which units decided; empty where nothing did."""
        n, units = self.verdict.n, self.verdict.units
        return f"{n} {units.removesuffix('s') if n == 1 else units}" if n and self.results.about else ""

    @property
    def word(self) -> str:
        """The verdict, or "depends on a choice" where another specification turns it round."""
        return DEPENDS if turned(self.verdict, self.again) else self.verdict.word

    @property
    def specifications(self) -> str:
        """In how many specifications the claim holds, in words; empty where there are none to choose from."""
        if self.again is not None:
            return in_words(self.again)
        of_networks = self.results.signatures or "trainings" in self.results.tables
        return "not asked again" if self.claim.of_scores and of_networks else ""


@dataclass(frozen=True)
class Ledger:
    """Every printed number with what we have for it, and every claim with its verdict on each kind of results.

    Attributes:
        results: What there is.
        by_specification: The claims asked again, as
            :func:`companion.specifications.claims_by_specification`; unless given those of the package.

    Source: all figures and tables of the papers that print numbers; they are in
        :func:`companion.printed.printed_tables`.
    """

    results: AllResults
    by_specification: pd.DataFrame = field(default_factory=shipped_claims, repr=False, compare=False)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """A row for each number, with its verdict, section by section."""
        with_rows = (module for module in of_chapters("claims") if hasattr(module, "rows"))
        return tuple(row for module in with_rows for row in module.rows(self.results))

    @cached_property
    def claims(self) -> tuple[ClaimRow, ...]:
        """For each claim a row for each kind of results that has something to say of it; one without where none has."""
        return tuple(row for claim in all_claims() for row in self._tested(claim))

    def _tested(self, claim: Claim) -> list[ClaimRow]:
        found = []
        for kind in self.results.kinds:
            if (verdict := claim.decide(kind)) is not None:
                again = asked_again(self.by_specification, claim, kind, verdict)
                found.append(ClaimRow(claim, kind, verdict, again))
        return found or [ClaimRow(claim, Results("", ""), Verdict(None, f"Not tested: it takes {claim.needs}."))]

    @property
    def table(self) -> pd.DataFrame:
        """A row for each number, with the columns :data:`COLUMNS`; ``published`` is text, as printed.

        ``way`` says how ours was found, or has to be: one of simulated (functions on synthetic samples), measured (on
        networks), computed (from public metadata) and looked up, which is no experiment. ``ours`` is empty unless the
        same thing was measured: the same network, weights and data. ``analogue`` says what it is of. ``verdict`` begins
        with one of reproduced, differs and needs data; the reason stands in brackets. ``command`` is there where
        something can be measured that is not.
        """
        cells = attrgetter(*_CELLS.values())
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
        return counts.loc[order].assign(numbers=counts.sum(axis=1)).rename_axis(columns=None)

    @property
    def claim_table(self) -> pd.DataFrame:
        """The claims as a table.

        A row for each of :attr:`claims`: ``name``, ``claim``, ``source``, ``test``, ``on`` (what it was tested on),
        ``material`` (what it is counted under), ``units`` (how many decided), ``verdict`` ("depends on a choice" where
        an equally defensible one turns it round), ``papers_choice`` (the verdict under the papers' own),
        ``specifications`` (in how many it holds and fails), ``found``: the numbers under the papers' choice, and of an
        undecided claim the smallest effects that would have been seen; and in how many specifications it ``holds``,
        ``does not hold`` and ``cannot be decided``, missing where it was not asked again.
        """
        cells = attrgetter(*_CLAIM_CELLS.values())
        again = pd.DataFrame([row.again or {} for row in self.claims]).reindex(columns=list(WORDS[:-1]))
        asked = again.fillna(0)[again.notna().any(axis=1)]
        return pd.DataFrame([cells(row) for row in self.claims], columns=list(_CLAIM_CELLS)).join(asked)

    @property
    def claim_counts(self) -> pd.DataFrame:
        """How many tested claims have each verdict, by what they were tested on, which is never added up.

        A row for each of :data:`~companion.results.MATERIAL`, a column for each of
        :data:`companion.claims.WORDS`.
        """
        table = self.claim_table
        counts = pd.crosstab(table["material"], table["verdict"])
        counts = counts.reindex(index=list(MATERIAL), columns=list(WORDS), fill_value=0)
        return counts.rename_axis(index=None, columns=None)

    def __str__(self) -> str:
        counts = Counter((row.our_number.way, row.verdict) for row in self.rows)
        ways = "; ".join(
            f"{words}: {_counted(counts[way, REPRODUCED], REPRODUCED)}, {_counted(counts[way, DIFFERS], DIFFERS)}"
            for way, words in _WAYS.items()
        )
        missing = sum(counts[way, NEEDS_DATA] for way in WAYS)
        analogues = sum(bool(row.analogue) for row in self.rows)
        return f"{len(self.rows)} printed numbers; {ways}; {NEEDS_DATA}: {missing}; {analogues} have an analogue"


def _counted(count: int, verdict: str) -> str:
    """How many numbers have a verdict, in words that agree: "1 differs", "5 differ"."""
    return f"{count} {verdict if count == 1 else _PLURALS.get(verdict, verdict)}"


_RESULTS = Option(None, metavar="DIR", help="Take your own results, too: the folder of a store that a survey wrote.")

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def ledger(
    csv: Path | None = options.output("a row for each printed number", ".csv"),
    claims: Path | None = options.output("the claims in words and their tests", ".csv"),
    specifications: Path | None = options.output(
        "what every specification says of the claims, which takes minutes (else the companion's are used),", ".csv"
    ),
    results: Path | None = _RESULTS,
) -> None:
    """Hold the papers' printed numbers against ours: how many are reproduced, differ, or need data.

    The numbers in the column ours are of the same network, weights and data as the printed ones. With the results of
    torchvision's pretrained networks (their default weights) on imagenet:DIR in a store, --results DIR fills it; the
    column command says what to measure. Studies are read from the folder studies in the store.
    """
    from affscore.network.parquet import write_table
    from companion.all_results import AllResults, studies_of_papers
    from companion.claims import DEPENDS
    from companion.specifications import claims_by_specification, gathered_multiverses

    gathered = AllResults.gather(results)
    found = Ledger(gathered)
    if specifications is not None:
        multiverses, studies = gathered_multiverses(results), gathered.studies
        found = Ledger(gathered, claims_by_specification(multiverses, gathered.signatures, studies=studies))
    typer.echo(str(found))
    typer.echo(found.counts.to_string())
    if results is not None:
        used, count = len(gathered.own) - len(gathered.unused), len(gathered.own)
        typer.echo(f"results in {results.name}: {used} of {count} are the papers' measurement", err=True)
        say((f"not taken for it: {name}: {why}" for name, why in gathered.unused.items()), err=True)
        known = ", ".join(studies_of_papers())
        say((f"not taken: the study {name}: only {known} are" for name in gathered.unused_studies), err=True)
    write(partial(write_table, found.table), csv)
    if claims is not None:
        for material, counts in found.claim_counts.iterrows():
            listed = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
            typer.echo(f"claims in words, tested on {material}: {listed}")
        write(partial(write_table, found.claim_table), claims)
    if specifications is not None:
        asked = [row.word for row in found.claims if row.again is not None]
        typer.echo(f"verdicts that were asked for again: {len(asked)}, of which {asked.count(DEPENDS)} {DEPENDS}")
        write(partial(write_table, found.by_specification), specifications)


if __name__ == "__main__":
    main(app, "python -m companion.ledger")
