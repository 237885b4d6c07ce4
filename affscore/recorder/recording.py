"""A network under a recorder: what is hooked into its modules, into Python and below it."""

from __future__ import annotations

import functools
import inspect
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn
from torch.utils.weak import WeakIdKeyDictionary

from affscore.errors import AffscoreError
from affscore.recorder.calls import Follower, Kernels, Listener
from affscore.recorder.dataflow import tensors_in, version
from affscore.recorder.functions import Declarations, Function, kind_of, library_class_name
from affscore.recorder.kinds import Kinds
from affscore.recorder.recorder import Recorder

Known = TypeVar("Known")


@contextmanager
def recording(
    model: nn.Module, listener: Listener | None = None, activations: Declarations = (), blocks: bool = False
) -> Iterator[Recorder]:
    """Run a model under a :class:`Recorder` that knows which module is running.

    Compiled parts run uncompiled. On leaving, every hook is gone and the fast paths of attention, which
    would hide the activations of ``torch.nn.TransformerEncoderLayer``, are as before.

    The forward of a module that was declared, or whose class is an activation of a known library, is exchanged
    meanwhile. Declared functions written in Python are seen by their code, wherever they are called from, through
    Python's profiling hook; a profiler that is running waits.

    Args:
        model: The network; call ``recorder.start(inputs)`` before every forward pass.
        listener: Receives the activations; None where the recorder only counts them.
        activations: Modules and functions that count as one activation as a whole
            (:func:`affscore.recorder.functions.Declared`).
        blocks: Whether the listener receives the blocks of the network, too
            (:class:`affscore.recorder.blocks.Blocks`).

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
    recorder = Recorder(model, listener or Listener(), activations)
    whole = {path: recorder.chosen.name_of(one) or library_class_name(one) for path, one in model.named_modules()}
    recorder.followers.append(Kinds({path: type(module) for path, module in model.named_modules()}))
    if blocks:
        from affscore.recorder.blocks import Blocks  # which others do not wait for

        parts = {path: one for path, one in model.named_modules() if whole[path] is None}
        recorder.followers.append(Blocks(recorder, parts))

    with ExitStack() as stack:
        stack.callback(recorder.stop)
        for path, module in model.named_modules():
            enter, leave = functools.partial(_enter, recorder, path), functools.partial(_leave, recorder)
            for hooks in filter(None, (module._forward_pre_hooks, module._forward_hooks)):
                stack.callback(_put_back, hooks, dict(hooks))
                hooks.update({key: functools.partial(_hooked, recorder, hook) for key, hook in hooks.items()})
            stack.callback(module.register_forward_pre_hook(enter, prepend=True, with_kwargs=True).remove)
            stack.callback(module.register_forward_hook(leave, always_call=True).remove)
            if (name := whole[path]) is not None:
                if "forward" in vars(module):
                    stack.callback(setattr, module, "forward", module.forward)
                stack.callback(delattr, module, "forward")
                module.forward = functools.partial(_run_whole, recorder, name, module, module.forward)
        stack.callback(torch.backends.mha.set_fastpath_enabled, torch.backends.mha.get_fastpath_enabled())
        torch.backends.mha.set_fastpath_enabled(False)
        if "torch._dynamo" in sys.modules:  # else nothing is compiled, and importing it takes seconds
            stack.enter_context(torch.compiler.set_stance("force_eager"))
        if recorder.chosen.codes:
            stack.callback(sys.setprofile, sys.getprofile())
            sys.setprofile(_profile(recorder))
        yield recorder


def _enter(recorder: Recorder, path: str, module: nn.Module, args: Any, kwargs: Any) -> None:
    """A module begins to run."""
    if threading.get_ident() != recorder.thread:
        recorder.in_other_threads.add(f"layer {path!r}")
        return
    recorder.path.append((path, next(recorder.runs)))
    if (axis := recorder.channel_axes[path]) is not None:
        with recorder.aside:
            for x in [one for one in tensors_in((args, kwargs)) if not one.is_nested][:1]:
                recorder.layout.taken(x, axis)
    for follower in recorder.followers:
        follower.entered(path, args, kwargs)


def _leave(recorder: Recorder, module: nn.Module, args: Any, output: Any) -> None:
    """The module that began last has run."""
    if threading.get_ident() == recorder.thread:
        for follower in recorder.followers:
            follower.left(module, args, output)
        recorder.path.pop()


def _run_whole(
    recorder: Recorder, name: str, module: nn.Module, forward: Function, /, *args: Any, **kwargs: Any
) -> Any:
    """Call the forward of a module; it counts as one activation or block, and nothing inside it counts."""
    if not recorder.attentive:
        return forward(*args, **kwargs)
    with recorder.whole(name, forward, args, kwargs, module=module) as returned:
        returned.append(forward(*args, **kwargs))
    return returned[0]


def _hooked(recorder: Recorder, hook: Callable[..., Any], module: nn.Module, *given: Any) -> Any:
    """Call a hook of others: where it hands on what it was given as it was, its activations do not count."""

    def contents(values: Any) -> set[tuple[int, int]]:
        return {(id(tensor), recorder.flow.version(tensor)) for tensor in tensors_in(values)}

    before, calls = contents(given), len(recorder.calls)
    outer, run = recorder.hook, next(recorder.runs)
    try:
        recorder.hook = run
        returned = hook(module, *given)
    finally:
        recorder.hook = outer
    if recorder.attentive and contents((given, returned)) == before:
        for call in reversed(recorder.calls[calls:]):
            recorder.forget(call)
        for follower in recorder.followers:
            follower.watched(run)
    return returned


def _put_back(hooks: dict[int, Any], before: Mapping[int, Any]) -> None:
    """A hook may have removed itself."""
    hooks.update({key: before[key] for key in hooks.keys() & before.keys()})


def _profile(recorder: Recorder) -> Callable[[FrameType, str, Any], None]:
    """Python's profiling hook, which looks for the code of the functions that were declared."""
    chosen, awaited, end = recorder.chosen, None, ExitStack()
    returned: list[Any]

    def hook(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal awaited, returned
        code = frame.f_code
        if event == "call" and awaited is None and code in chosen.codes and recorder.attentive:
            running = recorder.whole(chosen[code], chosen.codes[code], *_arguments(frame))
            awaited, returned = frame, end.enter_context(running)
        elif event == "return" and frame is awaited:
            awaited = None
            returned.append(arg)
            end.close()

    return hook


def _arguments(frame: FrameType) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments with which the function of a frame was called."""
    names, rest, keywords, values = inspect.getargvalues(frame)
    placed = frame.f_code.co_argcount
    positional = (*(values[name] for name in names[:placed]), *values.get(rest or "", ()))
    return positional, {name: values[name] for name in names[placed:]} | values.get(keywords or "", {})


class Following(Follower, Generic[Known]):
    """Knows something of tensors, each as it was when that was noted, while a network runs.

    Attributes:
        recorder: It knows the layers, and what is an activation.
        hidden: What ran on known tensors without being seen; empty if nothing did.

    >>> import torch
    >>> follower, x = Following[str](), torch.zeros(2)
    >>> follower.note(x, "zeros")
    >>> follower.of(x), follower.is_as_noted(x), follower.of(torch.zeros(2)) is None
    ('zeros', True, True)
    >>> _ = x.view(1, 2).add_(1)
    >>> follower.is_as_noted(x)
    False
    """

    recorder: Recorder
    hidden = ""

    def __init__(self) -> None:
        self._known: WeakIdKeyDictionary = WeakIdKeyDictionary()

    def note(self, tensor: Tensor, known: Known) -> None:
        """Say what is known of a tensor as it is now."""
        self._known[tensor] = known, version(tensor)

    def of(self, value: Any) -> Known | None:
        """What is known of a value; None for one of which nothing was noted."""
        return self._known[value][0] if isinstance(value, Tensor) and value in self._known else None

    def is_as_noted(self, tensor: Tensor, writes: int = 0) -> bool:
        """Whether a tensor was overwritten so many times since, also through a view."""
        return self._known[tensor][1] + writes == version(tensor)

    def here(self, what: str) -> str:
        """Where something is."""
        return f"layer {self.recorder.frame[0] or '(root)'!r} has {what}"

    def output_of(self, model: nn.Module, inputs: Any, run: Callable[[], Any], listener: Listener | None = None) -> Any:
        """What a network returns that is followed while it runs.

        Raises:
            AffscoreError: A part of it computes with known tensors where no function of PyTorch is seen.
        """
        with recording(model, listener) as self.recorder:
            self.recorder.start(inputs)
            self.recorder.followers.append(self)
            with Kernels(self._below):
                output = run()
        if self.hidden:
            raise AffscoreError(f"this network cannot be followed: {self.hidden}")
        return output

    def _below(self, kernel: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note the first kernel that runs on known tensors where no function is seen."""
        if self.hidden or not self.recorder.attentive:
            return
        if any(tensor in self._known for tensor in tensors_in((args, kwargs))):
            self.hidden = self.here(f"{kind_of(kernel)} in TorchScript or an extension, which hide their functions")
