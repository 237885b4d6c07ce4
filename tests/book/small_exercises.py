"""A notebook of two exercises, one with a check and one with a rubric, as the book writes them."""

from __future__ import annotations

from tests.book.small_book import HEADER

CELLS = """\
# %% [markdown]
# # A small chapter
#
# See {doc}`07_other` and {cite}`bouniot2025alexnet`.

# %% tags=["parameters"]
n: int = 2  # a number

# %% tags=["remove-cell"]
from companion.parameters import check_parameters

check_parameters(globals())

# %%
import companion

# %% [markdown]
# ## Exercises
#
# ```{exercise} 3.1 How many images?
# :label: ex-3-1
# :nonumber:
#
# *Compute · 10 minutes · easy.* Aim: see how the error
# falls with the number.
#
# How many? See {eq}`eq-3-x`.
# ```
#
# ```{admonition} Hint for 3.1
# :class: dropdown hint
#
# The HINT of it.
# ```

# %%
answer = None  # your answer here: a number
# companion.exercises.check("3.1", answer)

# %% [markdown]
# ```{solution-start} ex-3-1
# :class: dropdown
# ```
#
# The SECRET of it.

# %%
images = SECRET
companion.exercises.check("3.1", images)

# %% [markdown]
# More SECRET words.

# %% [markdown]
# ```{solution-end}
# ```
#
# Some text between.
#
# ```{exercise} 3.4 Why so?
# :label: ex-3-4
# :nonumber:
#
# *Argue · 1 minute · hard.* Aim: write.
#
# Say why.
# ```
#
# ```{admonition} Hint for 3.4
# :class: dropdown hint
#
# Another HINT.
# ```

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ```{solution-start} ex-3-4
# :class: dropdown
# ```
#
# Because of the SECRET.
#
# **Rubric** (3 points)
#
# * 2: the SECRET is named,
#   in a sentence.
# * 1: and explained.
#
# ```{solution-end}
# ```
#
# ## Afterwards

# %%
print("end")
"""


def small_exercises(right: str = "0") -> str:
    """The source of the notebook, with this code as the right answer."""
    return HEADER + CELLS.replace("images = SECRET", f"images = {right}")
