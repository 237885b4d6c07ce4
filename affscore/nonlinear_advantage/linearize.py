"""Makes the least needed channels of a trained network linear, by one criterion or another, and says what it costs."""

from __future__ import annotations

import copy
import math
import sys
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from affscore.errors import AffscoreError, guarded
from affscore.models.data import load_data
from affscore.models.sources import card_of, load_model
from affscore.network.batch import recorded, run_batch, subject_of
from affscore.network.forward import accuracy_of
from affscore.network.images import image_stream
from affscore.network.inputs import Feeding
from affscore.network.notes import Note, give_warnings
from affscore.network.scoring import Pair
from affscore.nonlinear_advantage.prelu import sloped_copy, slopes
from affscore.nonlinear_advantage.surgery import units_in
from affscore.nonlinear_advantage.units import ChannelGELU
from affscore.options import Execution, Options, check_word, checked, is_number
from affscore.recorder.model_state import device_of, random_states_kept, unwrapped
from affscore.transport.samples import centred

CriterionName = Literal["slope", "affinity", "random"]


@dataclass(frozen=True)
class Linearized:
    """A network some of whose channels were made linear, and its accuracy before and after.

    Attributes:
        model: The network, with the units of :func:`affscore.nonlinear_advantage.to_prelu`; linear channels are frozen.
        accuracy_before: The share of the samples that it classified rightly; NaN where that is not known.
        accuracy_after: The same, of the network with these channels linear.
        kept: A row for each channel: ``layer`` and ``call`` as in the signature of the original network, ``channel``,
            ``kept`` (whether it is still non-linear), ``value`` (of the criterion: slope, score or random number).
        by: The criterion.
        notes: What one should know of it, in sentences.
    """

    model: nn.Module = field(repr=False)
    accuracy_before: float
    accuracy_after: float
    kept: pd.DataFrame = field(repr=False)
    by: CriterionName
    notes: list[Note] = field(default_factory=list)


def linearize(
    model: nn.Module | str,
    data: Any,
    keep: float = 0.5,
    by: CriterionName = "affinity",
    images: int | None = None,
    seed: int = 0,
    device: str = "auto",
    batch_size: int = 64,
    progress: bool | None = None,
) -> Linearized:
    r"""Make the least needed channels of a trained network linear, by a criterion; nothing is trained.

    This is for comparing criteria. In some networks even a tenth of the channels costs most of the accuracy, and a
    criterion may do worse than chance: compare with ``by="random"``.

    The activations become channel-wise PReLUs (:func:`affscore.nonlinear_advantage.to_prelu`), and the slopes of some
    channels are set to 1 and frozen. Of all channels of the network together, :math:`\lfloor\mathrm{keep} \cdot
    \mathrm{channels} + 1/2\rfloor` stay as they are; channels that are linear already are the first to count as linear.

    ============ ============================================================ ======================================
    ``by``       value of a channel                                           made linear first
    ============ ============================================================ ======================================
    ``slope``    its trained slope                                            slopes nearest to 1
    ``affinity`` its own affinity score, of the activation's input and output the highest scores
                 as the data gives them
    ``random``   a random number                                              the largest numbers
    ============ ============================================================ ======================================

    The affinity score of a channel is that of two clouds on a line: the mean over all positions of its input, for each
    sample, and of its output, as in a signature with ``reduction="mean"``. All samples make one cloud, so that there is
    no batch. Ties are broken by the order of layers and channels.

    A slope of 1 is the identity, and not any affine map; the score is blind to scale and offset, so that the network
    may change much although a score is high. The output of a channel that is never positive is constant, which is
    affine, but slope 1 would let through what it blocks: it has no score (NaN), and is made linear last.

    Args:
        model: A network, or MODEL[@WEIGHTS] (:func:`affscore.load_model`); it stays as it is.
        data: As in :func:`affscore.signature`: SPEC, a Dataset, a DataLoader, ``(inputs, labels)``, ...
        keep: The share of the channels that stay non-linear, in [0, 1].
        by: The criterion. "slope" needs a network with trained slopes.
        images: How many samples to use; None for all there are.
        seed: Fixes the random numbers, random weights, and the choice of samples.
        device: "auto" (a GPU where there is one), "cpu", "cuda", ...
        batch_size: Samples that go through the network at once.
        progress: Whether to show a bar; None for where there is a terminal.

    Warns:
        AffscoreWarning: A number is likely wrong.

    Raises:
        AffscoreError: Bad arguments; "slope" for a network without trained slopes; as
            :func:`affscore.nonlinear_advantage.to_prelu`; data that does not fit the network, or NaN or infinity in an
            activation.

    Source: our tool; the slopes are those of Mehmeti-Göpel and Disselhoff, "Nonlinear Advantage" (ICML 2023).

    >>> same = linearize("mini:digitsnet", "digits", keep=1.0, by="random", images=128)
    >>> same.accuracy_before == same.accuracy_after, bool(same.kept["kept"].all())
    (True, True)
    """
    check_word("by", by, CriterionName)
    if not is_number(keep) or not 0 <= keep <= 1:
        raise AffscoreError(f"keep must be a share of the channels, from 0 to 1, got {keep!r}")
    options = checked(Options(images=images, seed=seed, criteria=()))
    execution = Execution(device, batch_size, progress)
    if isinstance(model, str):
        model = load_model(model, options.seed)
    data = load_data(data, seed=options.seed) if isinstance(data, str) else data
    sloped, notes = _with_slopes(model, data, by, options)
    accuracy_before, pairs = _run(sloped, data, options, execution, model, notes)
    table, units = table_of_channels(sloped, pairs, by, options.seed), units_in(sloped)
    if others := dict.fromkeys(pair.call.activation for pair in pairs if pair.call.layer not in units):
        notes.append(f"only channels of ReLU and GELU can be made linear: {', '.join(others)} stay as they are")
    most = math.floor(keep * len(table) + 0.5)
    linear = torch.cat([unit.slope.detach().cpu() == 1 for unit in units.values()]).numpy()
    kept = chosen(table["value"].to_numpy(), linear, most, by)
    if kept.sum() < most:
        notes.append(f"only {kept.sum()} of {len(kept)} channels were non-linear before, fewer than the {most} to keep")
    if by == "affinity" and (unknown := table["value"].isna()).any():
        without = f"{unknown.sum()} of {len(kept)} channels have no score (constant input or output)"
        notes.append(f"{without}, {(unknown & ~kept & ~linear).sum()} of them were made linear")
    table.insert(3, "kept", kept)
    masks = torch.from_numpy(~kept).split([unit.num_parameters for unit in units.values()])
    for unit, mask in zip(units.values(), masks, strict=True):
        unit.freeze(mask)
    accuracy_after, _ = _run(sloped, data, options, execution, model, notes)
    said = list(map(Note.of, dict.fromkeys(notes)))
    give_warnings(said, stacklevel=2)
    return Linearized(sloped, accuracy_before, accuracy_after, table, by, said)


def _with_slopes(model: nn.Module, data: Any, by: str, options: Options) -> tuple[nn.Module, list[str]]:
    """A copy of the network that has slopes, and notes on how it was made."""
    network = unwrapped(model)
    found = slopes(network).values()
    if by == "slope" and not any(bool((unit.slope != 0).any()) for unit in found):
        advice = 'make them by to_prelu and train with a SlopePenalty, or choose by="affinity", which needs no training'
        raise AffscoreError(f'by="slope" needs trained slopes, and {"all are 0" if found else "it has none"}: {advice}')
    if found:
        return guarded(lambda: copy.deepcopy(network), "the network cannot be copied"), []
    with random_states_kept(device_of(network)):
        stream = image_stream(data, card_of(network), options, 2, Feeding(network))
        first = next(iter(stream.chunks), None)
    if first is None:
        raise AffscoreError("the data holds no sample; give at least 2")
    dtype = next((one.dtype for one in network.parameters() if one.is_floating_point()), None)
    arguments, named = first[:2].each(lambda one: one.to(dtype) if one.is_floating_point() else one).batch
    try:
        made, notes = sloped_copy(network, named or arguments)
    except AffscoreError as error:
        raise AffscoreError("; ".join([str(error), *stream.assumptions(network)])) from error.__cause__
    if not slopes(made):
        raise AffscoreError("the network calls no ReLU or GELU, and no other activation can be made linear here")
    return made, notes


def _run(
    sloped: nn.Module, data: Any, options: Options, execution: Execution, model: nn.Module, notes: list[str]
) -> tuple[float, list[Pair]]:
    """The accuracy, and input and output of each activation, averaged over positions."""
    subject = subject_of(sloped, data, options, execution)
    subject.card = card_of(unwrapped(model))  # what is known of the original's outputs holds for the copy
    stream = subject.stream
    with recorded(subject) as recorder:
        batches = [run_batch(subject, recorder, *one) for one in stream.batches(sys.maxsize, execution.progress)]
    batch = next(filter(None, batches), None)  # of all samples
    if batch is None:
        raise AffscoreError("the data holds no sample; give at least 2")
    accuracy, on_it = accuracy_of(batch.predicted, stream, subject.card.classes)
    notes += [*stream.assumptions(subject.network), *batch.notes, *on_it, *stream.notes]
    if accuracy is None and not on_it:
        notes.append("there is no accuracy: no labels fit the outputs; give (inputs, labels), with integers from 0 on")
    return math.nan if accuracy is None else accuracy, batch.passes[0]


def table_of_channels(model: nn.Module, pairs: list[Pair], by: CriterionName, seed: int) -> pd.DataFrame:
    """A row for each channel, with its value: its slope, its affinity score, or a random number.

    Args:
        model: A network of :func:`affscore.nonlinear_advantage.to_prelu`.
        pairs: The input and output of its activations, averaged over positions.
        by: The criterion.
        seed: Of the random numbers.

    Raises:
        AffscoreError: NaN or infinity in an activation.
    """
    random, of_path = np.random.default_rng(seed), {pair.call.layer: pair for pair in pairs}
    tables = []
    for path, ((layer, call), unit) in zip(units_in(model), slopes(model).items(), strict=True):
        if by == "slope":
            value = unit.slope.detach().double().cpu().numpy()
        elif by == "random":
            value = random.random(unit.num_parameters)
        else:
            x, y = of_path[path].x, of_path[path].y
            if isinstance(unit, ChannelGELU):  # the recorder sees the GELU inside; means keep the interpolation
                y = torch.lerp(y, x, unit.slope.detach().to(y))
            value = channel_scores(x, y, of_path[path].rounding, f"layer {layer!r}, call {call}: ")
        tables.append(pd.DataFrame({"layer": layer, "call": call, "channel": range(len(value)), "value": value}))
    return pd.concat(tables, ignore_index=True)


def channel_scores(x: Tensor, y: Tensor, rounding: float | None = None, where: str = "") -> NDArray[np.float64]:
    r"""The affinity score of each coordinate by itself.

    .. math:: \rho_c = 1 - \sqrt{1 - \operatorname{corr}(x_{(i)}, y_{(i)})}

    over the sorted numbers of this coordinate: on a line T is the increasing affine map between means and standard
    deviations, and the optimal coupling is that of the sorted numbers. Shrinkage leaves a single variance as it is.

    Args:
        x: Tensor (n, channels), n >= 2.
        y: Likewise.
        rounding: As in :func:`affscore.affinity_score`.
        where: How a message begins.

    Returns:
        Array (channels,), each in [0, 1]; NaN where the input or the output is constant.

    Raises:
        AffscoreError: NaN or infinity, or fewer than two samples.

    >>> from affscore import affinity_score
    >>> x = torch.linspace(-1, 1, 50)[:, None]
    >>> bool(abs(channel_scores(x, x.relu())[0] - float(affinity_score(x, x.relu()))) < 1e-6)
    True
    """
    sorted_numbers = []
    for name, cloud in (("the input", x), ("the output", y)):
        points = centred(cloud, where + name, rounding).points
        # a constant coordinate is all zero, and becomes NaN
        sorted_numbers.append((points / points.square().mean(dim=0).sqrt()).sort(dim=0).values)
    # 1 - corr, without cancellation near 1
    distance = (sorted_numbers[0] - sorted_numbers[1]).square().mean(dim=0) / 2
    return (1 - distance.sqrt()).clamp_min(0).cpu().numpy()


def chosen(value: NDArray[np.float64], linear: NDArray[np.bool_], most: int, by: CriterionName) -> NDArray[np.bool_]:
    """Which channels stay non-linear.

    Args:
        value: Of each channel; NaN for those that are made linear last.
        linear: Which are linear already, and so the first.
        most: How many stay, if so many are not linear.
        by: The criterion.

    >>> chosen(np.array([0.9, 0.2, np.nan, 0.1]), np.array([False, False, False, True]), 2, "affinity").tolist()
    [False, True, True, False]
    """
    need = np.abs(1 - value) if by == "slope" else -value
    need = np.where(linear, -np.inf, np.where(np.isnan(need), np.inf, need))
    kept = np.ones(len(need), dtype=bool)
    kept[np.argsort(need, kind="stable")[: len(need) - most]] = False
    return kept & ~linear
