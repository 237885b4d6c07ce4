"""The looks that only the book has: of families, of an activation's input, output and fit, and of a table."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from html import escape
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from affscore.errors import AffscoreError
from affscore.plots.style import PAGE_WIDTH, PALETTE, series_style

if TYPE_CHECKING:
    from IPython.display import HTML
    from matplotlib.figure import Figure

INPUT, OUTPUT, FIT = PALETTE["grey"], PALETTE["vermilion"], PALETTE["green"]
"""The input of an activation, its output, and the affine image of the input: one colour each, everywhere."""

FAMILY_LOOKS = {
    "Pure convnets": ("blue", "o"), "Inception": ("vermilion", "^"), "ResNets": ("green", "s"),
    "DenseNets": ("purple", "D"), "MNASNets": ("orange", "v"), "EfficientNets": ("sky", "P"), "ViTs": ("black", "X"),
    "Swins": ("wine", "p"), "ConvNeXts": ("brown", "h"), "SqueezeNets": ("orange", "8"),
    "MobileNets": ("vermilion", "*"), "ShuffleNets": ("blue", "<"),
    "Wide ResNets": ("green", ">"), "ResNeXts": ("green", "d"),
    "ResNet": ("green", "o"), "SqueezeNet": ("purple", "o"), "MobileNetV1": ("vermilion", "v"),
    "MobileNetV2": ("blue", "s"), "MobileNetV3": ("wine", "P"), "MobileNet-EdgeTPU": ("brown", "X"),
    "EfficientNet-Lite": ("sky", "o"), "residual": ("blue", "^"), "plain": ("orange", "s"), "VGG-like": ("green", "D"),
    "DenseNet": ("black", "o"),
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
    {'ResNets': ('#009E73', 's'), 'ViTs': ('#000000', 'X'), 'mine': ('#D55E00', 'D')}
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


def narrow(figure: Figure, columns: int = 1) -> None:
    """Make a figure of one column three quarters as wide as a page: a phone then shows its words larger.

    Its cell asks for a width of 540 px, so that on a screen its letters are as large as those of a wide one.
    """
    figure.set_figwidth(PAGE_WIDTH * (0.75 if columns == 1 else 1))


MISSING = "–"

NUMBERS = re.compile(r"[\W\d_]*((to|of|and|e)[\W\d_]*)*")
"""What a cell of numbers is: ``0.62``, ``8e-15``, ``0.1 to 0.3``, ``3 of 8``."""


class Words(pd.DataFrame):
    """A table of words. A page shows all of it: long sentences are not cut, and no row is left out.

    Columns of numbers are aligned as the page has it (at the right), columns of words at the left.
    """

    @property
    def _constructor(self) -> type[Words]:
        return Words

    def _repr_html_(self) -> str | None:
        levels, names = self.index.nlevels, (escape(str(name or "")) for name in self.index.names)
        nameless: list[Any] = [None] * levels  # the names of the index stand in the row of the headings
        shown = pd.DataFrame(self).rename_axis(index=nameless, columns=None)
        with pd.option_context("display.max_colwidth", None, "display.max_rows", None, "display.max_columns", None):
            head, end, body = shown.to_html(notebook=True).partition("</thead>")
        head = re.sub("<th></th>", lambda _: f"<th>{next(names)}</th>", head, count=levels)
        body = re.sub(r"\[(\S+), (\S+)\]", "[\\1,\N{NO-BREAK SPACE}\\2]", body)  # an interval stays on a line
        words = [_of_words(self.iloc[:, place]) for place in range(self.shape[1])]
        return _at_the_left(head, "th", [True] * levels + words) + end + _at_the_left(body, "td", words)


def table(frame: pd.DataFrame, columns: Mapping[str, str] | None = None, digits: int | Mapping[str, int] = 2) -> Words:
    """A table as a page shows it.

    Args:
        frame: The numbers. Its index stays, and with it the order of the rows.
        columns: The columns that are shown, in their order, each with its heading; None for all, under their own names.
            A heading that ends in ``(%)`` shows shares in per cent.
        digits: Decimals of numbers that are not whole, for all columns or by column (2 where one is not named).

    Returns:
        A table of words: numbers with so many decimals, whole ones with none, missing ones as a dash, yes and no.

    Raises:
        AffscoreError: A column that the table does not have.

    >>> scores = pd.DataFrame({"score": [0.617, None], "share": [0.25, 0.5], "width": [64, 64]}, index=["relu", "gelu"])
    >>> table(scores, {"width": "channels", "score": "score", "share": "not linear (%)"})
         channels score not linear (%)
    relu       64  0.62          25.00
    gelu       64     –          50.00
    >>> table(scores, {"share": "not linear (%)"}, digits=0)["not linear (%)"].tolist()
    ['25', '50']
    """
    headings = columns or {name: str(name) for name in frame.columns}
    unknown = [name for name in headings if name not in frame.columns]
    if unknown:
        known = ", ".join(map(str, frame.columns))
        raise AffscoreError(f"the table has no column {', '.join(map(str, unknown))}; it has {known}")
    places = {} if isinstance(digits, int) else digits
    default = digits if isinstance(digits, int) else 2
    shown = {}
    for name, heading in headings.items():
        factor = 100 if str(heading).endswith("(%)") else 1
        shown[heading] = [_in_words(value, places.get(name, default), factor) for value in frame[name]]
    return Words(shown, index=frame.index)


def say(numbers: pd.DataFrame, form: str = "{:.2f}") -> None:
    """Give each number of a small table a name, by which the sentences of its page repeat it.

    Args:
        numbers: The table. What stands in row ``plain`` and column ``mean`` is called ``plain-mean``; in the text
            ``{glue:text}`plain-mean` `` shows it.
        form: How numbers are written, such as ``"{:.0%}"``.
    """
    from myst_nb import glue  # what builds the site; a page that is only run needs it, too

    for row, values in numbers.iterrows():
        for column, value in values.items():
            shown = value if isinstance(value, str) else form.format(value).replace("-", "\N{MINUS SIGN}")
            glue(f"{row}-{column}", shown, display=False)


def _of_words(cells: Iterable[str]) -> bool:
    """Whether at least half of the cells that are filled hold words, and there is one."""
    filled = [str(cell) for cell in cells if cell not in ("", MISSING)]
    words = sum(NUMBERS.fullmatch(cell) is None for cell in filled)
    return bool(filled) and 2 * words >= len(filled)


def _at_the_left(html: str, tag: str, words: list[bool]) -> str:
    """Rows of HTML where the cells of columns of words are aligned at the left.

    >>> _at_the_left("<tr><td>0.62</td><td>usual</td></tr>", "td", [False, True])
    '<tr><td>0.62</td><td style="text-align: left">usual</td></tr>'
    """
    columns = cycle(words)
    return re.sub(f"<{tag}>", lambda cell: f'<{tag} style="text-align: left">' if next(columns) else cell[0], html)


def _in_words(value: Any, digits: int, factor: int) -> str:
    """A value as it is written."""
    if np.ndim(value) == 0 and pd.isna(value):
        return MISSING
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)) and factor == 1:
        return f"{value:,}".replace(",", "\u202f")  # a narrow no-break space
    if isinstance(value, (int, float, np.integer, np.floating)):
        return f"{factor * float(value):z.{digits}f}"
    return str(value)


def window(name: str, numbers: pd.DataFrame) -> HTML:
    """A place where a page of the site shows something to touch, and the numbers for the script that fills it.

    Args:
        name: Of the place; ``book/_static`` has a script for it.
        numbers: What the script draws.

    >>> "[0.5,0.7]" in window("some-window", pd.DataFrame([[0.5, 0.7]])).data
    True
    """
    from IPython.display import HTML

    data = numbers.to_json(orient="split", double_precision=3)
    instead = "Here the built site has a window to touch; it needs JavaScript."
    return HTML(f'<div class="window" id="{name}"><script type="application/json">{data}</script>{instead}</div>')


def download(frame: pd.DataFrame, name: str) -> str:
    """A link to a table that is in the page itself, as a file.

    >>> download(pd.DataFrame({"a": [1]}), "a.csv")
    '<a download="a.csv" href="data:text/csv;base64,YQoxCg==">a.csv</a> (1 row)'
    """
    data = b64encode(frame.to_csv(index=False).encode()).decode()
    rows = f"{len(frame)} row{'s' * (len(frame) != 1)}"
    return f'<a download="{name}" href="data:text/csv;base64,{data}">{name}</a> ({rows})'
