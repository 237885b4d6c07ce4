"""Calls of elementwise functions that bend features and have no score, and the sentence that names them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from affscore.network.formulas import Step

__all__ = ["CURVES", "Bend", "sentence"]

CURVES = frozenset(
    "sin cos tan sinh cosh asin acos atan arcsin arccos arctan asinh acosh atanh arcsinh arccosh arctanh sinc exp exp2 "
    "expm1 log log2 log10 log1p sqrt rsqrt reciprocal rdiv rtruediv abs absolute square pow ipow rpow float_power sign "
    "sgn round floor ceil trunc frac fmod remainder erfc erfinv logit clamp clamp_min clamp_max clip".split()
)
"""The names of functions of one number that are not affine, and of which no activation is made up by itself."""

_WRITTEN = {
    "mul": "x * x", "imul": "x * x", "rmul": "x * x", "multiply": "x * x", "rdiv": "1 / x", "rtruediv": "1 / x",
    "ipow": "torch.pow", "rpow": "torch.pow",
}  # fmt: skip
_LAYERS = 3


@dataclass(eq=False)
class Bend:
    """One call of such a function, and what became of its output.

    Attributes:
        function: Its name, without underscores.
        frame: The innermost module that was running, and the index of its run.
        bent: The activation whose output it squares, or "".
        step: How its output was computed.
        owner: The class of the module, if that is elementwise as a whole, or "".
        used: Whether features were computed from the output.
        read: Whether anything was.
        part: Whether it is a part of an activation that counts, or of a softmax.
        feeds: Later calls of this kind, which read the output.
    """

    function: str
    frame: tuple[str, int]
    bent: str = ""
    step: Step | None = None
    owner: str = ""
    used: bool = False
    read: bool = False
    part: bool = False
    feeds: list[Bend] = field(default_factory=list)

    @property
    def written(self) -> str:
        """As a reader would write it."""
        return _WRITTEN.get(self.function, f"torch.{self.function}")


def sentence(bends: Sequence[Bend]) -> str:
    """Which of these calls bend features, where they are, and the line that declares them; empty if none does."""
    counted = _counted(bends)
    if not counted:
        return ""
    places: dict[str, Counter[str]] = {}
    for bend in counted:
        name = bend.written + (f" of the output of {bend.bent}" if bend.bent else "")
        places.setdefault(name, Counter())[bend.frame[0] or "(root)"] += 1
    found = []
    for name, layers in places.items():
        calls, more = sum(layers.values()), len(layers) - _LAYERS
        where = ", ".join(map(repr, list(layers)[:_LAYERS])) + (f" and {more} more" if more > 0 else "")
        found.append(f"{name} in layer{'s' * (len(layers) > 1)} {where} ({calls} call{'s' * (calls > 1)})")
    return f"{', '.join(found)}; {_line(counted, bends)}"


def _counted(bends: Sequence[Bend]) -> list[Bend]:
    """Those that bend features, and not only a norm, a variance or a softmax."""
    found: dict[Bend, None] = {}
    for bend in reversed(bends):
        if not bend.part and (bend.used or not bend.read or any(later in found for later in bend.feeds)):
            found[bend] = None
    return list(found)[::-1]


def _line(counted: Sequence[Bend], bends: Sequence[Bend]) -> str:
    owners = dict.fromkeys(bend.owner for bend in counted if bend.owner)
    elsewhere = {bend.written for bend in bends if bend not in counted}
    rest = dict.fromkeys(bend.written for bend in counted if not bend.owner)
    alone = [name for name in rest if _can_be_declared(name) and name not in elsewhere]
    entries = [f'"{name.removeprefix("torch.")}": {name}' for name in alone]
    advice = []
    them = "it" if len(counted) == 1 else "them"
    if entries:
        named = [f'"{owner.lower()}": {owner}' for owner in owners]
        advice.append(f"activations={{{', '.join([*named, *entries])}}} counts {them}")
    elif owners:
        advice.append(f"activations=[{', '.join(owners)}] counts {them}")
    if others := [name for name in rest if name not in alone]:
        advice.append(f"to count {' and '.join(others)}, put it into a module of its own and declare its class")
    return "; ".join(advice)


def _can_be_declared(written: str) -> bool:
    name = written.removeprefix("torch.")
    return name in CURVES | {"maximum", "minimum", "fmax", "fmin"} and hasattr(torch, name)
