"""What "From Alexnet to Transformers" prints and says: a module a figure or table.

A module may have a function ``rows``, which compares the numbers that are printed there with ours, and claims
(:func:`companion.papers.claim.claim`). The ledger finds both.
"""

PAPER = "From Alexnet to Transformers"
FIRST = "first version"
"""The paper's first version, which has its own sections and figures."""
