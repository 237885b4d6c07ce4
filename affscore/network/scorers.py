"""What happens to the pairs of a batch: scored at once, or added to those of the whole data set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self

from affscore.errors import AffscoreError
from affscore.network.collect import Pair
from affscore.network.scoring import Choices, score_pair
from affscore.network.whole import WholeDataset

__all__ = ["Batch", "BatchScorer", "Scorer", "WholeScorer"]

_NO_SAMPLE = "the data holds no sample; give at least 2"


@dataclass(frozen=True)
class Batch:
    """A finished batch of a signature: all that a later run needs in order not to measure it again.

    Attributes:
        number: Its place, from 0.
        network: Fingerprint of the network that was measured.
        images: Fingerprint of the images from the first one to the last of this batch.
        notes: What its forward passes showed, in sentences.
        rows: A row for every activation, in the order in which they ran.
        right: How many of its images were classified rightly; None where that is not known.
        unused: How many outputs lie beyond the largest of its labels (:class:`affscore.network.accuracy.Hits`).
    """

    number: int
    network: str
    images: str
    notes: list[str] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    right: int | None = None
    unused: int = 0


class Scorer(Protocol):
    """Takes the pairs of batches and gives these batches back with their rows."""

    def add(self, batch: Batch, pairs: list[Pair]) -> None:
        """Take the pairs of a batch, which has no rows yet."""

    def batches(self) -> list[Batch]:
        """All batches, with their rows."""


class BatchScorer:
    """Scores every batch by itself.

    Args:
        choices: What to compute.
        finished: Batches that were scored before, the first ones of all.
        on_batch: Is given every batch as soon as it is scored (in the background: by the other thread).
        in_background: Score in another thread, while the next batch goes through the network: on a GPU the
            assignment problems are solved by the processor, which is idle then. At most one batch waits.
    """

    def __init__(
        self,
        choices: Choices,
        finished: Sequence[Batch] = (),
        on_batch: Callable[[Batch], None] | None = None,
        in_background: bool = False,
    ) -> None:
        self.choices = choices
        self._on_batch = on_batch
        self._threads = ThreadPoolExecutor(1) if in_background else None
        self._waiting: Future[Batch] | None = None
        self._batches = list(finished)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._threads is not None:
            self._threads.shutdown(cancel_futures=True)

    def add(self, batch: Batch, pairs: list[Pair]) -> None:
        """Score the pairs of a batch, or begin to."""
        if pairs and len(pairs[0].xs) < 2:
            raise AffscoreError("a score needs at least 2 samples, got 1")
        if self._threads is None:
            self._batches.append(self._score(batch, pairs))
            return
        self._finish()
        self._waiting = self._threads.submit(self._score, batch, pairs)

    def batches(self) -> list[Batch]:
        """All batches, with a row for every activation."""
        self._finish()
        if not self._batches:
            raise AffscoreError(_NO_SAMPLE)
        return self._batches

    def _finish(self) -> None:
        if self._waiting is not None:
            self._batches.append(self._waiting.result())
            self._waiting = None

    def _score(self, batch: Batch, pairs: list[Pair]) -> Batch:
        batch = replace(batch, rows=[score_pair(pair, self.choices) for pair in pairs])
        if self._on_batch is not None:
            self._on_batch(batch)
        return batch


class WholeScorer:
    """Scores all images together, at the end (see :class:`affscore.network.whole.WholeDataset`)."""

    def __init__(self, total: int | None, choices: Choices) -> None:
        self._whole = WholeDataset(total, choices)
        self._last: Batch | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing to release."""

    def add(self, batch: Batch, pairs: list[Pair]) -> None:
        """Add the pairs of some images."""
        self._whole.add(pairs)
        before = self._last or replace(batch, notes=[], right=0)
        right = None if before.right is None or batch.right is None else before.right + batch.right
        unused = min(before.unused, batch.unused)
        self._last = replace(batch, number=0, notes=[*before.notes, *batch.notes], right=right, unused=unused)

    def batches(self) -> list[Batch]:
        """One batch of all images, with a row for every activation."""
        if self._last is None:
            raise AffscoreError(_NO_SAMPLE)
        return [replace(self._last, rows=self._whole.rows())]
