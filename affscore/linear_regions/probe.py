"""A network that is ready to be looked at along segments: a copy of it, its operations, and how exact they are."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from affscore.errors import AffscoreError, guarded
from affscore.linear_regions.pieces import Floats, Trace, bends
from affscore.linear_regions.sweep import sweep
from affscore.linear_regions.tracing import program_of, run
from affscore.linear_regions.walk import Pass, walk
from affscore.network.model_state import choose_device, unwrapped
from affscore.network.randomness import random_states_kept

ROOM = {"cpu": 2**22, "cuda": 2**28, "xpu": 2**28}
"""Bytes that the widest layer may take, where no chunk is given."""

LEAST = 16
"""Points in the network at once."""

CHECKED = 4
"""At how many points of a segment the logits of the line method are compared with those of a pass."""

SAME = 1e-6
"""By how much these may differ, as a fraction of the largest."""


class Probe:
    """A network, ready to be looked at along segments.

    Args:
        model: The network.
        start: Where a first segment begins, (*shape of a sample).
        direction: From there to its end.
        chunk: Most points in the network at once; None for what keeps the widest layer in :data:`ROOM`.
        device: Where the copy of the network goes.

    Raises:
        AffscoreError: The network cannot be copied, fails, is not piecewise affine as far as is known, is random, or
            returns something else than logits of samples.
    """

    def __init__(self, model: nn.Module, start: Tensor, direction: Tensor, chunk: int | None, device: str) -> None:
        network, self.device = double_copy(model, device)
        start, direction = start[None].to(self.device), direction[None].to(self.device)
        with random_states_kept(self.device), torch.inference_mode():
            self.program = program_of(network, start)
            for point in (start, start + direction):
                logits = run(network, point)
                if logits.shape[:1] != (1,):
                    shape = tuple(logits.shape)
                    raise AffscoreError(f"the network maps a sample to a tensor of shape {shape}, without samples")
                if not bool(logits.isfinite().all()):
                    raise AffscoreError("the output of the network holds NaN or infinity")
                found = Pass(self.program, point, direction).logits
                _difference(found.cpu().numpy(), logits.reshape(1, -1).cpu().numpy())
        room = ROOM.get(self.device.type, ROOM["cpu"]) // (8 * self.program.widest)
        self.chunk = min(max(room, LEAST), 4096) if chunk is None else chunk

    @torch.inference_mode()
    def look(
        self, starts: Tensor, directions: Tensor, method: str, done: Callable[[int], object]
    ) -> list[tuple[Trace, np.ndarray]]:
        """What there is on segments, and at which of its points a logit bends.

        Args:
            starts: Where they begin, (segments, *shape of a sample).
            directions: From there to their ends.
            method: "line" or "walk".
            done: Is told how many segments are finished.
        """
        starts, directions = starts.to(self.device), directions.to(self.device)
        if method == "walk":
            parts = zip(starts.split(self.chunk // 2), directions.split(self.chunk // 2), strict=True)
            traces = [trace for part in parts for trace in walk(self.program, *part, done)]
            errors = [0.0] * len(traces)
        else:
            traces = sweep(self.program, starts, directions, self.chunk, done)
            errors = self._errors(starts, directions, traces)
        found = []
        for start, direction, trace, error in zip(starts, directions, traces, errors, strict=True):
            slopes_at = partial(self._slopes, start[None], direction[None])
            found.append((trace, bends(trace, error, slopes_at)))
        return found

    def _slopes(self, start: Tensor, direction: Tensor, t: Floats) -> Floats:
        """Derivatives of the logits along one segment."""
        return self._pass(start, direction, t)[1]

    def _errors(self, starts: Tensor, directions: Tensor, traces: Sequence[Trace]) -> list[float]:
        """By how much the logits of the line method are wrong on each segment.

        Raises:
            AffscoreError: By more than rounding.
        """
        some = [np.unique(np.linspace(0, len(trace.t) - 1, CHECKED).astype(int)) for trace in traces]
        which = torch.arange(len(traces)).repeat_interleave(torch.tensor([len(places) for places in some]))
        t = np.concatenate([trace.t[places] for trace, places in zip(traces, some, strict=True)])
        logits, _ = self._pass(starts[which], directions[which], t)
        expected = np.split(logits, np.cumsum([len(places) for places in some])[:-1])
        pairs = zip(traces, some, expected, strict=True)
        return [_difference(trace.logits[places], values) for trace, places, values in pairs]

    def _pass(self, starts: Tensor, directions: Tensor, t: Floats) -> tuple[Floats, Floats]:
        """Logits and their slopes at points of segments; of one segment, or of one for each point."""
        found: list[tuple[Tensor, Tensor]] = []
        for part in torch.arange(len(t)).split(max(self.chunk // 2, 1)):
            some = part if len(starts) > 1 else torch.zeros_like(part)
            start, direction = starts[some], directions[some]
            at = starts.new_tensor(t)[part].view(-1, *[1] * (starts.ndim - 1))
            there = Pass(self.program, start + at * direction, direction)
            found.append((there.logits, there.slopes))
        logits, slopes = (torch.cat(parts).cpu().numpy() for parts in zip(*found, strict=True))
        return logits, slopes


def double_copy(model: nn.Module, device: str = "auto") -> tuple[nn.Module, torch.device]:
    """A copy of a network in double precision and evaluation mode, and where it is.

    Args:
        model: The network; wrappers (DataParallel, compiled) are taken off.
        device: Where the copy goes, as in :func:`affscore.signature`.

    Raises:
        AffscoreError: It is no network, it is TorchScript, it cannot be copied, or a weight is not finite.

    >>> model = nn.Sequential(nn.Dropout(), nn.Linear(2, 2))
    >>> network, _ = double_copy(model, "cpu")
    >>> network.training, next(network.parameters()).dtype, model.training
    (False, torch.float64, True)
    """
    inner = unwrapped(model)
    place = choose_device(device, inner)
    network = guarded(lambda: copy.deepcopy(inner), "the network cannot be copied").to(place, torch.float64)
    for name, weights in network.named_parameters():
        if not bool(weights.isfinite().all()):
            raise AffscoreError(f"the weights {name!r} of the network hold NaN or infinity")
    for module in network.modules():
        module.training = False
    return network, place


def _difference(found: Floats, expected: Floats) -> float:
    """By how much logits differ at most.

    Raises:
        AffscoreError: By more than rounding.
    """
    difference = float(np.abs(found - expected).max())
    if difference > SAME * float(np.abs(expected).max()):
        raise AffscoreError(
            f"the network gives other numbers when it runs again (logits differ by {difference:.3g}): it is random, or "
            "a part of it runs where functions of PyTorch are not seen"
        )
    return difference
