"""One chunk of samples through a network that is being recorded: why none of its activations was seen; its accuracy."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from affscore.errors import AffscoreError, Result, guarded
from affscore.network.images import ImageStream
from affscore.network.inputs import Inputs
from affscore.recorder import Recorder
from affscore.recorder.uncounted import BelowPython, Uncounted

Predictions = tuple[Tensor, Tensor, int]
"""The outputs that are largest for some samples (-1 among NaN), their labels, and how many outputs there are."""


def forward(network: nn.Module, recorder: Recorder, images: Inputs, name: str, advice: str = "") -> Any:
    """Send images through the network, while the recorder's listener hears of its activations.

    Args:
        network: The network.
        recorder: Its recorder.
        images: What goes into it.
        name: Its name.
        advice: What the message adds where the network itself fails.

    Returns:
        The network's output.

    Raises:
        AffscoreError: The network fails on these images, or its activations cannot be seen.
    """
    dtype = next((parameter.dtype for parameter in network.parameters() if parameter.is_floating_point()), None)
    # integers are tokens; and a network that begins in place must not overwrite the caller's images
    given = images.each(lambda tensor: tensor.to(dtype if tensor.is_floating_point() else None, copy=True))

    recorder.listener.start(len(images), images.text)
    recorder.start(given.tensors)
    try:
        output = guarded(lambda: given.through(network), f"the network {name} fails on {given}", advice)
    finally:
        recorder.stop()
    if not recorder.calls:
        raise AffscoreError(_why_none(network, recorder, images[:1], name))
    if recorder.flow.lost(output):
        why = "as far as torch shows, its output does not depend on the samples"
        advice = "declare the class of what is no torch function, or in another thread: activations=[...]"
        raise AffscoreError(f"the activations of {name} cannot all be seen: {why}; {advice}")
    return output


def _why_none(network: nn.Module, recorder: Recorder, image: Inputs, name: str) -> str:
    """Why no activation was seen: none is there, or they ran where the recorder cannot see them."""
    elsewhere, independent, notes = recorder.elsewhere, recorder.independent_of_input, list[str]()
    hidden = f"; those inside {', '.join(sorted(recorder.unseen))} cannot be seen" if recorder.unseen else ""
    if independent and not elsewhere:
        before = "what comes before is TorchScript, torch.ops, NumPy or a custom kernel"
        elsewhere = f"{independent} ran, on what does not depend on the samples as far as torch shows; {before}"
    if elsewhere:
        return f"the activations of {name} cannot be seen: {elsewhere}"
    recorder.start(image.tensors)
    with contextlib.suppress(AffscoreError):  # that it runs has been seen
        _, notes = with_notes(lambda: guarded(lambda: image.through(network), ""), recorder)
    recorder.stop()
    reason = "; ".join(notes) or "it runs no known activation; activations=[...] declares classes and functions"
    return f"no elementwise activation was seen in {name}{hidden}: {reason}"


def with_notes(probe: Callable[[], Result], recorder: Recorder) -> tuple[Result, list[str]]:
    """What is seen of a few samples, and notes on activations that have no score."""
    try:
        with BelowPython(recorder) as below, Uncounted(recorder) as uncounted:
            found = probe()
    except AffscoreError as error:  # a network may run alone, and not below these modes
        return probe(), [f"whether it has activations that cannot be seen or are not counted was not checked ({error})"]
    notes = []
    if uncounted.sentence:
        notes.append(f"functions bend features elementwise and have no score: {uncounted.sentence}")
    if below.missed:
        where = f"({below.missed}), in TorchScript, torch.ops or an extension"
        notes.append(f"activations ran that cannot be seen {where}; declare such a module: activations=[...]")
    return found, notes


def predictions(output: Any, labels: Tensor | None) -> Predictions | None:
    """The classes that a network predicts for some samples; None without labels, or where the output has no classes.

    Args:
        output: What the network returned: (N, classes), or an object with such ``logits``.
        labels: Tensor (N,) of integers, or None.
    """
    scores = getattr(output, "logits", output)
    fits = isinstance(scores, Tensor) and scores.ndim == 2 and scores.shape[1] > 1 and scores.is_floating_point()
    if labels is None or not fits or len(scores) != len(labels):
        return None
    largest = scores.argmax(dim=1).masked_fill(scores.isnan().any(dim=1), -1)
    return largest, labels.long(), scores.shape[1]  # which waits for no GPU


def accuracy_of(
    parts: Sequence[Predictions | None], stream: ImageStream, network: Sequence[str] | None
) -> tuple[float | None, list[str]]:
    """The share of samples that are classified rightly; None where labels and output do not match. And notes on it.

    Args:
        parts: What :func:`predictions` found of all samples.
        stream: The data; its classes are in the order of the labels, and None where these are numbers only.
        network: The names of the network's outputs, in their order; None where they are not known.
    """
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts):
        return None, []
    answers, given, (count, *_) = zip(*known, strict=True)
    found, labels, classes = torch.cat(answers).cpu(), torch.cat(given).cpu(), stream.classes
    outputs = outputs_of_classes(classes, network, count) or []
    least, largest = (int(end) for end in labels.aminmax())
    if least < 0 or largest >= len(outputs):
        note = f"there is no accuracy: some labels are not from 0 to {count - 1}, the numbers of the outputs"
        return None, [note] if classes is None else []
    if classes is None and (unused := count - 1 - largest):
        beyond = f"{unused} of the outputs of the network lie beyond the largest label"
        return None, [f"there is no accuracy: {beyond}; use more samples, with one of the last class among them"]
    notes = []
    if bool((found < 0).any()):
        notes.append("some outputs of the network are NaN: these samples count as classified wrongly")
    if stream.name.startswith("folder:") and network is None and not are_wordnet_ids(classes or ()):
        notes.append("the accuracy takes the folders, in sorted order, for the network's classes (attribute classes)")
    return int((found == torch.tensor(outputs)[labels]).sum()) / len(labels), notes


def outputs_of_classes(data: Sequence[str] | None, network: Sequence[str] | None, outputs: int) -> list[int] | None:
    """Which output of a network belongs to each class of the data.

    Classes are matched by name, where the network has names. Where it has none, or where the classes are the
    WordNet ids of ImageNet, as many classes as outputs are taken in their order.

    Args:
        data: The names of the classes of the data, in the order of its labels; None where these are numbers only.
        network: The names of the outputs, in their order; None where they are not known.
        outputs: How many outputs there are.

    Returns:
        An output for each class; None where the classes do not match the outputs.

    >>> outputs_of_classes(["b", "a"], ["a", "b", "c"], 3), outputs_of_classes(["a", "d"], ["a", "b", "c"], 3)
    ([1, 0], None)
    """
    names = list(network or ())
    if data is not None and len(names) == outputs and all(names.count(name) == 1 for name in data):
        return [names.index(name) for name in data]
    in_order = data is None or (len(data) == outputs and (network is None or are_wordnet_ids(data)))
    return list(range(outputs)) if in_order else None


def are_wordnet_ids(classes: Sequence[str]) -> bool:
    """Whether classes are called as the folders of ImageNet are, whose order is that of the outputs.

    >>> are_wordnet_ids(["n01440764", "n01443537"])
    True
    """
    return all(re.fullmatch(r"n\d{8}", name) for name in classes)
