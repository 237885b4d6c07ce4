"""One chunk of images through a network that is being recorded, and why none of its activations was seen."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable
from typing import Any

from torch import nn

from affscore.errors import AffscoreError, Result, first_line, guarded
from affscore.network.inputs import Inputs
from affscore.recorder import Recorder
from affscore.recorder.uncounted import BelowPython, Uncounted


def forward(network: nn.Module, recorder: Recorder, images: Inputs, name: str) -> Any:
    """Send images through the network, while the recorder's listener hears of its activations.

    Returns:
        The network's output.

    Raises:
        AffscoreError: The network fails on these images, or its activations cannot be seen.
    """
    dtype = next((parameter.dtype for parameter in network.parameters() if parameter.is_floating_point()), None)

    def fresh() -> Inputs:
        # integers are tokens; and a network that begins in place must not overwrite the caller's images
        return images.each(lambda tensor: tensor.to(dtype if tensor.is_floating_point() else None, copy=True))

    def beside(*_: Any) -> None:
        # Python's profiling hook of a thread that begins meanwhile: it takes itself away
        recorder.in_other_threads.add("code of the network")
        sys.setprofile(None)

    recorder.listener.start(len(images), images.text)
    recorder.start((given := fresh()).tensors)
    profile = threading.getprofile()
    threading.setprofile(beside)
    try:
        output = guarded(lambda: given.through(network), f"the network {name} fails on {given}")
    except AffscoreError as error:
        recorder.stop()
        if error.__cause__ is not None and _runs_alone(network, fresh()):
            raise AffscoreError(
                f"the network {name} runs on {images} by itself, and not while it is followed "
                f"({type(error.__cause__).__name__}: {first_line(error.__cause__)}), which is a fault of affscore; "
                "declare the module where it happens as one block: activations=[...]"
            ) from error.__cause__
        raise
    finally:
        threading.setprofile(profile)
        recorder.stop()
    if not recorder.calls:
        raise AffscoreError(_why_none(network, recorder, images[:1], name))
    if recorder.flow.lost(output):
        raise AffscoreError(
            f"the activations of {name} cannot all be seen: its output does not depend on the samples as far as torch "
            "functions show; a part of it is TorchScript, NumPy or a custom kernel, or runs in another thread (if that "
            "part is an activation, declare its class: activations=[...])"
        )
    return output


def _runs_alone(network: nn.Module, images: Inputs) -> bool:
    with contextlib.suppress(AffscoreError):
        guarded(lambda: images.through(network), "")
        return True
    return False


def _why_none(network: nn.Module, recorder: Recorder, image: Inputs, name: str) -> str:
    """Why no activation was seen: none is there, or they ran where the recorder cannot see them."""
    elsewhere, independent, notes = recorder.elsewhere, recorder.independent_of_input, list[str]()
    hidden = f"; those inside {', '.join(sorted(recorder.unseen))} cannot be seen" if recorder.unseen else ""
    if independent:
        elsewhere = elsewhere or (
            f"{independent} ran, on what does not depend on the samples as far as torch functions show; what comes "
            "before is TorchScript, torch.ops, NumPy or a custom kernel"
        )
    if elsewhere:
        return f"the activations of {name} cannot be seen: {elsewhere}"
    recorder.start(image.tensors)
    with contextlib.suppress(AffscoreError):  # that it runs has been seen
        _, notes = with_notes(lambda: guarded(lambda: image.through(network), ""), recorder)
    recorder.stop()
    reason = "; ".join(notes) or (
        "it has none, or computes them by functions that do not count as one; activations=[...] declares the classes "
        "or functions that are activations"
    )
    return f"no elementwise activation was seen in {name}{hidden}: {reason}"


def with_notes(probe: Callable[[], Result], recorder: Recorder) -> tuple[Result, list[str]]:
    """What is seen of a few samples, and notes on activations that have no score."""
    try:
        with BelowPython(recorder) as below, Uncounted(recorder) as uncounted:
            found = probe()
    except AffscoreError as error:  # a network may run alone, and not below these modes
        unchecked = f"whether it has activations that cannot be seen or are not counted was not checked ({error})"
        return probe(), [unchecked]
    notes = []
    if uncounted.sentence:
        notes.append(f"functions bend features elementwise and have no score: {uncounted.sentence}")
    if below.missed:
        notes.append(
            f"activations ran that cannot be seen ({below.missed}), in TorchScript, torch.ops or an extension: they "
            "have no score; if a module is such an activation, declare its class: activations=[...]"
        )
    return found, notes
