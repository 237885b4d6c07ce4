"""The non-linearity signature of a network on a data set: batches, recorder, reduction, score, rows, result."""

from __future__ import annotations

import itertools
import math
import platform
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import nn

from affscore.errors import AffscoreError
from affscore.models.card import fingerprint
from affscore.network.batch import Batch, Subject, recorded, run_batch, subject_of
from affscore.network.columns import choose_criteria
from affscore.network.criteria import COLUMNS
from affscore.network.experts import numbered
from affscore.network.forward import accuracy_of
from affscore.network.inputs import Forward
from affscore.network.notes import FEWEST, Note, give_warnings, on_positions, on_rows, too_few
from affscore.network.result import Signature
from affscore.network.scoring import score_batch, score_pair
from affscore.options import MASK, CovarianceName, Execution, Options, OrderName, ReductionName, UnitsName, checked
from affscore.recorder import Recorder
from affscore.transport.bias import points_needed

WARNED_OF, NOTED = 0.02, 0.01
"""Biases of a score that are worth a warning, or a note."""

Rows = list[dict[Any, Any]]
"""The rows of a batch, without its number."""


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
    (:func:`affscore.network.affine_fit`), in which the least-squares fit takes the place of the
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
    options, how = named_options(locals()), Execution(device, batch_size, progress)
    subject = subject_of(model, data, options, how, activations, forward, data_name)
    give_warnings(early := subject.stream.assumptions(subject.network), stacklevel=2)
    (result,) = signatures(subject)
    give_warnings([note for note in result.notes if note not in early], stacklevel=2)
    return result


def named_options(keywords: Mapping[str, Any]) -> Options:
    """The options among keywords, or among the arguments of a function, as :func:`affscore.signature` takes them.

    Raises:
        AffscoreError: They are not possible.

    >>> named_options({"n": 64, "criteria": "r2", "device": "cpu"}).criteria
    ('r2',)
    """
    given = {one.name: keywords[one.name] for one in fields(Options) if one.name in keywords}
    given["criteria"] = choose_criteria(keywords.get("criteria", True), keywords.get("units", "activations"))
    return checked(Options(**given))


def signatures(subject: Subject) -> list[Signature]:
    """Measure: one signature, or of a multiverse one for each specification.

    No batch depends on those before it: the positions of ``sample`` belong to the number of a sample, and the
    generators of random numbers are seeded anew for each batch.

    Raises:
        AffscoreError: As :func:`signature`.
    """
    options, stream = subject.options, subject.stream
    batches, rows = list[Batch](), list[Rows]()
    weights, data = fingerprint(subject.network), ""
    with recorded(subject) as recorder:
        for number, chunks in stream.batches(options.n, subject.execution.progress):
            if (batch := run_batch(subject, recorder, number, chunks)) is None:
                break
            rows.append(score_batch(batch.passes, options, score_pair))
            batch.passes.clear()  # the next one needs their memory
            batches.append(batch)
            data = stream.fingerprint
    return assemble(subject, recorder, batches, rows, {"fingerprint_weights": weights, "fingerprint_data": data})


def assemble(
    subject: Subject, recorder: Recorder, batches: Sequence[Batch], rows: Sequence[Rows], fingerprints: dict[str, str]
) -> list[Signature]:
    """The signatures that all batches make; of a multiverse one for each specification.

    Args:
        subject: What was measured.
        recorder: What watched the network.
        batches: The batches.
        rows: The rows of each.
        fingerprints: Those of the weights, and of the samples of these batches.

    Raises:
        AffscoreError: There is no batch, since the data holds no sample.
    """
    stream, card, forward, n = subject.stream, subject.card, subject.forward, subject.options.n
    if not stream.seen:
        raise AffscoreError("the data holds no sample; give at least 2")
    rows, found = numbered(rows) if subject.one_by_one else rows, []  # else each batch reaches all activations
    every = pd.DataFrame([{**row, "batch": number} for number, some in enumerate(rows) for row in some])
    dropped = stream.seen % n if stream.seen > n else 0
    samples, items, declared = stream.seen - dropped, stream.items, recorder.chosen.names
    accuracy, on_it = accuracy_of([part for batch in batches for part in batch.predicted], stream, card.classes)
    untrained = f"the weights are as {card.name} builds them: untrained, unless it loads them itself (NAME@FILE does)"
    first = [*stream.assumptions(subject.network), *[untrained] * (card.weights == "as built"), *on_it]
    first += [*dict.fromkeys(note for batch in batches for note in batch.notes), *stream.notes]
    last = [*stream.repeats(samples)]
    if silent := [name for name in declared if name not in recorder.ran]:
        last.append(f"declared as an activation, but never run: {', '.join(silent)}")
    if dropped:
        advice = f"(choose n to divide the number of {items})"
        last.append(f"the last {dropped} {items} were dropped: they do not fill a batch of {n} {advice}")
    dtype = getattr(next(subject.network.parameters(), None), "dtype", torch.get_default_dtype())
    for number, options in enumerate(itertools.chain.from_iterable(subject.options.passes)):
        own = every[every["specification"] == number]
        if subject.options.multiverse:  # what one batch does not allow under a specification is left out there
            own = own[own.groupby("index")["batch"].transform("nunique") == len(batches)]
        if own.empty:
            continue
        choices = {"model": card.name, "weights": card.weights, "dataset": subject.dataset, **options.as_columns()}
        table = own.reset_index(drop=True).assign(**choices).astype({"pairing_optimal": "boolean"})
        table = table[[name for name in COLUMNS if name in table]]
        notes = map(Note.of, [*first, *on_positions(options), *on_rows(table, options.units), *last])
        metadata = {
            **choices, "n": n, "images": samples, "seed": options.seed, "criteria": list(options.criteria),
            "positions": options.positions, "units": options.units, "depth": int(table["depth"].max()), "items": items,
            "batch_size": subject.execution.batch_size, "device": subject.device.type,
            "threads": torch.get_num_threads(), "dtype": str(dtype), "activations": declared,
            "forward": None if forward is None else getattr(forward, "__name__", type(forward).__name__),
            "accuracy": accuracy, "preprocessing": stream.preprocessing.as_dict() if stream.preprocessing else None,
            **fingerprints, **provenance(),
        }  # fmt: skip
        result = Signature(table, metadata, list(notes), [cost.cpu().numpy() for cost in own["sample_costs"]])
        result.notes.extend(on_n(result))
        found.append(result)
    return found


def on_n(result: Signature) -> Iterator[Note]:
    """What n does to the scores: there were fewer samples, or so few that the scores are expected to be too high."""
    asked, items, units = (result.metadata[name] for name in ("n", "items", "units"))
    used = result.metadata["images"] // result.table["batch"].nunique()
    if used < asked:
        yield Note(f"n is {used}: no more {items} were used ({asked} make a batch)")
    if (least := min(used, int(result.table["n"].min()))) < FEWEST:  # not all reach every expert
        yield Note(too_few(least, items), "warning")
    bias = np.nan_to_num(result.expected_bias)
    tolerance = WARNED_OF if bias.max() > WARNED_OF else NOTED
    if (many := bias > tolerance).any():
        points_a_sample = result.table.groupby("index")["n"].max()[many] / used
        both = zip(result.summary["effective_width"][many], points_a_sample, strict=True)
        needed = max(math.ceil(points_needed(math.ceil(width), tolerance) / each) for width, each in both)
        few = f"{used} {items} in a batch are few for {many.sum()} of {len(bias)} {units}"
        high = f"their scores are expected to be up to {bias.max():.2g} too high, and the mean by {bias.mean():.2g}"
        enough = f"n={needed} keeps this below {tolerance} (with shrinkage, up to twice as many)"
        yield Note(f"{few}: {high}; {enough}", "warning" if tolerance == WARNED_OF else "note", float(bias.max()))


def provenance() -> dict[str, Any]:
    """The versions that a result depends on, and when it was made."""
    others = ("affscore", "torchvision", "numpy", "scipy", "pandas", "scikit-learn", "pillow")
    versions = {"python": platform.python_version(), "torch": torch.__version__} | {one: version(one) for one in others}
    return {"versions": versions, "created": datetime.now(UTC).isoformat(timespec="seconds")}
