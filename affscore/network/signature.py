"""The non-linearity signature of a network on a data set."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Collection, Mapping
from contextlib import ExitStack
from numbers import Integral
from typing import Any

import torch
from torch import nn
from tqdm import tqdm

from affscore.errors import AffscoreError
from affscore.network.collect import Collector
from affscore.network.forward import check_images_stay_apart, cut, forward, unseen_activations
from affscore.network.images import image_stream
from affscore.network.model_state import choose_device, prepared, unwrapped
from affscore.network.recorder import recording
from affscore.network.reduction import OrderName, ReductionName, check_order, check_reduction
from affscore.network.result import Signature, provenance, table_of
from affscore.network.scorers import BatchScorer, WholeScorer
from affscore.network.scoring import Choices, choose_criteria
from affscore.transport.covariance import CovarianceName, check_name
from affscore.zoo.models import card_of, load_model
from affscore.zoo.state_dicts import fingerprint, tensor_bytes

__all__ = ["signature"]

_ASSUMED = (
    "the network does not say what it expects of images: ImageNet's preprocessing was used; give it an attribute "
    "preprocessing = affscore.zoo.Preprocessing(...)"
)


def signature(
    model: nn.Module | str,
    data: Any,
    n: int = 512,
    images: int | None = None,
    reduction: ReductionName = "mean",
    order: OrderName = "activate-first",
    covariance: CovarianceName = "ledoit-wolf",
    criteria: bool | Collection[str] = True,
    device: str = "auto",
    batch_size: int = 64,
    seed: int = 0,
    progress: bool | None = None,
    whole: bool = False,
    activations: Collection[Any] | Mapping[str, Any] | None = None,
) -> Signature:
    r"""The non-linearity signature of a network on a data set.

    .. math:: \rho(N; X) = \bigl(\rho(r(X_i), r(\sigma_i(X_i)))\bigr)_i

    over all elementwise activations :math:`\sigma_i` that run, in order, averaged over batches of n
    images; r is a reduction from feature maps to :math:`\mathbb R^c`.

    Args:
        model: A network, or MODEL[@WEIGHTS] (:func:`affscore.load_model`).
        data: SPEC (:func:`affscore.load_data`), a tensor or array (N, ...), a Dataset or a DataLoader.
        n: Images in a batch of the statistic, >= 2. A last batch that is shorter is dropped, unless it
            is the only one.
        images: How many images to use in all; None for all there are.
        reduction: "mean" (over positions, per channel), "sum", "flatten", "sample" (one random position
            an image) or "published" (what the papers' code does where channels come last).
        order: "activate-first" scores (r(X), r(s(X))), as the published code does; "reduce-first" scores
            (r(X), s(r(X))), as definition 3.1 is printed. "sample" and "flatten" have one order only.
        covariance: "ledoit-wolf" or "empirical".
        criteria: True for the criteria of tables 1 and 2 (cka, norm, sparsity, entropy, r2), False for
            none, or a list of names, which may hold "cka_debiased" and "nlc" (Philipp's coefficient of the
            activation on its reduced input), too.
        device: "auto" (a GPU where there is one), "cpu", "cuda", ...
        batch_size: Images that go through the network at once; no result depends on it.
        seed: Fixes random weights, the choice and order of images, and the positions of "sample".
        progress: Whether to show a progress bar; None for where there is a terminal.
        whole: Score all images together, with no batches: under the paired coupling, so that a score is a
            lower bound of the exact one of all images with the same covariance (not of the mean over
            batches). n is then only the number of images that are held at a time, and nothing is dropped.
        activations: What else counts as one activation, as a whole: a list of classes of modules, modules,
            or functions (or a dictionary of these by the names that they shall have), elementwise all of
            them. None for what the network's attribute ``declared_activations`` says, if it has one.

    Returns:
        The signature: ``.scores`` (numpy, one number in [0, 1] for each activation) and ``.table``
        (pandas, a row for each activation and batch).

    Raises:
        AffscoreError: Bad arguments, data that does not fit the network, a network without activations
            that can be seen, or NaN or infinity in one (the message names the layer).

    Source: definition 3.1 and appendix E.

    >>> result = signature("mini:digitsnet", "digits", n=64, images=64, criteria=False)
    >>> len(result.scores), bool((result.scores > 0).all() and (result.scores < 1).all())
    (9, True)
    """
    check_reduction(reduction)
    check_order(order)
    check_name(covariance)
    if reduction in ("sample", "flatten"):
        order = "activate-first"  # these commute with an elementwise function
    for name, value, least in (("n", n, 2), ("images", images, 2), ("batch_size", batch_size, 1), ("seed", seed, 0)):
        if value is not None and isinstance(value, Integral) and value >= 2**63:
            raise AffscoreError(f"{name} must be below 2**63, got {value}")
        if value is not None and (isinstance(value, bool) or not isinstance(value, Integral) or value < least):
            raise AffscoreError(f"{name} must be a whole number of at least {least}, got {value!r}")
    n, batch_size, seed = int(n), int(batch_size), int(seed)
    if isinstance(model, str):
        model = load_model(model, seed)
    network = unwrapped(model)
    card = card_of(network)
    stream = image_stream(data, card.preprocessing, images, n, batch_size, seed)
    target = choose_device(device, network)
    options = Choices(covariance, choose_criteria(criteria))
    collector = Collector(reduction, order, "sparsity" in options.criteria, seed)
    scorer = WholeScorer(stream.total, options) if whole else BatchScorer(options, in_background=target.type == "cuda")
    digest = hashlib.sha256()
    used = digest  # of the images that were scored
    pending = 0  # images in the collector
    notes: list[str] = []
    bar = tqdm(total=stream.total, desc=card.name, unit="image", disable=None if progress is None else not progress)
    with ExitStack() as stack:
        # no_grad and not inference_mode: what the network moves or caches must still be fit for training
        stack.enter_context(torch.no_grad())
        stack.enter_context(torch.random.fork_rng(devices=[target] if target.type == "cuda" else []))
        torch.manual_seed(seed)
        stack.enter_context(prepared(network, target))
        stack.enter_context(bar)
        stack.enter_context(scorer)
        if activations is None:
            activations = getattr(network, "declared_activations", ())
        recorder = stack.enter_context(recording(network, collector, activations))
        for number, chunk in enumerate(cut(stream.chunks, n)):
            on_device = chunk.to(target)
            forward(network, recorder, collector, on_device, card.name)
            if number == 0:
                digest.update(f"{tuple(chunk.shape[1:])} {chunk.dtype}".encode())
                for check in (check_images_stay_apart, unseen_activations):
                    note = check(network, recorder, collector, on_device, card.name)
                    notes += [note] if note else []
            digest.update(tensor_bytes(chunk))
            pending += len(chunk)
            bar.update(len(chunk))
            if pending == n:
                scorer.add(collector.take())
                used, pending = digest.copy(), 0
        if pending and scorer.keeps_rest:
            scorer.add(collector.take())
            used = digest
        elif pending:
            notes.append(
                f"the last {pending} images were dropped: they do not fill a batch of {n} "
                "(choose n to divide the number of images)"
            )
            warnings.warn(notes[-1], stacklevel=2)
        rows = scorer.rows()
    if not card.preprocessing_known and stream.preprocessing is card.preprocessing:
        notes.insert(0, _ASSUMED)
    notes += stream.notes
    if recorder.independent_of_input:
        notes.append(f"{recorder.independent_of_input} activation calls do not depend on the images and have no score")
    if recorder.unseen:
        notes.append(
            f"the activations inside {', '.join(sorted(recorder.unseen))} are no calls of their own, and not seen"
        )
    if silent := [name for name in recorder.chosen.names if name not in recorder.ran]:
        notes.append(f"declared as an activation, but never run: {', '.join(silent)}")
    shared = {"model": card.name, "weights": card.weights, "dataset": stream.name}
    choices: dict[str, str] = {
        "reduction": reduction,
        "order": order,
        "covariance": covariance,
        "coupling": "paired" if whole else "exact",
    }
    metadata = {
        **shared,
        **choices,
        "n": n,
        "images": int(sum(row["n"] for row in rows if row["index"] == 0)),
        "seed": seed,
        "batch_size": batch_size,
        "device": target.type,
        "dtype": str(next((p.dtype for p in network.parameters()), torch.get_default_dtype())),
        "criteria": list(options.criteria),
        "activations": recorder.chosen.names,
        "preprocessing": stream.preprocessing.as_dict() if stream.preprocessing else None,
        "fingerprint_weights": fingerprint(network),
        "fingerprint_data": used.hexdigest()[:16],
        **provenance(),
    }
    costs = [row.pop("sample_costs") for row in rows]
    kept = [cost.cpu().numpy() if cost is not None else None for cost in costs]
    return Signature(table_of(rows, shared, choices), metadata, notes, kept)
