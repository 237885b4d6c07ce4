"""The looks that only the book has: of families of networks, and of an activation's input, output and fit."""

from __future__ import annotations

from collections.abc import Iterable

from affscore.plots.style import PALETTE, series_style

INPUT, OUTPUT, FIT = PALETTE["grey"], PALETTE["vermilion"], PALETTE["green"]
"""The input of an activation, its output, and the affine image of the input: one colour each, everywhere."""

FAMILY_LOOKS = {
    "Pure convnets": ("blue", "o"), "Inception": ("vermilion", "^"), "ResNets": ("green", "s"),
    "DenseNets": ("purple", "D"), "MNASNets": ("orange", "v"), "EfficientNets": ("sky", "P"), "ViTs": ("black", "X"),
    "Swins": ("wine", "p"), "ConvNeXts": ("brown", "h"), "SqueezeNets": ("orange", "8"),
    "MobileNets": ("vermilion", "*"), "ShuffleNets": ("blue", "<"),
    "Wide ResNets": ("green", ">"), "ResNeXts": ("green", "d"),
}  # fmt: skip
"""Colour and marker of a family, the same over the whole book: the nine of the paper's study, oldest first, which have
a colour each, and further ones."""

FAMILIES = tuple(FAMILY_LOOKS)[:9]
"""The families of the paper's study, oldest first."""


def family_styles(families: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Colour and marker of each family.

    Args:
        families: Names, in any order and as often as one likes.

    Returns:
        Colour and marker by family: first those of :data:`FAMILY_LOOKS` in their order, which look the same whichever
        others are there, then others as they come. No two of the first 49 look alike.

    >>> family_styles(["ViTs", "mine", "ResNets"])
    {'ResNets': ('#009E73', 's'), 'ViTs': ('#000000', 'X'), 'mine': ('#0072B2', 's')}
    """
    named = dict.fromkeys(families)
    known = {name: (PALETTE[colour], marker) for name, (colour, marker) in FAMILY_LOOKS.items()}
    taken = set(known.values())
    for family in named:
        if family not in known:
            looks = ((look["color"], look["marker"]) for look in map(series_style, range(14, 1000)))
            known[family] = next((look for look in looks if look not in taken), ("#000000", "."))
            taken.add(known[family])
    return {family: look for family, look in known.items() if family in named}
