"""The teacher's table: what the reports of a class hold, checked again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from affscore.errors import AffscoreError
from affscore.exercises.limited import LOST, RIGHT, Outcome, checked, get_ready
from affscore.exercises.registry import known
from affscore.exercises.reports import Report, read_report

UNREADABLE = "unreadable"


@dataclass(frozen=True)
class Marks:
    """The answers of a class.

    Attributes:
        rows: A row for each answer: student, exercise, result, message, and what the check "said" in the session.
        notes: What a teacher should know: files that are no reports, answers that were handed in twice.
    """

    rows: pd.DataFrame
    notes: list[str]

    @property
    def table(self) -> pd.DataFrame:
        """A row for each student: how many are right, how many were handed in, and each exercise that somebody did."""
        answers = self.rows[self.rows["exercise"] != ""]
        wide = answers.set_index(["student", "exercise"])["result"].unstack()  # noqa: PD010
        wide = wide[[number for number in known() if number in wide]].reindex(sorted({*self.rows["student"]}))
        counts = pd.DataFrame({"right": (wide == RIGHT).sum(axis=1), "handed in": wide.notna().sum(axis=1)})
        unreadable = {*self.rows.loc[self.rows["result"] == UNREADABLE, "student"]}
        wide = counts.join(wide.fillna("-")).astype(object)
        wide.loc[[student in unreadable for student in wide.index], "handed in"] = UNREADABLE
        return wide.rename_axis(columns=None)


def marks(
    folder: str | Path,
    seconds: float = 60,
    megabytes: int = 2048,
    jobs: int = 1,
    progress: Callable[[str], None] = lambda line: None,
) -> Marks:
    """Check all answers in the reports of a folder (*.json, also in its folders), each in a process with limits.

    Args:
        folder: The folder.
        seconds: How long an answer may take.
        megabytes: Memory that an answer may take.
        jobs: How many are checked at once.
        progress: Called with the name of each file.

    Raises:
        AffscoreError: There is no report in the folder.
    """
    files = sorted(path for path in Path(folder).rglob("*.json") if path.is_file())
    if not files:
        raise AffscoreError(
            f"there is no report (*.json) in {folder}: students write one with affscore.exercises.report"
        )
    get_ready()
    rows, notes = list[dict[str, str]](), list[str]()
    reports = []
    for file in files:
        try:
            reports.append(read_report(file))
        except AffscoreError as reason:
            notes.append(str(reason))
            rows.append(
                {"student": file.stem, "exercise": "", "result": UNREADABLE, "message": str(reason), "said": ""}
            )
    answers = dict(_newest(reports, notes))
    with ThreadPoolExecutor(jobs) as threads:
        tasks = {key: threads.submit(_outcome, key[1], row, seconds, megabytes) for key, row in answers.items()}
        for (student, number), task in tasks.items():
            outcome = task.result()
            progress(f"{student}, {number}: {outcome.result}")
            row = {"student": student, "exercise": number, "result": outcome.result, "message": outcome.message}
            rows.append(row | {"said": str(answers[student, number]["said"])})
    return Marks(pd.DataFrame(rows), notes)


def _newest(reports: list[Report], notes: list[str]) -> Iterator[tuple[tuple[str, str], dict[str, object]]]:
    """The answers by student and exercise; of two the one that was written later."""
    seen: dict[tuple[str, str], Report] = {}
    exercises = known()
    for report in sorted(reports, key=lambda one: one.written):
        student = " ".join(report.student.split()) or report.file.stem
        for number, row in report.answers.items():
            if number not in exercises:
                notes.append(f"{report.file.name}: there is no exercise {number}")
                continue
            before = seen.get((student, number))
            if before is not None and before.answers[number].get("answer") != row.get("answer"):
                notes.append(
                    f"{student}, {number}: {before.file.name} and {report.file.name} differ; the later one counts"
                )
            seen[student, number] = report
            yield (student, number), row


def _outcome(number: str, row: dict[str, object], seconds: float, megabytes: int) -> Outcome:
    if "answer" not in row:
        return Outcome(LOST, f"{row['not kept']}; the student's own session said: {row['said']}")
    return checked(number, row["answer"], seconds, megabytes)
