"""A copy of a network in double precision and evaluation mode, which knows the layer that runs."""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from affscore.errors import AffscoreError, guarded
from affscore.network.model_state import choose_device, unwrapped


class Network:
    """A copy of a network, on which a measurement leaves its traces and not on the caller's.

    Args:
        model: The network; wrappers (DataParallel, compiled) are taken off.
        device: Where the copy goes: as in :func:`affscore.signature`.

    Raises:
        AffscoreError: It is no network, it is TorchScript, it cannot be copied, or a weight is not finite.

    >>> model = nn.Sequential(nn.Dropout(), nn.Linear(2, 2))
    >>> network = Network(model, "cpu")
    >>> network.module.training, next(network.module.parameters()).dtype, model.training
    (False, torch.float64, True)
    """

    def __init__(self, model: nn.Module, device: str = "auto") -> None:
        inner = unwrapped(model)
        self.device = choose_device(device, inner)
        self.module = guarded(lambda: copy.deepcopy(inner), "the network cannot be copied").to(
            self.device, torch.float64
        )
        for name, weights in self.module.named_parameters():
            if not bool(weights.isfinite().all()):
                raise AffscoreError(f"the weights {name!r} of the network hold NaN or infinity")
        for module in self.module.modules():
            module.training = False
        self._path: list[str] = []

    def run(self, sample: Tensor) -> Any:
        """What the network returns for one sample, (1, ...).

        Raises:
            AffscoreError: It fails.
        """
        with ExitStack() as stack:
            if "torch._dynamo" in sys.modules:  # else nothing is compiled, and importing it takes seconds
                stack.enter_context(torch.compiler.set_stance("force_eager"))
            return guarded(
                lambda: self.module(sample), f"the network fails on a sample of shape {tuple(sample.shape[1:])}"
            )

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Meanwhile it is known which layer runs, which takes time."""
        with ExitStack() as stack:
            for path, module in self.module.named_modules():
                enter = module.register_forward_pre_hook(partial(self._enter, path), prepend=True)
                leave = module.register_forward_hook(self._leave, always_call=True)
                stack.callback(enter.remove)
                stack.callback(leave.remove)
            yield

    @property
    def place(self) -> str:
        """The layer that runs, as messages name it; the network as a whole while nobody watches."""
        return f"layer {self._path[-1]!r}" if self._path and self._path[-1] else "the network"

    def _enter(self, path: str, *_: Any) -> None:
        self._path.append(path)

    def _leave(self, *_: Any) -> None:
        self._path.pop()
