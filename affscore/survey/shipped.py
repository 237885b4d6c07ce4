"""The results that come with the package, by the name of their network."""

from __future__ import annotations

import difflib
import functools
from pathlib import Path

from affscore.errors import AffscoreError
from affscore.network.options import COMMUTING
from affscore.network.reduction import check_order, check_reduction
from affscore.network.result import Signature, load_signature
from affscore.survey.store import Store

__all__ = ["PREFIX", "SHIPPED", "shipped_signature"]

SHIPPED = Path(__file__).parent / "results"
"""The store of the results that come with the package."""

PREFIX = "shipped:"


def shipped_signature(
    name: str, reduction: str = "mean", order: str = "activate-first", folder: Path | None = None
) -> Signature:
    """A finished result by the name of its network.

    Args:
        name: ``shipped:MODEL`` for trained weights, ``shipped:MODEL@random`` for random ones (or ``@`` and the name of
            the weights). Of a network in a file, ``shipped:FACTORY`` is enough.
        reduction: Which reduction.
        order: Which order.
        folder: The store to look into; None for the package's own.

    Returns:
        The result. Random weights are never given for trained ones.

    Raises:
        AffscoreError: No such result (near names are told), or several.
    """
    check_reduction(reduction)
    check_order(order)
    order = "activate-first" if reduction in COMMUTING else order
    model, _, weights = name.removeprefix(PREFIX).partition("@")
    results = _results(SHIPPED if folder is None else folder)
    names = {_short(str(result.metadata["model"])) for result in results}
    of_model = [result for result in results if result.metadata["model"] == model]
    of_model = of_model or [result for result in results if _short(str(result.metadata["model"])) == model]
    found = [
        result
        for result in of_model
        if (result.metadata["weights"] == weights if weights else result.metadata["weights"] != "random")
    ]
    if not found:
        near = difflib.get_close_matches(model, names, n=3)
        if of_model:
            known = sorted({str(result.metadata["weights"]) for result in of_model})
            hint = f"there are weights {', '.join(known)}: name them behind an @"
        elif near:
            hint = f"did you mean {' or '.join(near)}?"
        else:
            hint = "affscore.load_results() shows what there is"
        raise AffscoreError(f"no result that comes with the package is called {name!r}; {hint}")
    alike = [r for r in found if (r.metadata["reduction"], r.metadata["order"]) == (reduction, order)]
    if not alike:
        ways = sorted({f"{r.metadata['reduction']} with {r.metadata['order']}" for r in found})
        raise AffscoreError(
            f"the results of {name!r} are for {', '.join(ways)}; there is none for {reduction} with {order}"
        )
    if len(alike) > 1:
        what = " or ".join(f"{r.metadata['weights']} on {r.metadata['dataset']}, n={r.metadata['n']}" for r in alike)
        raise AffscoreError(
            f"{len(alike)} results are called {name!r} ({what}); name the weights behind an @, or give the file of one"
        )
    return alike[0]


@functools.cache
def _results(folder: Path) -> list[Signature]:
    return [load_signature(path) for path in Store(folder).files()] if folder.is_dir() else []


def _short(model: str) -> str:
    """The name of the factory where a network comes from a file.

    >>> _short("cifar_networks.py:resnet20"), _short("timm:resnet18")
    ('resnet20', 'timm:resnet18')
    """
    file, _, factory = model.rpartition(":")
    return factory if file.endswith(".py") else model
