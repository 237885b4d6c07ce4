"""What became of the jobs of a survey, and how far it is."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from affscore.network.notes import Note
from affscore.survey.job import Job
from affscore.survey.plan import look_at
from affscore.survey.store import Store
from affscore.survey.work import Outcome, State

_WORDS: dict[State, str] = {"measured": "measured", "there": "already there", "failed": "failed"}


@dataclass(frozen=True)
class Report:
    """What became of every job of a survey.

    Attributes:
        outcomes: Each job and its outcome, by their numbers. The text of the report counts them, tells of each
            failure, and has the notes of the results.
    """

    outcomes: tuple[tuple[Job, Outcome], ...]

    @property
    def complete(self) -> bool:
        """Whether the result of every job is in the store."""
        return all(outcome.state in ("measured", "there") for _, outcome in self.outcomes)

    @property
    def failures(self) -> list[tuple[Job, str]]:
        """The jobs that failed, and why."""
        return [(job, outcome.message) for job, outcome in self.outcomes if outcome.state == "failed"]

    @property
    def notes(self) -> dict[Note, list[int]]:
        """What the results have to say, each sentence with the numbers of its jobs."""
        found: dict[Note, list[int]] = {}
        for _, outcome in self.outcomes:
            for note in outcome.notes:
                found.setdefault(note, []).append(outcome.number)
        return found

    def __repr__(self) -> str:
        counts, count = Counter(outcome.state for _, outcome in self.outcomes), len(self.outcomes)
        states = ", ".join(f"{counts[state]} {word}" for state, word in _WORDS.items() if counts[state])
        lines = [f"{count} {'job' if count == 1 else 'jobs'}: {states}"]
        for job, outcome in self.outcomes:
            if outcome.state == "failed":
                lines.append(f"job {outcome.number} failed: {job}: {outcome.message}")
        for note, numbers in sorted(self.notes.items(), key=lambda item: item[0].kind, reverse=True):
            jobs = f"job{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
            lines.append(f"{note.kind} on {jobs}: {note}" if count > 1 else f"{note.kind}: {note}")
        return "\n".join(lines)


def listing(jobs: Sequence[Job], folder: str | Path) -> list[str]:
    """A line for each job: its number, what it is, and whether it is done.

    Args:
        jobs: The jobs.
        folder: The folder of the store, which need not exist.
    """
    seen = look_at(jobs, [Store(folder)] if Path(folder).is_dir() else [], range(len(jobs)))
    lines = []
    for number, job in enumerate(jobs):
        state = ", ".join(filter(None, ["to do", seen.changed.get(number)]))
        if (outcome := seen.outcomes.get(number)) is not None:
            state = "done" if outcome.state == "there" else f"cannot be done: {outcome.message}"
        lines.append(f"{number}: {job}: {state}")
    return lines


def with_progress(outcomes: Iterable[Outcome], total: int, done: int, progress: bool | None) -> Iterator[Outcome]:
    """The same outcomes as they come; how far the survey is, and how long it will take, on the error stream.

    Args:
        outcomes: Of the jobs that are to be done.
        total: How many jobs there are.
        done: How many were settled before.
        progress: Whether to show a bar or, where there is no terminal, a line for each; None for a bar on a terminal.
    """
    begun, terminal = time.monotonic(), sys.stderr.isatty()
    with tqdm(total=total, initial=done, unit="job", disable=not terminal or progress is False) as bar:
        for count, outcome in enumerate(outcomes, 1):
            yield outcome
            bar.update()
            if progress and not terminal:
                left = (time.monotonic() - begun) / count * (total - done - count)
                print(f"{done + count} of {total}{f', about {_in_words(left)} left' if left else ''}", file=sys.stderr)


def _in_words(seconds: float) -> str:
    """A time, roughly.

    >>> _in_words(8), _in_words(100), _in_words(86400)
    ('8 s', '2 min', '24 h')
    """
    return next(f"{seconds / size:.0f} {unit}" for unit, size in _UNITS.items() if seconds >= 1.5 * size or size == 1)


_UNITS = {"h": 3600, "min": 60, "s": 1}
