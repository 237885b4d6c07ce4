"""What became of the jobs of a survey, and how far they are, wherever they are being done: the store is asked."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from affscore.network.notes import split_note
from affscore.survey.job import Job
from affscore.survey.plan import Outlook, look_at
from affscore.survey.store import Store
from affscore.survey.work import Outcome, State

_WORDS: dict[State, str] = {"measured": "measured", "there": "already there", "busy": "left to another process",
                            "failed": "failed"}  # fmt: skip


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
    def notes(self) -> dict[str, list[int]]:
        """What the results have to say, each sentence with the numbers of its jobs."""
        found: dict[str, list[int]] = {}
        for _, outcome in self.outcomes:
            for note in outcome.notes:
                found.setdefault(note, []).append(outcome.number)
        return found

    def __repr__(self) -> str:
        counts, count = Counter(outcome.state for _, outcome in self.outcomes), len(self.outcomes)
        states = ", ".join(f"{counts[state]} {word}" for state, word in _WORDS.items() if counts[state])
        if resumed := sum(outcome.resumed for _, outcome in self.outcomes):
            batches = "1 batch" if resumed == 1 else f"{resumed} batches"
            states += f" ({batches} taken over from where they were interrupted)"
        lines = [f"{count} {'job' if count == 1 else 'jobs'}: {states}"]
        for job, outcome in self.outcomes:
            if outcome.state == "failed":
                lines.append(f"job {outcome.number} failed: {job}: {outcome.message}")
        for note, numbers in sorted(self.notes.items(), key=lambda item: split_note(item[0])[0], reverse=True):
            jobs = f"job{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
            word, sentence = split_note(note)
            lines.append(f"{word} on {jobs}: {sentence}" if count > 1 else f"{word}: {sentence}")
        return "\n".join(lines)


def listing(jobs: Sequence[Job], folder: str | Path) -> list[str]:
    """A line for each job: its number, what it is, and how far it is.

    Args:
        jobs: The jobs.
        folder: The folder of the store, which need not exist.
    """
    store = Store(folder) if Path(folder).is_dir() else None
    seen = look_at(jobs, [store] if store else [], range(len(jobs)))
    lines = []
    for number, job in enumerate(jobs):
        state, outcome = "not begun", seen.outcomes.get(number)
        if outcome is not None:
            state = "done" if outcome.state == "there" else f"cannot be done: {outcome.message}"
        elif store is not None:
            described = seen.described[number]
            finished = store.parts(described.key).count()
            words = [f"{finished} of {described.batches} batches"] if finished else []
            words += ["running"] if store.is_running(described.key) else []
            state = ", ".join(words) or state
        lines.append(f"{number}: {job}: {state}")
    return lines


SECONDS = 1.0
"""How often the store is asked."""


@contextmanager
def progress_of(store: Store, seen: Outlook, progress: bool | None) -> Iterator[None]:
    """Show how many batches are finished, of all jobs, while the context lasts.

    Args:
        store: Where the batches are.
        seen: The jobs, and what became of those that have ended; the latter may grow meanwhile.
        progress: Whether to show it; None for where there is a terminal.
    """
    jobs, outcomes, stop = seen.described, seen.outcomes, threading.Event()
    total = sum(job.batches for job in jobs.values())
    hidden = None if progress is None else not progress
    with tqdm(total=total, unit="batch", disable=hidden) as bar, ExitStack() as at_the_end:

        def update() -> None:
            ended = {number for number in tuple(outcomes) if outcomes[number].state != "busy"} & jobs.keys()
            bar.n = sum(
                job.batches if number in ended else min(job.batches, store.parts(job.key).count())
                for number, job in jobs.items()
            )
            bar.set_postfix_str(f"{len(ended)}/{len(jobs)} jobs")

        def watch() -> None:
            update()
            while not stop.wait(SECONDS):
                update()
            update()

        if not bar.disable:
            watcher = threading.Thread(target=watch, daemon=True)
            watcher.start()
            at_the_end.callback(watcher.join)
            at_the_end.callback(stop.set)  # first
        yield
