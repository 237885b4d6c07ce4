"""Sees every elementwise activation of a running network, and what it is fed and returns."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import nn

from affscore.network.calls import Listener
from affscore.network.declared import declared, watched
from affscore.network.mode import Recorder

__all__ = ["Recorder", "recording"]


@contextmanager
def recording(
    model: nn.Module, listener: Listener, activations: Collection[Any] | Mapping[str, Any] = ()
) -> Iterator[Recorder]:
    """Run a model under a :class:`Recorder` that knows which module is running.

    Compiled parts run uncompiled. On leaving, every hook is gone and the fast paths of attention, which
    would hide the activations of ``torch.nn.TransformerEncoderLayer``, are as before.

    Args:
        model: The network; call ``recorder.start(inputs)`` before every forward pass.
        listener: What is told about the activations.
        activations: Modules and functions that count as one activation as a whole
            (:func:`affscore.network.declared.declared`).

    >>> class Print:
    ...     def before(self, call, x, apply): print(call.layer, call.call, call.activation, call.depth)
    ...     def after(self, call, y): pass
    >>> relu = nn.ReLU()
    >>> net = nn.Sequential(nn.Linear(2, 3), relu, nn.Linear(3, 3), relu)
    >>> x = torch.zeros(4, 2)
    >>> with recording(net, Print()) as recorder:
    ...     recorder.start(x)
    ...     _ = net(x)
    1 0 relu 1
    1 1 relu 2
    """
    recorder = Recorder(listener, declared(activations))
    recorder.classes = {path: type(module) for path, module in model.named_modules()}

    def leave(module: nn.Module, args: Any, output: Any) -> None:
        recorder.leave()

    with ExitStack() as stack:
        stack.callback(recorder.stop)
        for path, module in model.named_modules():

            def enter(module: nn.Module, args: Any, path: str = path) -> None:
                recorder.enter(path)

            stack.callback(module.register_forward_pre_hook(enter, prepend=True).remove)
            stack.callback(module.register_forward_hook(leave, always_call=True).remove)
        fast_path = torch.backends.mha.get_fastpath_enabled()
        stack.callback(torch.backends.mha.set_fastpath_enabled, fast_path)
        torch.backends.mha.set_fastpath_enabled(False)
        if "torch._dynamo" in sys.modules:  # else nothing is compiled, and importing it takes seconds
            stack.enter_context(torch.compiler.set_stance("force_eager"))
        stack.enter_context(watched(model, recorder.chosen, recorder))
        stack.enter_context(recorder)
        yield recorder
