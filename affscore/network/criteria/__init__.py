"""The criteria that the score is compared with: each module of this folder declares one, or a family.

A new criterion is a new module with ``CRITERIA``, a tuple of :class:`~affscore.network.criteria.declaration.Criterion`.
"""

from __future__ import annotations

import math
import pkgutil
from collections.abc import Collection, Iterable
from importlib import import_module

import pyarrow as pa

from affscore.errors import AffscoreError
from affscore.network.columns import ALWAYS, EXTRAPOLATED
from affscore.options import UnitsName, usual_criteria

_MODULES = [import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)]
_DECLARED = (criterion for module in _MODULES for criterion in getattr(module, "CRITERIA", ()))

CRITERIA = {one.name: one for one in sorted(_DECLARED, key=lambda criterion: criterion.place or math.inf)}
"""All criteria by their names, in the order of their columns."""


def choose_criteria(criteria: bool | str | Collection[str], units: UnitsName = "activations") -> tuple[str, ...]:
    """The names of the criteria to compute: the usual ones for True (:func:`affscore.options.usual_criteria`).

    >>> choose_criteria(True), choose_criteria("r2, cka"), choose_criteria("all") == tuple(CRITERIA)
    (('cka', 'norm', 'sparsity', 'entropy', 'r2'), ('cka', 'r2'), True)
    """
    if isinstance(criteria, bool):
        return usual_criteria(units) if criteria else ()
    if isinstance(criteria, str):
        criteria = [name.strip() for name in criteria.split(",")]
    given = list(criteria) if isinstance(criteria, Collection) else [criteria]
    if unknown := [name for name in given if name not in [*CRITERIA, "all"]]:
        raise AffscoreError(
            f"criteria must be True, False, all, or names among {', '.join(CRITERIA)}, got {unknown[0]!r}"
        )
    return tuple(name for name in CRITERIA if name in given or "all" in given)


def schema(criteria: Iterable[str], extrapolated: bool = False) -> pa.Schema:
    """The columns of a result that has these criteria, or extrapolated scores, in their order.

    >>> schema(["cka"]).names[-3:]
    ['flag', 'cka', 'seconds']
    """
    *first, last = ALWAYS
    more = [field for name in criteria for field in CRITERIA[name].columns]
    return pa.schema([*first, *(EXTRAPOLATED if extrapolated else ()), *more, last])


SCHEMA = schema(CRITERIA)
"""The columns of a result that has all criteria."""

COLUMNS = tuple(schema(CRITERIA, extrapolated=True).names)
"""The names of all columns that a result may have, in their order."""
