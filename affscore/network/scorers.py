"""What happens to the pairs of a batch: scored at once, or added to those of the whole data set."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol, Self

from affscore.errors import AffscoreError
from affscore.network.collect import Pair
from affscore.network.scoring import Choices, score_pair
from affscore.network.whole import WholeDataset

__all__ = ["BatchScorer", "Scorer", "WholeScorer"]


class Scorer(Protocol):
    """Takes the pairs of batches and gives the rows of the table."""

    @property
    def keeps_rest(self) -> bool:
        """Whether a last batch that is shorter than the others is taken, too."""

    def add(self, pairs: list[Pair]) -> None:
        """Take the pairs of a batch."""

    def rows(self) -> list[dict[str, Any]]:
        """The rows of all batches."""


class BatchScorer:
    """Scores every batch by itself.

    Args:
        choices: What to compute.
        in_background: Score in another thread, while the next batch goes through the network: on a GPU the
            assignment problems are solved by the processor, which is idle then. At most one batch waits.
    """

    def __init__(self, choices: Choices, in_background: bool = False) -> None:
        self.choices = choices
        self._threads = ThreadPoolExecutor(1) if in_background else None
        self._waiting: Future[list[dict[str, Any]]] | None = None
        self._rows: list[dict[str, Any]] = []
        self._batches = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._threads is not None:
            self._threads.shutdown(cancel_futures=True)

    @property
    def keeps_rest(self) -> bool:
        """A short batch is taken only where it is the only one: scores of other sizes do not compare."""
        return self._batches == 0

    def add(self, pairs: list[Pair]) -> None:
        """Score the pairs of a batch, or begin to."""
        if pairs and len(pairs[0].xs) < 2:
            raise AffscoreError("a score needs at least 2 images, got 1")
        batch, self._batches = self._batches, self._batches + 1
        if self._threads is None:
            self._rows += self._score(pairs, batch)
            return
        self._finish()
        self._waiting = self._threads.submit(self._score, pairs, batch)

    def rows(self) -> list[dict[str, Any]]:
        """A row for every activation and batch."""
        self._finish()
        if not self._rows:
            raise AffscoreError("the data holds no image; give at least 2")
        return self._rows

    def _finish(self) -> None:
        if self._waiting is not None:
            self._rows += self._waiting.result()
            self._waiting = None

    def _score(self, pairs: list[Pair], batch: int) -> list[dict[str, Any]]:
        return [{**score_pair(pair, self.choices), "batch": batch} for pair in pairs]


class WholeScorer:
    """Scores all images together, at the end (see :class:`affscore.network.whole.WholeDataset`)."""

    keeps_rest = True

    def __init__(self, total: int | None, choices: Choices) -> None:
        self._whole = WholeDataset(total, choices)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing to release."""

    def add(self, pairs: list[Pair]) -> None:
        """Add the pairs of some images."""
        self._whole.add(pairs)

    def rows(self) -> list[dict[str, Any]]:
        """A row for every activation."""
        rows = self._whole.rows()
        if not rows:
            raise AffscoreError("the data holds no image; give at least 2")
        return [{**row, "batch": 0} for row in rows]
