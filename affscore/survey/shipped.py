"""The results that come with the package, by the name of their network."""

from __future__ import annotations

import difflib
import functools
from pathlib import Path

from affscore.errors import AffscoreError
from affscore.network.result import Signature
from affscore.survey.files import read_signature
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
    model, _, weights = name.removeprefix(PREFIX).partition("@")
    results = _results(SHIPPED if folder is None else folder)
    names = {_short(str(result.metadata["model"])) for result in results}
    found = [
        result
        for result in results
        if model in (result.metadata["model"], _short(str(result.metadata["model"])))
        and (result.metadata["weights"] == weights if weights else result.metadata["weights"] != "random")
    ]
    if not found:
        near = difflib.get_close_matches(model, names, n=3)
        if model in names:
            hint = f"there are weights {', '.join(sorted(_weights_of(model, results)))}: name them behind an @"
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
        raise AffscoreError(f"{len(alike)} results are called {name!r}: add @ and the name of the weights")
    return alike[0]


@functools.cache
def _results(folder: Path) -> list[Signature]:
    return [read_signature(path) for path in Store(folder).files()] if folder.is_dir() else []


def _short(model: str) -> str:
    """The name of the factory where a network comes from a file.

    >>> _short("cifar_networks.py:resnet20"), _short("resnet18")
    ('resnet20', 'resnet18')
    """
    return model.rpartition(":")[2]


def _weights_of(model: str, results: list[Signature]) -> set[str]:
    return {str(r.metadata["weights"]) for r in results if _short(str(r.metadata["model"])) == model}
