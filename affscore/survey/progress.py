"""A bar of the finished batches of all jobs, wherever they are being done: the store is asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tqdm import tqdm

from affscore.survey.plan import Outlook
from affscore.survey.store import Store

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
    with tqdm(total=total, unit="batch", disable=None if progress is None else not progress) as bar:

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

        watcher = threading.Thread(target=watch, daemon=True)
        if not bar.disable:
            watcher.start()
        try:
            yield
        finally:
            stop.set()
            if not bar.disable:
                watcher.join()
