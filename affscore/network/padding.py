"""Texts of several lengths, filled up to one: the padding does not count."""

from __future__ import annotations

import inspect
from collections import ChainMap
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.options import MASK

NOTE = "the padding that the data marks counts for no reduction and no criterion"

_ADVICE = "give windows of the same length without padding"


def tokens_of_text(entries: Any, unused: Any, name: str | None = MASK) -> Tensor | None:
    """Which tokens are of the text, tensor (N, length) of booleans; None where all are.

    Args:
        entries: What goes into the network, by name.
        unused: All entries of the data.
        name: Which entry is the mask: its ones are text, or padding where its name has "pad" in it, as
            ``key_padding_mask`` in PyTorch. None for no entry.

    Raises:
        AffscoreError: The data has padding, and the mask does not go into the network, or its decoder has other tokens;
            a sample is all padding; the mask is no tensor (N, length) of zeros and ones; or there is none of this name.

    >>> tokens_of_text({"attention_mask": torch.tensor([[1, 1], [1, 0]])}, {})
    tensor([[ True,  True],
            [ True, False]])
    >>> tokens_of_text({"pad_mask": torch.tensor([[0, 1]])}, {}, "pad_mask")
    tensor([[ True, False]])
    """
    if name is None:
        return None
    ones, zeros = ("padding", "text") if "pad" in name.lower() else ("text", "padding")
    mask = entries.get(name) if isinstance(entries, Mapping) else None
    if mask is None:
        mask = unused.get(name) if isinstance(unused, Mapping) else None
        if isinstance(mask, Tensor) and bool((mask.bool() == (ones == "padding")).any()):
            raise AffscoreError(
                f"the data marks padding ({name}), which the network would take for text, as its forward does not take "
                f"the mask; {_ADVICE}"
            )
        if mask is None and name != MASK:
            raise AffscoreError(f"the data has no entry {name!r}, which is to be the mask of padding")
        return None
    if not isinstance(mask, Tensor) or mask.ndim != 2 or not bool(((mask == 0) | (mask == 1)).all()):
        kind = f"{mask.dtype} of shape {tuple(mask.shape)}" if isinstance(mask, Tensor) else type(mask).__name__
        raise AffscoreError(
            f"{name} must be a tensor (N, length) of 1 for {ones} and 0 for {zeros}, got {kind} (mask=None reads none)"
        )
    text = mask.bool() == (ones == "text")
    if bool(text.all()):
        return None
    if not bool(text.any(dim=1).all()):
        raise AffscoreError(f"a sample of the data is all padding by its {name}; leave it out")
    for other, same in {"decoder_input_ids": entries.get("input_ids"), f"decoder_{name}": mask}.items():
        if isinstance(entries.get(other), Tensor) and not (
            isinstance(same, Tensor) and torch.equal(entries[other], same)
        ):
            raise AffscoreError(f"the data marks padding ({name}) of other tokens than those of {other}; {_ADVICE}")
    return text


def unread_masks(entries: Any, name: str | None = MASK) -> str:
    """The note on entries that may mark padding which counts all the same; empty where there is none.

    Args:
        entries: What goes into the network, by name.
        name: The mask that :func:`tokens_of_text` reads; of None nobody wants a note.

    Returns:
        It names those that end in "mask" and are tensors (N, length, ...) of zeros and ones.

    >>> unread_masks({"pad_mask": torch.tensor([[0, 1]])})
    "the padding that pad_mask may mark counts in every score and criterion: mask='pad_mask' leaves it out"
    >>> unread_masks({"attention_mask": torch.tensor([[0, 1]])})
    ''
    """
    if name is None or not isinstance(entries, Mapping):
        return ""
    masks = {name: value for name, value in entries.items() if str(name).endswith("mask") and _marks(value)}
    known = masks.get(name)
    names = [name for name, value in masks.items() if known is None or not torch.equal(value, known)]
    if not names:
        return ""
    return (
        f"the padding that {', '.join(names)} may mark counts in every score and criterion: mask={names[0]!r} leaves "
        "it out"
    )


def _marks(value: Any) -> bool:
    if not isinstance(value, Tensor) or value.ndim < 2 or value.is_complex():
        return False
    ones = value == 1
    return bool((ones | (value == 0)).all()) and bool(ones.any()) and not bool(ones.all())


def named_arguments(forward: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments of a forward by their names, with the entries of those that are dictionaries.

    >>> dict(named_arguments(lambda input_ids, attention_mask: None, (1, 2), {}))
    {'input_ids': 1, 'attention_mask': 2}
    """
    try:
        arguments: Mapping[str, Any] = inspect.signature(forward).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):  # a function of C; or they do not fit, which the forward says itself
        arguments = {**kwargs, "": args[0] if args else None}
    inner = (value for value in arguments.values() if isinstance(value, Mapping))
    return ChainMap(dict(arguments), *map(dict, inner))


def without_padding(tokens: Tensor, text: Tensor) -> Tensor:
    """The channels of the tokens that are of the text, (tokens, c).

    Args:
        tokens: Tensor (N, positions, c).
        text: Which positions are of the text, tensor (N, positions) of booleans.

    Raises:
        AffscoreError: The positions are not the tokens.
    """
    return tokens[_fitting(tokens, text)]


def reduce_text(
    tokens: Tensor, text: Tensor, reduction: str, positions: Callable[[Any], Tensor] | None = None
) -> Tensor:
    """As :func:`affscore.network.reduction.reduce`, of the tokens that are of the text alone.

    ``mean`` is the average over these; ``sample`` and ``positions`` draw among these.

    Args:
        tokens: Tensor (N, positions, c).
        text: Which positions are of the text, tensor (N, positions) of booleans, at least one of each sample.
        reduction: Its name.
        positions: Given how many tokens of text each sample has, an array (N,), which of them to take.

    Raises:
        AffscoreError: The positions are not the tokens, or a reduction that mixes positions and channels.

    >>> tokens = torch.tensor([[[1.0], [3.0], [50.0]]])
    >>> reduce_text(tokens, torch.tensor([[True, True, False]]), "mean").item()
    2.0
    """
    text = _fitting(tokens, text)
    if reduction in ("flatten", "published"):
        raise AffscoreError(f"reduction={reduction!r} would take in padding; use mean, sum, sample or positions")
    counts = text.sum(dim=1)
    if reduction in ("sample", "positions"):
        order = text.int().argsort(dim=1, descending=True, stable=True)  # those of the text first
        where = order.gather(1, (positions or unsaid)(counts.cpu().numpy()).to(order.device))
        return tokens.gather(1, where[:, :, None].expand(-1, -1, tokens.shape[2])).flatten(0, 1)
    total = torch.where(text[:, :, None], tokens, 0).sum(dim=1)  # padding may hold NaN: no product with zeros
    return total / counts[:, None] if reduction == "mean" else total


def unsaid(count: Any) -> Tensor:
    """Stands for the positions that a reduction draws, where nobody says them: an AffscoreError."""
    raise AffscoreError("the reductions sample and positions need positions=, which chooses among so many")


def _fitting(tokens: Tensor, text: Tensor) -> Tensor:
    if tokens.shape[:2] != text.shape:
        raise AffscoreError(
            f"it has {tokens.shape[1]} positions a sample, and the mask marks padding among {text.shape[1]} tokens; "
            f"{_ADVICE}, or mask=None, and padding counts"
        )
    return text.to(tokens.device)
