"""One colour and one marker for each family of networks, the same in every figure."""

from __future__ import annotations

from collections.abc import Iterable

from affscore.figures.style import MARKERS, PALETTE

__all__ = ["FAMILIES", "family_styles"]

FAMILIES = (
    "Pure convnets", "Inception", "ResNets", "DenseNets", "MNASNets", "EfficientNets", "ViTs", "Swins", "Convnexts",
)  # fmt: skip
"""The families of the paper's study, oldest first."""

_COLOURS = ("blue", "vermilion", "green", "purple", "orange", "sky", "black")


def family_styles(families: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Colour and marker of each family.

    Args:
        families: Names, in any order and as often as one likes.

    Returns:
        Colour and marker by family: first those of :data:`FAMILIES` in their order, then others as they come. A family
        of the study looks the same whichever others are there, and no two of the first 49 look alike.

    >>> family_styles(["ViTs", "mine", "ResNets"])
    {'ResNets': ('#009E73', 's'), 'ViTs': ('#000000', 'X'), 'mine': ('#009E73', 'D')}
    """
    named = set(families)
    others = dict.fromkeys(family for family in families if family not in FAMILIES)
    styles = {}
    for number, family in enumerate((*FAMILIES, *others)):
        if family in named:
            # the markers lag behind by one after each round of colours, so that no two families look alike
            marker = MARKERS[(number + number // len(_COLOURS)) % len(MARKERS)]
            styles[family] = (PALETTE[_COLOURS[number % len(_COLOURS)]], marker)
    return styles
