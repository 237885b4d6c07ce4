"""The parameters of a notebook: the names it declares are the only ones it accepts."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from affscore.errors import AffscoreError

# What IPython itself puts beside the user's names, and the types that papermill can inject.
_OF_IPYTHON = {"In", "Out"}
_PLAIN = (str, int, float, bool, NoneType, list, dict)


def check_parameters(namespace: Mapping[str, Any]) -> None:
    """Refuse parameters that a notebook does not declare, and values of another type than declared.

    Call it as ``check_parameters(globals())`` in the cell after the one tagged ``parameters``. That cell
    declares by annotation (``n: int = 512``); what papermill injects after it is assigned without one. So a
    plain value under a name without an annotation is a parameter that was misspelt, which papermill itself
    only logs.

    Args:
        namespace: the names of the notebook so far. Names with a leading underscore, IPython's own, modules,
            functions and classes are passed over. An ``int`` is accepted where a ``float`` is declared, a
            ``bool`` is not.

    Raises:
        AffscoreError: a name is not declared, or a value is not of the declared type.

    Example:
        >>> declared = {"model": str, "n": int, "images": int | None}
        >>> check_parameters({"__annotations__": declared, "model": "resnet18", "n": 512, "images": None})
        >>> check_parameters({"__annotations__": declared, "modle": "resnet18"})
        Traceback (most recent call last):
        affscore.errors.AffscoreError: this notebook has no parameter 'modle' (did you mean 'model'?);
        it declares: model, n, images
    """
    declared: dict[str, Any] = namespace.get("__annotations__", {})
    for name, value in namespace.items():
        if name.startswith("_") or name in _OF_IPYTHON or not isinstance(value, _PLAIN):
            continue
        if name not in declared:
            near = get_close_matches(name, declared, n=2)
            hint = f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""
            names = ", ".join(declared) or "none"
            raise AffscoreError(f"this notebook has no parameter {name!r}{hint}; it declares: {names}")
        if not _fits(value, declared[name]):
            expected, got = _spelling(declared[name]), type(value).__name__
            raise AffscoreError(f"parameter {name!r} must be {expected}, got {got} {value!r}")


def _fits(value: Any, annotation: Any) -> bool:
    """Whether a plain value is of the annotated type."""
    origin, options = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        return any(_fits(value, option) for option in options)
    if origin in (list, dict):
        parts = (value.keys(), value.values()) if isinstance(value, dict) else (value,)
        fitting = (_fits(item, option) for items, option in zip(parts, options, strict=True) for item in items)
        return isinstance(value, origin) and all(fitting)
    if isinstance(value, bool):
        return annotation is bool
    return isinstance(value, int | float if annotation is float else annotation)


def _spelling(annotation: Any) -> str:
    """An annotation as one writes it."""
    return annotation.__name__ if annotation in _PLAIN else str(annotation)
