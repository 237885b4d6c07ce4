"""Pulls the affinity scores of a network that is being trained towards given ones."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections import ChainMap
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from affscore.errors import AffscoreError, AffscoreWarning
from affscore.network.inputs import has_decoder
from affscore.network.notes import FEWEST, too_few
from affscore.network.passes import TrainingPass, Watched, checked_layers
from affscore.network.reading import tokens_of_text, unread_masks
from affscore.network.result import Signature
from affscore.network.scoring import naming
from affscore.options import MASK, CovarianceName, is_number
from affscore.recorder import recording
from affscore.recorder.functions import Declared
from affscore.recorder.model_state import check_whole, unwrapped
from affscore.transport.differentiable import HeldCoupling, differentiable_affinity
from affscore.transport.samples import as_tensor


class AffinityPenalty(AbstractContextManager["AffinityPenalty"]):
    r"""A term of a loss that pulls the scores of a network's activations towards a target.

    With the raw paired scores :math:`r_l` of the activations of a batch, reduced by the mean over positions
    (:func:`affscore.transport.differentiable_affinity`), and the weight :math:`\omega`,

    .. math:: \omega \Bigl(\frac1L \sum_{l=1}^L r_l - t\Bigr)^2 \quad\text{for a number } t,\qquad
       \frac{\omega}{L} \sum_{l=1}^L (r_l - t_l)^2 \quad\text{for a signature } t_1, \dots, t_L.

    A number is a target of the mean score alone, and leaves the signature's shape to the training. First derivatives
    only.

    Each forward pass of the network in training mode with gradients enabled counts; passes under ``torch.no_grad``, of
    a network in evaluation mode or within ``torch.export`` do not. Calling the penalty takes the passes since the last
    call as one batch: call it once for each ``backward()``, and :meth:`reset` where passes shall not count
    (PyTorch refuses to go through the graph of a pass a second time). The network
    may be in DistributedDataParallel (each process takes its own samples), under autocast (scores are computed in
    float64 from the rounded activations), or use ``torch.utils.checkpoint`` with ``use_reentrant=False``. Parts of it
    that are compiled run uncompiled. A copy of the network has no penalty.

    Padding (``attention_mask``, or what ``mask`` names) does not count, as in :func:`affscore.signature`. That of an
    encoder with a decoder is refused.

    Each sample must go through the network by itself, apart from statistics of training (batch norm): a mixture of
    experts that sorts the tokens of all samples has no score. This is not checked: measure a signature first, which
    refuses such a network.

    Args:
        model: The network.
        target: A number in [0, 1]; or a sequence of such numbers, one for each of ``layers`` in their order, or one for
            each activation of the network in the order in which they run; or an :class:`affscore.Signature` of the same
            reduction and covariance, whose paired scores are taken (its scores, where ``coupling`` is "fixed"). If it
            has as many activations as the network, each takes the score in its own place, whatever ``layers`` says.
            Nothing is interpolated: bring those of a network of another depth to the length by
            :func:`affscore.network.resampled`.
        weight: The weight, at least 0. It may be changed between steps.
        layers: Which activations, by the names of their layers or by their places from 0, as the columns ``layer`` and
            ``index`` of a signature have them, each once; None for all. One name stands for all calls of its layer, in
            the order of the calls.
        coupling: As in :func:`affscore.transport.differentiable_affinity`. "paired" is quicker, but a network can lower
            it by permuting samples alone; "fixed" pulls the exact score (chapter 17 of the book).
        covariance, activations, mask: As for :func:`affscore.signature`.

    Attributes:
        weight: As above.
        scores: The raw scores of the last batch, a tensor (L,) without gradients, in the order of ``layers``; None
            before the first one.

    Raises:
        AffscoreError: A network in DataParallel, TorchScript or ``torch.compile``, whose activations are not seen, or
            with a penalty already; a target, weight or layers that make no sense. When it is called: no pass since the
            last call, other activations than in the pass before, layers that are not there, are chosen twice or run
            without gradients, scores that no weight decides, a target of another length, fewer than two samples, NaN or
            infinity. In a forward pass: no activation, or padding that a signature refuses.

    Warns:
        AffscoreWarning: It is called with fewer than 8 samples; in the first passes, padding may count, as another
            entry than ``mask`` marks it.

    >>> _ = torch.manual_seed(0)
    >>> net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
    >>> images, optimiser, scores = torch.randn(64, 3), torch.optim.Adam(net.parameters(), lr=0.01), []
    >>> with AffinityPenalty(net, target=0.95, weight=10.0) as penalty:
    ...     for _ in range(50):
    ...         loss = net(images).square().mean() + penalty()
    ...         optimiser.zero_grad()
    ...         loss.backward()
    ...         optimiser.step()
    ...         scores.append(penalty.scores.item())
    >>> scores[0] < 0.8, scores[-1] > 0.9
    (True, True)
    """

    def __init__(
        self,
        model: nn.Module,
        target: float | Signature | ArrayLike,
        weight: float = 1.0,
        layers: Sequence[str | int] | None = None,
        *,
        covariance: CovarianceName = "ledoit-wolf",
        coupling: HeldCoupling = "paired",
        activations: Collection[Any] | Mapping[str, Any] | None = None,
        mask: str | None = MASK,
    ) -> None:
        if isinstance(model, nn.DataParallel) or hasattr(model, "_orig_mod"):
            unseen = f"the activations of a network in {type(model).__name__} cannot be seen while it trains"
            raise AffscoreError(f"{unseen}; give the plain network, and train it so or in DistributedDataParallel")
        self.model = unwrapped(model)
        check_whole(self.model)
        if isinstance(vars(self.model).get("forward"), Watched):
            raise AffscoreError("this network has a penalty already; remove() that one first")
        self.weight = weight
        self.scores: Tensor | None = None
        self._layers = checked_layers(layers)
        self._score = functools.partial(differentiable_affinity, covariance=covariance, coupling=coupling, clip=False)
        # these know what they take
        self._checked_weight()
        self._score(torch.eye(2), torch.eye(2))
        self._of_signature = isinstance(target, Signature)
        self._target = _checked(_scores_of(target, covariance, coupling) if isinstance(target, Signature) else target)
        self._activations = getattr(self.model, "declared_activations", ()) if activations is None else activations
        Declared(self._activations)
        self._mask = mask
        self._passes = list[TrainingPass]()
        self._watched = self.model.forward = Watched(self.model, self._run)

    def __call__(self) -> Tensor:
        """The penalty of the samples since the last call: a scalar, to be added to the loss."""
        weight, passes, self._passes = self._checked_weight(), self._passes, []
        if not passes:
            advice = "after model(x), in training mode with gradients enabled; if only a part runs, give that part"
            raise AffscoreError(f"no forward pass since the last call, or the penalty was removed: call it {advice}")
        scores, target = self._scores(passes)
        self.scores = scores.detach()
        distances = (scores if target.ndim else scores.mean()) - target
        pair = next(pair for pair in passes[0].pairs if len(pair.x))
        return (weight * distances.square().mean()).to(pair.x.dtype)

    def reset(self) -> None:
        """Forget the passes since the last call."""
        self._passes = []

    def remove(self) -> None:
        """Leave the network as it was; the end of a ``with`` does it, too."""
        self.reset()
        if vars(self.model).get("forward") is self._watched:
            self._watched.remove()

    def __exit__(self, *_: object) -> None:
        self.remove()

    def _run(self, forward: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """A forward pass, recorded if it counts."""
        exporting = getattr(torch.compiler, "is_exporting", bool)()  # older versions of PyTorch cannot say
        again = torch._C._current_graph_task_id() != -1  # a checkpoint runs it within backward()
        if exporting or again or not self.model.training or not torch.is_grad_enabled():
            return forward(*args, **kwargs)
        named = kwargs
        with suppress(TypeError, ValueError):  # the call's own error says more, or the forward has no signature
            named = inspect.signature(forward).bind(*args, **kwargs).arguments
        entries = ChainMap(named, *(dict(value) for value in named.values() if isinstance(value, Mapping)))
        text = tokens_of_text(entries, {}, self._mask)
        if text is not None and has_decoder(self.model):
            mixed = "the penalty cannot tell the padding of an encoder from that of its decoder"
            raise AffscoreError(f"{mixed}: give both texts of the same length without padding")
        if self.scores is None and (doubt := unread_masks(entries, self._mask)):
            warnings.warn(doubt, AffscoreWarning, stacklevel=5)  # of the line that runs the network
        seen = TrainingPass(self._layers, text)
        with recording(self.model, seen, self._activations) as recorder:  # which refuses a network that was compiled
            recorder.start((args, kwargs))
            seen.images = recorder.layout.images or 0
            output = forward(*args, **kwargs)
        if not recorder.calls:
            raise AffscoreError("no activation was seen in this network; activations=[...] declares them")
        self._passes.append(seen)
        return output

    def _scores(self, passes: list[TrainingPass]) -> tuple[Tensor, Tensor]:
        """The raw scores of the chosen activations, and their target."""
        places = [[pair.key[:2] for pair in one.pairs] for one in passes]
        if any(other != places[0] for other in places):
            raise AffscoreError("the passes since the last call ran different activations; call the penalty after each")
        chosen, scores = passes[0].chosen(), []
        for index in chosen:
            parts = [one.pairs[index] for one in passes]
            call, x, y = parts[0].call, torch.cat([one.x for one in parts]), torch.cat([one.y for one in parts])
            if any(part.refused for part in parts):
                without = f"{call} runs without gradients (torch.no_grad, or a checkpoint with use_reentrant=True)"
                raise AffscoreError(f"{without}: set use_reentrant=False, or name the other layers")
            if len(x) < FEWEST:
                advice = "leave out a last batch that is shorter: DataLoader(..., drop_last=True)"
                warnings.warn(f"{too_few(len(x), 'samples')}; {advice}", AffscoreWarning, stacklevel=3)
            with naming(call):
                scores.append(self._score(x, y))
        found = torch.stack([score.to(scores[0].device) for score in scores])
        if not found.requires_grad:
            why = "the penalty has no gradient, since no weight in front of its activations is trained"
            raise AffscoreError(f"{why}: set requires_grad, or choose later activations by layers=[...]")
        return found, self._target_of(chosen, len(places[0])).to(found)

    def _target_of(self, chosen: Sequence[int], count: int) -> Tensor:
        """A number for the mean, or one for each of the chosen activations among so many, in their order.

        As many numbers as are chosen are theirs, in their order. As many as there are activations in the network are
        those of the network's order; of a signature this comes first.
        """
        numbers = self._target
        if numbers.ndim == 0 or (len(numbers) == len(chosen) and not (self._of_signature and len(chosen) == count)):
            return numbers
        if len(numbers) == count:
            return numbers[list(chosen)]
        advice = f"give as many, or affscore.network.resampled(scores, {len(chosen)})"
        raise AffscoreError(f"the target has {len(numbers)} scores for {len(chosen)} activations; {advice}")

    def _checked_weight(self) -> float:
        if not is_number(self.weight) or not 0 <= self.weight < float("inf"):
            raise AffscoreError(f"weight must be a number of at least 0, got {self.weight!r}")
        return float(self.weight)


def resampled(scores: ArrayLike, length: int) -> NDArray[np.float64]:
    """The signature of a network brought to the length of another one, by straight lines between its scores.

    Args:
        scores: In the order of the activations, (L,), L >= 1.
        length: Of the result, at least 1. The first and the last score stay, where it has more than one.

    Returns:
        Array (length,).

    Raises:
        AffscoreError: No scores, or no length.

    >>> resampled([0.5, 0.9], 3).tolist()
    [0.5, 0.7, 0.9]
    """
    known = np.asarray(scores, dtype=float)
    if known.ndim != 1 or not len(known) or length < 1:
        raise AffscoreError(f"expected a row of scores and a length, got shape {known.shape} and {length!r}")
    return np.interp(np.linspace(0, 1, length), np.linspace(0, 1, len(known)), known)


def _checked(target: Any) -> Tensor:
    """Numbers in [0, 1], one or several."""
    values = as_tensor(target, "target").double().cpu().clone()
    if values.ndim > 1 or not values.numel() or not ((values >= 0) & (values <= 1)).all():
        raise AffscoreError(f"target must be a Signature, a number in [0, 1], or one per activation, got {target!r}")
    return values


def _scores_of(signature: Signature, covariance: CovarianceName, coupling: HeldCoupling) -> Any:
    """Those of its scores that a penalty computes, if it has them."""
    metadata, summary = signature.metadata, signature.summary
    own = {"units": "activations", "reduction": "mean", "order": "activate-first", "covariance": covariance}
    own |= {"bias": "none", "coupling": "exact"} if coupling == "fixed" else {"bias": "none"}
    for name, value in own.items():
        if (other := metadata.get(name, value)) != value:
            differs = f"the target is a signature with {name}={other!r}, and the penalty takes {name}={value!r}"
            raise AffscoreError(f"{differs}: measure it in the same way (target.scores takes its numbers as they are)")
    column = "score" if coupling == "fixed" or metadata.get("coupling") == "paired" else "paired"
    if column not in summary:
        raise AffscoreError("the target is a signature of an old version without paired scores: measure it anew")
    scores = summary[column]
    if (lacking := summary[scores.isna()]).size:
        names = ", ".join(f"{row.activation} of layer {row.layer!r} ({row.flag})" for row in lacking.itertuples())
        raise AffscoreError(f"the target has no score of {names}: choose others by layers=[...] and list their scores")
    return scores.to_numpy(dtype=float)
