"""One chunk of images through a network that is being recorded, and whether the network keeps images apart."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from affscore.errors import AffscoreError, guarded
from affscore.network.collect import Collector, Pair
from affscore.network.inputs import Inputs
from affscore.network.notes import as_warning
from affscore.network.recorder import Recorder
from affscore.network.recorder.recording import new_threads_watched
from affscore.network.recorder.uncounted import BelowPython, Uncounted

TOLERANCE = 1e-2
"""By how much of its size a reduced activation may differ when an image is alone: other kernels round otherwise."""

JUMP = 10.0
"""By how much more than it did at any activation before: rounding errors grow slowly through a network, to any size."""

REPEATABLE = 1e-5
"""By how much it may differ when the same image comes again: a GPU may add in another order."""


def forward(network: nn.Module, recorder: Recorder, collector: Collector, images: Inputs, name: str) -> Any:
    """Send images through the network, while the collector takes what the activations see.

    Returns:
        The network's output.

    Raises:
        AffscoreError: The network fails on these images, or its activations cannot be seen.
    """
    dtype = next((parameter.dtype for parameter in network.parameters() if parameter.is_floating_point()), None)
    # integers are tokens; and a network that begins in place must not overwrite the caller's images
    images = images.each(lambda tensor: tensor.to(dtype if tensor.is_floating_point() else None, copy=True))
    collector.start(len(images), images.text)
    recorder.start(images.tensors)
    try:
        with new_threads_watched(recorder.in_other_threads.add):
            output = guarded(lambda: images.through(network), f"the network {name} fails on {images}")
    finally:
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


def _why_none(network: nn.Module, recorder: Recorder, image: Inputs, name: str) -> str:
    """Why no activation was seen: none is there, or they ran where the recorder cannot see them."""
    elsewhere, independent = recorder.elsewhere, recorder.independent_of_input
    hidden = f"; those inside {', '.join(sorted(recorder.unseen))} cannot be seen" if recorder.unseen else ""
    uncounted = Uncounted(recorder)
    with BelowPython(recorder) as below, uncounted, contextlib.suppress(AffscoreError):  # that it runs has been seen
        recorder.start(image.tensors)
        guarded(lambda: image.through(network), "")
    recorder.stop()
    reasons = [
        (elsewhere, f"the activations of {name} cannot be seen: {elsewhere}"),
        (independent, f"the activations of {name} cannot be seen: {independent} ran, on what does not depend on the "
         "samples as far as torch functions show; what comes before is TorchScript, torch.ops, NumPy or a custom "
         "kernel"),
        (below.missed, f"the activations of {name} cannot be seen ({below.missed}): they run in TorchScript, torch.ops "
         "or an extension; give the network in plain PyTorch, or declare the class that is an activation: "
         "activations=[...]"),
        (uncounted.sentence, f"no activation that counts was seen in {name}{hidden}; functions that bend features: "
         f"{uncounted.sentence}"),
        (True, f"no elementwise activation was seen in {name}{hidden}: it has none, or computes them by functions that "
         "do not count as one; activations=[...] declares the classes or functions that are activations"),
    ]  # fmt: skip
    return next(reason for applies, reason in reasons if applies)


def audit(network: nn.Module, recorder: Recorder, collector: Collector, images: Inputs, name: str) -> list[str]:
    """What the first sample shows when it goes through the network alone: notes, or an error.

    It must meet the same activations, with the same numbers, as among the others. A network that computes
    statistics over the samples, or puts something in front of the axis that counts them, would mix images in the
    reduced vectors, and no shape tells. The same pass shows which activations run below the functions that the
    recorder watches. Only where the numbers differ, a further pass says whether they do so each time. Where one sample
    alone is refused, or gives NaN or infinity (a standard deviation over the samples), the first two take its place.

    Args:
        network: The network, after :func:`forward` of these samples.
        recorder: Its recorder.
        collector: What was collected of them; it is not changed.
        images: The samples.
        name: The network's name.

    Returns:
        A note where the network is random, a warning where it takes neither one sample nor two alone, and a note where
        activations cannot be seen.

    Raises:
        AffscoreError: It mixes or moves samples; the message names the first activation where.
    """

    def probe(few: Inputs) -> list[Pair]:
        """What the activations see of a few samples."""
        recorder.listener = seen = Collector(collector.options)
        try:
            forward(network, recorder, seen, few, name)
        finally:
            recorder.listener = collector
        return seen.collected()

    among, why = collector.collected(), ""
    # two of two samples are nothing else than all of them
    for few in (images[:1], images[:2]) if len(images) > 2 else (images[:1],):
        try:
            alone, notes = _with_notes(probe, few, recorder)
            same = len(alone) == len(among) and _first_difference(alone, among, REPEATABLE) is None
            again = alone if same else probe(few)
        except AffscoreError as error:
            why = why or f"it does not take one sample alone ({error})"
            continue
        if all(bool(lone.isfinite().all()) for _, lone, *_ in _first_samples(alone, among)):
            break
        why = why or "one sample alone gives NaN or infinity"
    else:
        note = f"whether the network keeps samples apart was not checked: {why}; scores may depend on batch_size"
        return [as_warning(note)]
    for found, what in ((alone, ""), (again, " in a second pass")):
        if len(found) != len(among):
            raise AffscoreError(
                f"the network {name} runs {len(among)} activations for {len(images)} samples and {len(found)} for "
                f"{len(few)}{what}: the network must run the same activations for every sample"
            )
    if _first_difference(alone, again, REPEATABLE) is not None:
        random = (
            "the network gives other numbers for the same sample, since it draws random numbers or keeps a state: "
            "its scores depend on the seed, and on batch_size"
        )
        return [random, *notes]
    where = _first_difference(alone, among, TOLERANCE, JUMP)
    if where is None:
        return notes
    what = "a sample alone gives" if len(few) == 1 else "two samples alone give"
    raise AffscoreError(
        f"the network {name} mixes samples, or moves the axis that counts them, before {where.call}: {what} other "
        "numbers there than among others; each sample must go through the network by itself, along the first axis"
    )


def _with_notes(probe: Callable[[Inputs], list[Pair]], few: Inputs, recorder: Recorder) -> tuple[list[Pair], list[str]]:
    """What the activations see of a few samples, and notes on those that have no score."""
    try:
        with BelowPython(recorder) as below, Uncounted(recorder) as uncounted:
            pairs = probe(few)
    except AffscoreError as error:  # a network may run alone, and not below these modes
        unchecked = f"whether it has activations that cannot be seen or are not counted was not checked ({error})"
        return probe(few), [unchecked]
    notes = []
    if uncounted.sentence:
        notes.append(f"functions bend features elementwise and have no score: {uncounted.sentence}")
    if below.missed:
        notes.append(
            f"activations ran that cannot be seen ({below.missed}), in TorchScript, torch.ops or an extension: they "
            "have no score; if a module is such an activation, declare its class: activations=[...]"
        )
    return pairs, notes


def _first_samples(alone: list[Pair], among: list[Pair]) -> list[tuple[Pair, Tensor, Tensor, float]]:
    """What each activation saw and returned for the first sample: among a few, and among many, where that is finite.

    And the size of what was added up to it, of which terms that cancel leave rounding.
    """
    rows = [
        (pair, lone[0], row[0], float(torch.as_tensor(size).max()))
        for one, pair in zip(alone, among, strict=False)
        for lone, row, size in zip((one.x, one.y), (pair.x, pair.y), pair.sizes, strict=True)
    ]
    return [found for found in rows if bool(found[2].isfinite().all())]


def _first_difference(alone: list[Pair], among: list[Pair], tolerance: float, jump: float = 0.0) -> Pair | None:
    """The first activation that saw or returned something else for the first sample.

    Differences up to ``jump`` times the largest before them do not count: they may have grown from these.
    """
    largest = 0.0
    for pair, lone, row, terms in _first_samples(alone, among):
        if lone.shape != row.shape:
            return pair
        difference, size = float((lone - row).abs().max()), max(float(row.abs().max()), terms)
        if difference > max(tolerance, jump * largest) * size:
            return pair
        largest = max(largest, difference / size if difference else 0.0)
    return None
