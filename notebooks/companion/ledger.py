"""``python -m companion.ledger``: every number that the papers print, beside ours."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import typer
from typer import Option

from affscore.cli import options
from affscore.cli.main import main
from affscore.cli.words import say, write

_RESULTS = Option(None, metavar="DIR", help="Take your own results, too: the folder of a store that a survey wrote.")

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def ledger(
    csv: Path | None = options.output("Write a row for each printed number to this .csv file.", ".csv"),
    claims: Path | None = options.output("Write the claims in words and their tests to this .csv file.", ".csv"),
    specifications: Path | None = options.output(
        "Decide the claims about signatures under every specification there is, which takes minutes, and write the "
        "verdicts to this .csv file. Without this option those that come with the companion are used.",
        ".csv",
    ),
    results: Path | None = _RESULTS,
) -> None:
    """Hold the papers' printed numbers against ours: how many are reproduced, differ, or need data.

    The numbers in the column ours are of the same network, weights and data as the printed ones. With the results of
    torchvision's pretrained networks (their default weights) on imagenet:DIR in a store, --results DIR fills it; the
    column command says what to measure. Studies are read from the folder studies in the store.
    """
    from affscore.network.parquet import write_table
    from companion.papers.all_results import AllResults, studies_of_papers
    from companion.papers.claim import DEPENDS
    from companion.papers.ledger import Ledger
    from companion.papers.specifications import claims_by_specification, gathered_multiverses

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
