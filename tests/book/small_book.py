"""A book of one notebook, for the tests of the scripts."""

from __future__ import annotations

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]

HEADER = """\
# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

"""
NOTEBOOK = """\
# %% [markdown]
# # A title

# %% tags=["parameters"]
n: int = 2  # a number

# %% tags=["remove-cell"]
from companion.parameters import check_parameters

check_parameters(globals())
"""


class SmallBook:
    """A book of one notebook in a folder of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.script = root / "notebooks" / "07_small.py"
        self.params = root / "notebooks" / "params" / "mini.yml"
        self.params.parent.mkdir(parents=True)
        self.write("")

    def write(self, cells: str, params: str = "n: 3\n") -> None:
        self.script.write_text(HEADER + NOTEBOOK + cells)
        self.params.write_text(params)
