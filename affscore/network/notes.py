"""Notes on a result, in sentences: what a reader should know, and warnings where a number is likely wrong."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from affscore.errors import AffscoreError, guarded
from affscore.models.card import ModelCard
from affscore.models.preprocessing import IMAGENET, Preprocessing
from affscore.models.text import Expected
from affscore.network.accuracy import NO_LABELS, are_wordnet_ids
from affscore.network.note import Note
from affscore.options import MOST_COUPLED, Options
from affscore.transport.sample_size import points_needed

if TYPE_CHECKING:
    import pandas as pd

    from affscore.network.images import ImageStream
    from affscore.network.pair import Pair
    from affscore.network.result import Signature

WARNED_OF, NOTED = 0.02, 0.01
"""Biases of a score that are worth a warning, or a note."""

FEWEST = 8
"""Fewer samples say next to nothing of a distribution, whatever the estimate of the bias is: two are always mapped."""

LONGEST_SAMPLE = 1024
"""More rows are no sample whose first axis was forgotten: attention over all of them might fill the memory."""

LARGEST_NORMALISED = 64.0
"""Images that were scaled and normalised hold no number as large as this."""


def on_input(stream: ImageStream, network: nn.Module) -> list[Note]:
    """What was assumed of the network's input: the size of the data, or ImageNet's where that says nothing.

    A network of torchvision that says nothing was most likely made for ImageNet's.
    """
    if not stream.assumed or not isinstance(stream.preprocessing, Preprocessing):
        return []
    size = f"{stream.preprocessing.size} x {stream.preprocessing.size} pixels"
    says = "the network does not say what it expects of images"
    advice = "give it an attribute preprocessing = affscore.models.Preprocessing(...)"
    if stream.preprocessing != IMAGENET:
        return [Note(f"{says}: they went in with {size}, normalised as for ImageNet; {advice}")]
    note = f"{says}: ImageNet's preprocessing was used ({size}), and scores depend on the size; {advice}, or size=..."
    return [Note(note, "note" if type(network).__module__.startswith("torchvision.") else "warning")]


def on_backbone(network: nn.Module) -> str:
    """What to do with a network that takes lists of images and returns as many boxes as it finds."""
    advice = "; of a detector, measure the backbone: forward=lambda network, batch: network.backbone(batch)"
    return advice * isinstance(getattr(network, "backbone", None), nn.Module)


@contextmanager
def adding_assumptions(stream: ImageStream, network: nn.Module) -> Iterator[None]:
    """Where the network itself fails, the message goes on with what was assumed, or is wrong, of its input."""
    try:
        yield
    except AffscoreError as error:
        error.args = (f"{error}{on_backbone(network)}",)
        more: list[str] = [] if error.__cause__ is None else [*on_input(stream, network)]
        if _is_one_sample(stream, network):
            more.append("the network takes all of the data as one sample x: give x[None], and better many samples")
        if not more:
            raise
        raise AffscoreError("; ".join([str(error), *more])) from error.__cause__


def _is_one_sample(stream: ImageStream, network: nn.Module) -> bool:
    """Whether the network takes the data with one more axis in front, and not the first part of them alone."""
    weights = next(network.parameters(), torch.zeros(()))

    def takes(whole: Any, part: Any) -> bool:
        inputs = whole.each(lambda x: x[part].to(weights.device, weights.dtype if x.is_floating_point() else None))
        with suppress(AffscoreError):
            guarded(lambda: inputs.through(network), "")
            return True
        return False

    whole = stream.whole
    fits = whole is not None and len(whole) <= LONGEST_SAMPLE
    return fits and takes(whole, None) and not takes(whole, slice(2))


def on_values(tensors: Iterable[Tensor], expected: Expected, known: bool = True) -> Iterator[str]:
    """Whether images hold values from 0 to 255, as they are stored, though the network does not expect such values.

    Values from 0 to 1 are noted where it is known that the network expects others, some of them below 0.

    >>> import torch
    >>> len(list(on_values([torch.linspace(0, 255, 48).view(1, 3, 4, 4)], IMAGENET)))
    1
    """
    if not isinstance(expected, Preprocessing):
        return
    brightest = max((1 - mean) / std for mean, std in zip(expected.mean, expected.std, strict=True))
    images = [t for t in tensors if t.ndim == 4 and t.shape[1] in (1, 3) and t.is_floating_point()]
    ranges = [(float(t.min()), float(t.max())) for t in images]
    if known and max(expected.mean) > 0 and any(least >= 0 and largest <= 1 for least, largest in ranges):
        means, stds = (", ".join(f"{value:.3g}" for value in values) for values in (expected.mean, expected.std))
        yield (
            "all values of the images are from 0 to 1, as before they are normalised, and the network expects images "
            f"that are: (x - mean) / std with mean {means} and std {stds}"
        )
    elif any(least >= 0 and brightest < LARGEST_NORMALISED < largest <= 255 for least, largest in ranges):
        yield Note(
            "the images hold values from 0 to 255, as they are stored: divide them by 255 and normalise them as the "
            "network was trained",
            "warning",
        )


def on_repeats(sums: NDArray[np.uint32], items: str) -> Iterator[str]:
    """How many samples are the same as an earlier one, to the last bit.

    Args:
        sums: Checksums of each sample, array (N, 2).
        items: What samples are called.

    >>> next(on_repeats(np.array([[1, 2], [3, 4], [1, 2], [1, 2]], np.uint32), "images"))[:49]
    '2 of 4 images (50.0%) are repeats of earlier ones'
    """
    why = "an IterableDataset gives every worker of a DataLoader the same samples, unless it uses get_worker_info"
    if repeats := len(sums) - len(np.unique(sums, axis=0)):
        yield f"{repeats} of {len(sums)} {items} ({repeats / len(sums):.1%}) are repeats of earlier ones ({why})"


def on_weights(card: ModelCard) -> Iterator[str]:
    """Where nobody named any weights, the network may be untrained."""
    if card.weights == "as built":
        yield f"the weights are as {card.name} builds them: untrained, unless it loads them itself (NAME@FILE does)"


def on_accuracy(accuracy: float | None, stream: ImageStream, card: ModelCard, unused: int) -> Iterator[str]:
    """Which classes were taken for those of a network that does not name its own; or that there are more outputs."""
    if accuracy is None and 0 < unused < NO_LABELS:
        yield (
            f"there is no accuracy: {unused} of the outputs of the network lie beyond the largest label of the samples "
            "that were used; use more samples, with one of the last class among them"
        )
    folders = stream.name.startswith("folder:") and card.classes is None
    if accuracy is not None and folders and not are_wordnet_ids(stream.classes or ()):
        yield "the accuracy takes the folders, in sorted order, for the classes of the network (attribute classes)"


def on_rows(table: pd.DataFrame, units: str = "activations") -> Iterator[str]:
    """What the scores themselves show: activations, or blocks, that do nothing, or lack a number."""
    count, constant = table["index"].nunique(), table["flag"].str.startswith("constant")
    if dead := table.loc[table["flag"] == "constant output", "index"].nunique():
        yield (
            f"{dead} of {count} {units} have a constant output in a batch, which is affine: "
            "their score of 1 says that they do nothing (column flag)"
        )
    if "affine_fit" in table and (lacking := table.loc[table["affine_fit"].isna() & ~constant, "index"].nunique()):
        yield (
            f"the best affine map of {lacking} of {count} {units} is not known (no affine_fit): their inputs vary "
            f"in as many directions as there are samples in a batch, {table['n'].min()}; use a larger n"
        )
    if "nlc" in table and (lacking := table.loc[table["nlc"].isna() & ~constant, "index"].nunique()):
        yield (
            f"{lacking} of {count} {units} have no non-linearity coefficient: on vectors of "
            "channels they are not elementwise functions with a finite derivative in PyTorch"
        )


def on_refusals(passes: Iterable[list[Pair]]) -> Iterator[str]:
    """Which activations have no score under an order, since they cannot be applied to reduced vectors."""
    refused = {str(pair.call): pair.refused for pairs in passes for pair in pairs if pair.refused}
    if refused:
        yield (
            f"{'1 activation has' if len(refused) == 1 else f'{len(refused)} activations have'} no score under "
            "reduce-first, which needs them on vectors of channels: "
            f"{next(iter(refused.values()))}"
        )


def on_positions(options: Options) -> Iterator[str]:
    """What several points of one sample mean for the numbers."""
    if (each := options.points_a_sample) > 1:
        yield (
            f"each sample gives up to {each} points, as many as a feature map has positions; points of one sample "
            "depend on each other, and an interval draws samples again, not points"
        )
        if options.only_paired:
            yield (
                f"the coupling is the pairing, since n x positions is {options.n * each}, more than {MOST_COUPLED}: "
                "scores are lower bounds of the exact ones"
            )


def too_few(used: int, items: str) -> str:
    """What to say of so few samples."""
    return (
        f"{used} {items} in a batch are too few for any score (two are always mapped exactly, and score 1): "
        f"give at least {FEWEST}, and better hundreds"
    )


def on_n(result: Signature) -> Iterator[Note]:
    """What n does to the scores: there were fewer samples, or so few that the scores are expected to be too high."""
    units = result.metadata.get("units", "activations")
    asked, items = result.metadata["n"], result.metadata["items"]
    used = result.metadata["images"] // result.table["batch"].nunique()
    if used < asked:
        yield Note(f"n is {used}: there are no more {items} ({asked} were asked for in a batch)")
    if (least := min(used, int(result.table["n"].min()))) < FEWEST:  # not all reach every expert
        yield Note(too_few(least, items), "warning")
    bias = np.nan_to_num(result.expected_bias)
    tolerance = WARNED_OF if bias.max() > WARNED_OF else NOTED
    many = bias > tolerance
    if many.any():
        widths = result.summary.get("effective_width", result.summary["width"])[many]
        points_a_sample = result.table.groupby("index")["n"].max()[many] / used
        needed = max(
            math.ceil(points_needed(math.ceil(width), tolerance) / each)
            for width, each in zip(widths, points_a_sample, strict=True)
        )
        yield Note(
            f"{used} {items} in a batch are few for {many.sum()} of {len(bias)} {units}: their scores are expected "
            f"to be up to {bias.max():.2g} too high, and the mean score by {bias.mean():.2g}; "
            f"n={needed} keeps this below {tolerance} (with shrinkage, up to twice as many)",
            "warning" if tolerance == WARNED_OF else "note",
            float(bias.max()),
        )
