"""The scores of a whole data set, with no batch size in them: from moments that add up, or from all samples."""

from __future__ import annotations

import math
import os
import time
from typing import Any

import torch
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.network.collect import Pair
from affscore.network.criteria import entropy, linear_cka, norm, r2
from affscore.network.moment_criteria import criteria_from_moments
from affscore.network.rows import Rows
from affscore.network.scoring import Choices, check_finite, first_columns, naming, scored, sparsity
from affscore.transport.affinity import affinity_score, paired_affinity_score
from affscore.transport.moments import PairMoments
from affscore.transport.samples import centred

__all__ = ["WholeDataset", "bytes_needed"]

SHARE_OF_MEMORY = 0.75
"""How much of the machine's memory the moments may fill."""


class WholeDataset:
    """Gathers the pairs of every activation over a whole data set, and scores them at the end.

    An activation of width c needs three c x c matrices of sums, or, as long as there are fewer than 2 c
    images, less memory for the samples themselves. The score is that of all images under the paired
    coupling: a lower bound of their exact score with the same covariance.

    Args:
        total: How many images there will be, or None where that is not known.
        choices: What to compute; of the criteria those that moments know (not the debiased CKA and the
            non-linearity coefficient).
        memory: Bytes that may be used; by default three quarters of the machine's.
    """

    def __init__(self, total: int | None, choices: Choices, memory: int | None = None) -> None:
        if beyond := sorted({"cka_debiased", "nlc"} & set(choices.criteria)):
            raise AffscoreError(f"{beyond[0]} needs the samples of a batch; leave it away, or use whole=False")
        self.total = total
        self.choices = choices
        self.memory = memory
        self._parts: list[_Part] = []

    def add(self, pairs: list[Pair]) -> None:
        """Take in the pairs of some images.

        Raises:
            AffscoreError: NaN or infinity in an activation, or more memory needed than there is.
        """
        if not self._parts:
            self._check_memory([pair.x.shape[1] for pair in pairs], pairs[0].x.device)
            self._parts = [_Part(self.total, self.choices) for _ in pairs]
        for part, pair in zip(self._parts, pairs, strict=True):
            part.add(pair)

    def rows(self) -> list[dict[str, Any]]:
        """A row for each activation."""
        return [part.row() for part in self._parts]

    def _check_memory(self, widths: list[int], device: torch.device) -> None:
        available = self.memory if self.memory is not None else int(SHARE_OF_MEMORY * _memory_of(device))
        needed = bytes_needed(widths, self.total)
        if needed > available:
            raise AffscoreError(
                f"the whole data set needs {needed / 2**30:.1f} GB for the moments of {len(widths)} activations "
                f"(widths up to {max(widths)}), and {available / 2**30:.1f} GB may be used; "
                "use batches (whole=False), or fewer samples"
            )


def bytes_needed(widths: list[int], total: int | None) -> int:
    """What moments, or samples where these are fewer, of activations of these widths fill.

    Args:
        widths: Channels of each activation.
        total: Number of images, or None where that is not known.

    >>> bytes_needed([1000], 100_000), bytes_needed([1000], 100)
    (24000000, 800000)
    """
    return sum(
        2 * 4 * total * width if total is not None and total < 2 * width else 3 * 8 * width**2 for width in widths
    )


class _Part:
    """One activation: its samples while these are few, then its moments."""

    def __init__(self, total: int | None, choices: Choices) -> None:
        self.total = total
        self.choices = choices
        self.pair: Pair | None = None
        self.moments: PairMoments | None = None
        self.samples: list[tuple[Tensor, Tensor]] = []
        self.count = 0
        self.entropies = (0.0, 0.0)
        self.seconds = 0.0

    def add(self, pair: Pair) -> None:
        start = time.perf_counter()
        x, y = check_finite(pair)
        if self.pair is None:
            self.pair = pair
        else:
            self.pair.entries += pair.entries
            self.pair.sparse = (self.pair.sparse[0] + pair.sparse[0], self.pair.sparse[1] + pair.sparse[1])
            self.pair.call = pair.call
        pair.xs, pair.ys = Rows(), Rows()
        self.count += len(x)
        if "entropy" in self.choices.criteria:
            before, after = self.entropies
            # one image alone is no sample, but it has an entropy: that of two such images
            twice = (2, -1) if len(x) == 1 else (-1, -1)
            self.entropies = (
                before + entropy(x.expand(twice)) * len(x),
                after + entropy(y.expand(twice)) * len(y),
            )
        self.samples.append((x, y))
        expected = self.count if self.total is None else self.total
        if self.moments is not None or expected >= 2 * x.shape[1]:
            for part_x, part_y in self.samples:
                part = PairMoments.of(part_x.double(), part_y.double(), pair.rounding)
                self.moments = part if self.moments is None else self.moments.merged(part)
            self.samples = []
        self.seconds += time.perf_counter() - start

    def row(self) -> dict[str, Any]:
        assert self.pair is not None
        start, rounding, covariance = time.perf_counter(), self.pair.rounding, self.choices.covariance
        with naming(self.pair.call):
            if self.moments is not None:
                pairs = self.moments.centred(rounding)
                score = scored(lambda: paired_affinity_score(pairs, covariance, rounding=rounding))
                found, width = (
                    criteria_from_moments(pairs, rounding) if self.choices.criteria else {},
                    len(pairs.x.first),
                )
            else:
                x, y = (torch.cat(parts) for parts in zip(*self.samples, strict=True))
                source, target = centred(x, rounding=rounding), centred(y, rounding=rounding)
                score = scored(lambda: affinity_score(source, target, covariance, coupling="paired"))
                found, width = {}, x.shape[1]
                if self.choices.criteria:
                    fit = math.nan if target.constant else r2(source, target)
                    found = {"cka": linear_cka(source, target), "norm": norm(x, y), "r2": fit}
        row = first_columns(self.pair.call, width, self.count) | score
        for name in self.choices.criteria:
            if name == "sparsity":
                row |= sparsity(self.pair)
            elif name == "entropy":
                before, after = self.entropies
                row |= {"entropy_before": before / self.count, "entropy_after": after / self.count}
            else:
                row[name] = found[name]
        row["seconds"] = self.seconds + time.perf_counter() - start
        return row


def _memory_of(device: torch.device) -> int:
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).total_memory
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
