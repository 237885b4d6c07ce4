"""Whether a network keeps the samples of a batch apart."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor, nn

from affscore.errors import AffscoreError
from affscore.network.collect import Collector
from affscore.network.forward import forward, with_notes
from affscore.network.inputs import Inputs
from affscore.network.notes import Note
from affscore.network.reduction import SAME_FOR_ALL, ScatteredError
from affscore.network.scoring import Pair
from affscore.recorder import Listener, Recorder
from affscore.recorder.dataflow import tensors_in

TOLERANCE = 1e-2
"""By how much of its size a reduced activation may differ when an image is alone: other kernels round otherwise."""

JUMP = 10.0
"""By how much more than it did at any activation before: rounding errors grow slowly through a network, to any size."""

_SINCE = "it draws random numbers or keeps a state: its scores depend on the seed, and on batch_size"
RANDOM = f"the network gives other numbers for the same sample, since {_SINCE}"
"""The note on such a network."""

REPEATABLE = 1e-5
"""By how much it may differ when the same image comes again: a GPU may add in another order."""


def audit(network: nn.Module, recorder: Recorder, collector: Collector, images: Inputs, name: str) -> list[str]:
    """What the first sample and the last ones show when they go through the network without the others.

    They must meet the same activations, with the same numbers, as among the others. A network that computes
    statistics over the samples, or puts something in front of the axis that counts them, would mix images in the
    reduced vectors, and no shape tells. The pass shows, too, which activations run below the functions that the
    recorder watches. Only where the numbers differ, a further pass says whether they do so each time. Where the
    network refuses so many samples, two take their place.

    Args:
        network: The network, after :func:`forward` of these samples.
        recorder: Its recorder; its listener is another one afterwards.
        collector: What was collected of them; it is not changed.
        images: The samples.
        name: The network's name.

    Returns:
        A note where the network is random, a warning where it takes no few samples, and a note where activations
        cannot be seen.

    Raises:
        ScatteredError: It mixes or moves samples; the message names the first activation where.
    """
    among, why = collector.collected()[0], ""

    def probe(places: list[int]) -> list[Pair]:
        """What the activations see of a few samples."""
        recorder.listener = seen = replace(collector, places=places, known=(), room=0)
        forward(network, recorder, images[places], name)
        return seen.collected()[0]

    def compared(places: list[int]) -> list[str]:
        few, size = partial(probe, places), len(places)
        alone, notes = with_notes(few, recorder)
        if len(alone) == len(among) and not _first_difference(alone, among, places, REPEATABLE):
            return notes
        again = few()
        if len(alone) != len(among):
            counts = f"{len(among)} activations for {len(images)} samples and {len(alone)} for {size}"
            raise ScatteredError(f"the network {name} runs {counts}: {SAME_FOR_ALL}")
        if len(again) != len(alone) or _first_difference(alone, again, [*range(size)], REPEATABLE):
            return [RANDOM, *notes]
        if where := _first_difference(alone, among, places, TOLERANCE, JUMP):
            what = f"{_counted(size)} alone {'gives' if size == 1 else 'give'} other numbers than among others"
            mixed = f"the network {name} mixes samples, or moves the axis that counts them, before {where.call}: {what}"
            reason = f"they do not stand one after the other where {where.call} sees them"
            raise ScatteredError(f"{mixed}; each must go through by itself, along the first axis", reason)
        return notes

    for several in _a_few_of(len(images)):
        try:
            return [compared(places) for places in several][-1]
        except ScatteredError:
            raise
        except AffscoreError as error:
            why = why or f"it does not take {_counted(max(map(len, several)))} alone ({error})"
    sentence = f"whether the network keeps samples apart was not checked: {why}; scores may depend on batch_size"
    return [Note(sentence, "warning")]


def _a_few_of(count: int) -> list[list[list[int]]]:
    """Which of so many samples go through the network together, without the others; then those for one that refuses.

    The last ones stand before the first one: each has other neighbours, another first and another last one, and of
    three or more the first ones another place among two, three or five. Whatever a sample takes from others, it is
    something else.

    >>> _a_few_of(64)[0], _a_few_of(3)
    ([[61, 62, 63, 0]], [[[0], [1, 2]], [[1, 0]]])
    """
    start = next((place for place in range(count - 2, 1, -1) if math.gcd(place, 30) == 1), 0)
    whole = [[*range(start, count), 0]] if start else [[0], [*range(1, count)]][: min(count, 2)]
    return [whole, [[count - 2, 0]]] if count > 2 else [whole]


def _counted(samples: int) -> str:
    return "one sample" if samples == 1 else f"{samples} samples"


def keeps_apart(network: nn.Module, recorder: Recorder, images: Inputs, name: str) -> bool:
    """Whether a network keeps samples apart whose tensors do not have them along one axis.

    Its output for the first, a middle and the last sample must be the same alone as among the others, where its first
    axis counts samples, or parts of them, or where it is a list of what each gives. Of a network that is random nobody
    can tell.

    Args:
        network: The network.
        recorder: Its recorder; its listener is another one afterwards.
        images: The samples.
        name: The network's name.
    """

    def output(few: Inputs) -> tuple[list[Tensor], int]:
        found = tensors_in(forward(network, recorder, few, name))
        return [one for one in found if one.is_floating_point() and one.numel()], len(recorder.calls)

    recorder.listener, count = Listener(), len(images)
    inside_out = (*range(count // 2, count), *range(count // 2))
    middle = next((place for place in inside_out if math.gcd(place, 30) == 1), 0)
    try:
        some = (images, images[-1:], images[middle : middle + 1], images[:1], images[:1])
        (among, _), (last, _), (inner, _), (first, calls), (again, calls_again) = map(output, some)
    except AffscoreError:
        return False
    if calls != calls_again or not all(map(_close, first, again)):
        return calls == calls_again
    places = ((first, 0), (inner, middle), (last, count - 1))
    fits = [fit for alone, place in places for fit in _fitting(alone, among, place, count)]
    return all(fits) and (count == 1 or bool(fits))


def _fitting(alone: list[Tensor], among: list[Tensor], place: int, count: int) -> Iterator[bool]:
    """Whether tensors of one sample alone are its parts of those of so many; nothing of those that do not tell."""
    if len(among) == count * len(alone) > len(alone):  # a list of what each sample gives
        yield all(map(_close, alone, among[place * len(alone) :]))
    for lone, many in zip(alone, among, strict=True) if len(alone) == len(among) else ():
        if lone.ndim and many.shape == (count * len(lone), *lone.shape[1:]):
            parts = many.unflatten(0, (count, -1))
            fits = _close(lone, parts[place], parts - parts[:1])
            rounding = 16 * torch.finfo(many.dtype).eps
            if not fits or not torch.allclose(parts, parts[:1].expand_as(parts), rounding, 0, equal_nan=True):
                yield fits  # what never varies tells nothing


def _close(one: Tensor, other: Tensor, scale: Tensor | None = None) -> bool:
    """Whether they are the same up to other kernels, for their scale; NaN and infinity must be in the same places."""
    size = float((other if scale is None else scale).nan_to_num(0, 0, 0).abs().max())
    rounding = 16 * torch.finfo(one.dtype).eps
    return one.shape == other.shape and torch.allclose(one, other, rounding, TOLERANCE * size, equal_nan=True)


def _first_difference(
    alone: list[Pair], among: list[Pair], places: list[int], tolerance: float, jump: float = 0.0
) -> Pair | None:
    """The first activation that saw or returned something else for a few samples than at their places among many.

    What is not finite among these tells nothing. A difference is one for the size of what was added up, of which terms
    that cancel leave rounding. Up to ``jump`` times the largest before them do not count: they may have grown from it.
    """
    largest = 0.0
    for one, pair in zip(alone, among, strict=False):
        for lone, rows, terms in zip((one.x, one.y), (pair.x, pair.y), pair.sizes, strict=True):
            row = rows.unflatten(0, (-1, pair.points_a_sample))[places].flatten(0, 1)
            if lone.shape != row.shape:
                return pair
            if bool(row.isfinite().all()):
                difference, size = float((lone - row).abs().max()), max(float(row.abs().max()), float(terms.max()))
                if not difference <= max(tolerance, jump * largest) * size:  # NaN is different, too
                    return pair
                largest = max(largest, difference / size if difference else 0.0)
    return None
