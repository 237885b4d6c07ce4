"""``affscore marks``: the answers of a class."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import typer
from typer import Argument, Option

from affscore.cli import options
from affscore.cli.words import say, write


def marks(
    folder: Path = Argument(metavar="FOLDER", help="The folder with the reports, *.json, also in its folders."),
    csv: Path | None = options.output("Write the table to this .csv file.", ".csv"),
    messages: Path | None = options.output("Write a row for each answer, with its message, to this .csv file.", ".csv"),
    seconds: float = Option(60, min=1, help="How many seconds an answer may take."),
    memory: int = Option(2048, min=64, help="How much memory it may take, in MB, beyond the library's (Linux)."),
    jobs: int = Option(1, min=1, help="How many answers are checked at once."),
) -> None:
    """Check the answers that students handed in: a row for each student, a column for each exercise.

    Students write a report with affscore.exercises.report("NAME"). Every answer is checked again, in a process of its
    own with limits of time and memory, which may not open files or start programs. That is a limit, and no sandbox:
    where students might attack the marking itself, run this command in a container. "-" is an exercise that
    was not handed in, "not kept" one that the student's session could not write down.
    """
    from affscore.exercises.marks import marks as mark

    found = mark(folder, seconds, memory, jobs, progress=lambda line: typer.echo(line, err=True))
    typer.echo(found.table.to_string())
    say((f"affscore: {note}" for note in found.notes), err=True)
    write(found.table.to_csv, csv)
    write(partial(found.rows.to_csv, index=False), messages)
