"""The non-linearity signature of a network on a data set."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from torch import nn

from affscore.network.criteria import choose_criteria
from affscore.network.inputs import Forward
from affscore.network.measurement import Measurement
from affscore.network.note import give_warnings
from affscore.network.notes import on_input
from affscore.network.reduction import OrderName, ReductionName
from affscore.network.result import Signature
from affscore.options import MASK, Execution, Options, UnitsName
from affscore.transport.covariance import CovarianceName


def signature(
    model: nn.Module | str,
    data: Any,
    n: int = 512,
    images: int | None = None,
    reduction: ReductionName = "mean",
    order: OrderName = "activate-first",
    covariance: CovarianceName = "ledoit-wolf",
    criteria: bool | str | Collection[str] = True,
    device: str = "auto",
    batch_size: int = 64,
    seed: int = 0,
    progress: bool | None = None,
    activations: Collection[Any] | Mapping[str, Any] | None = None,
    forward: Forward | None = None,
    data_name: str | None = None,
    positions: int = 4,
    units: UnitsName = "activations",
    size: int | None = None,
    mask: str | None = MASK,
) -> Signature:
    r"""The non-linearity signature of a network on a data set.

    .. math:: \rho(N; X) = \bigl(\rho(r(X_i), r(\sigma_i(X_i)))\bigr)_i

    over all elementwise activations :math:`\sigma_i` that run, in order, averaged over batches of n
    images; r is a reduction from feature maps to :math:`\mathbb R^c`.

    Args:
        model: A network, or MODEL[@WEIGHTS] (:func:`affscore.load_model`).
        data: SPEC (:func:`affscore.load_data`), a tensor or array (N, ...), a tuple or dictionary of these, a
            table of numbers (DataFrame, list of lists), a Dataset or a DataLoader. Several inputs: see below.
        n: Samples (images, rows of a table, windows of tokens) in a batch of the statistic, >= 2. A last batch
            that is shorter is dropped, unless it is the only one.
        images: How many samples to use in all; None for all there are, and of data that does not say how long it is
            (an IterableDataset, a sampler without a length) for at most 100 n, with a note.
        reduction: "mean" (over positions, per channel), "sum", "flatten", "sample" (one random position
            a sample), "positions" (several, each a point of its own) or "published" (what the papers'
            code does where channels come last).
        order: "activate-first" scores (r(X), r(s(X))), as the published code does; "reduce-first" scores
            (r(X), s(r(X))), as definition 3.1 is printed. "sample", "positions" and "flatten" have one order only.
        covariance: "ledoit-wolf" or "empirical".
        criteria: True for the criteria of tables 1 and 2 (cka, norm, sparsity, entropy, r2), False for
            none, "all", or names (a list, or a text as "cka,r2"), which may be "cka_debiased" and "nlc" (Philipp's
            coefficient of the activation on its reduced input), too.
        device: "auto" (a GPU where there is one), "cpu", "cuda", ...
        batch_size: Samples that go through the network at once; no result depends on it.
        seed: Fixes random weights, the choice and order of samples, and the positions of "sample".
        progress: Whether to show a progress bar; None for where there is a terminal.
        activations: What else counts as one activation, as a whole: a list of classes of modules, modules,
            or functions (or a dictionary of these by the names that they shall have). Functions must be elementwise. A
            module that is not, as a norm, attention or a residual block, is scored as a whole, too: X is the first
            tensor of real numbers that it is given (of q = k = v the features that attend to themselves), Y the first
            that it returns, and both must have the same width. Nothing inside a declared module counts.
            None for what the network's attribute ``declared_activations`` says, if it has one.
        forward: ``forward(network, batch)`` runs the network on a batch of the data (its tensors in their
            tuple or dictionary, all of them (N, ...)), in place of the rules below.
        data_name: What results call the data (column ``dataset``); None for the name of a SPEC, or the kind of
            object that it is.
        positions: For reduction="positions": how many random positions of each sample become points, at most all
            there are. The clouds are those of the activation itself, with as many times the points; points of one
            sample depend on each other. Above 2,048 points a batch the coupling is the pairing (a lower bound).
        units: "activations", or "blocks" for the blocks of the network, too: the network itself, residual blocks,
            attention, MLPs, normalisation, pooling, linear layers, and activations, as the column ``kind`` says
            (:class:`affscore.recorder.blocks.Blocks` says what counts). See below.
        size: Height and width that pictures are brought to, in pixels, for a network that does not say what it expects
            of them (an attribute ``preprocessing`` does): the shorter side is resized, and the centre cut out. None
            for the size that they all have, and at most 224.
        mask: The entry of the data (a parameter of the forward) that marks padding, (N, length) of zeros and ones.
            Padding counts for no reduction and no criterion. Ones are what is no padding, but where the name has "pad"
            in it, as ``key_padding_mask``: there they are padding. None where padding shall count.

    The score of a block says how near it comes to an optimal transport map, whose matrix is symmetric with no negative
    eigenvalue. A linear layer is affine and has a low score nevertheless: 0.27 for random weights of 64 channels and
    512 samples, 0.62 for a ReLU. So ``units="blocks"`` adds the criterion ``affine_fit``
    (:func:`affscore.network.affine_fit`), in which the best affine map takes the place of the
    optimal transport map: 1 for every affine map, also between different widths. There is no score where the widths
    differ (flag ``other width``). The network itself is one map from all numbers of its input to its outputs.
    Input and output are reduced as always: under ``mean``, a block that mixes positions by fixed weights (a
    convolution, an average pooling) is affine up to its borders; under ``sample`` it is not.

    Which entries of the data (of a tuple or dictionary, or of the items of a Dataset or DataLoader) go into
    the network is never guessed:

    * *By name*: an entry of a dictionary is the parameter of ``network.forward`` with its name. All required
      parameters must be there; other entries, and an optional ``labels``, are left out, and a note names them.
      If no name fits, the input is ``pixel_values`` or ``input_ids``, or the only entry that is not a label.
    * *By position*: the entries of a tuple are the required arguments, one or several, in their order. After
      them there may be labels: one integer for each sample; and where the forward has no parameter that could
      take the entry, any other integers, one number for each sample, or no tensor at all.
    * Everything else is an error that names the entries and the parameters.

    Returns:
        The signature: ``.scores`` (numpy, one number in [0, 1] for each activation) and ``.table``
        (pandas, a row for each activation and batch). Its ``notes`` say what one should know of it.

    Warns:
        AffscoreWarning: A number is likely wrong; once for each reason.

    Raises:
        AffscoreError: Bad arguments, data that does not fit the network or is masked, a network without activations
            that can be seen, or NaN, infinity or complex numbers in one (the message names the layer).

    Source: definition 3.1 and appendix E.

    >>> result = signature("mini:digitsnet", "digits", n=64, images=64, criteria=False)
    >>> len(result.scores), bool((result.scores > 0).all() and (result.scores < 1).all())
    (9, True)
    >>> import torch
    >>> signature(nn.Sequential(nn.Linear(3, 4), nn.ReLU()), torch.randn(64, 3), data_name="noise", criteria="cka")
    Signature of Sequential (in memory) on noise: 1 activation, 1 x 64 samples, scores ...
    >>> data = {"input1": torch.randn(64, 3), "input2": torch.randn(64, 2)}
    >>> network = nn.Bilinear(3, 2, 5)
    >>> signature(network, data, n=64, forward=lambda network, batch: network(**batch).relu()).scores.shape
    (1,)
    """
    options = Options(
        n=n, images=images, reduction=reduction, order=order, covariance=covariance,
        criteria=choose_criteria(criteria, units), seed=seed, positions=positions, units=units, size=size, mask=mask,
    )  # fmt: skip
    how = Execution(device, batch_size, progress)
    measurement = Measurement(model, data, options, how, activations, forward, data_name)
    give_warnings(early := on_input(measurement.stream, measurement.network), stacklevel=2)
    result = measurement.signature()
    give_warnings([note for note in result.notes if note not in early], stacklevel=2)
    return result
