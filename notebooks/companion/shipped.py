"""The results that come with the companion: their folders, and each by the name of its network."""

from __future__ import annotations

import functools
from pathlib import Path

import pandas as pd

from affscore.errors import AffscoreError
from affscore.models.naming import near
from affscore.network.result import Signature, load_signature
from affscore.options import Options, OrderName, ReductionName, checked
from affscore.survey.store import Store

RESULTS = Path(__file__).parent / "data" / "results"
"""The store of the signatures that come with the companion."""

MULTIVERSES = Path(__file__).parent / "data" / "multiverses"
"""The store of the multiverses that come with the companion."""


def shipped_signature(
    name: str, reduction: ReductionName = "mean", order: OrderName = "activate-first", folder: Path = RESULTS
) -> Signature:
    """A finished result by the name of its network.

    Args:
        name: MODEL for trained weights, MODEL@random for random ones (or ``@`` and the name of the weights). Of a
            network in a file, FACTORY is enough.
        reduction: Which reduction.
        order: Which order.
        folder: The store to look into.

    Returns:
        The result. Random weights are never given for trained ones.

    Raises:
        AffscoreError: No such result (the message has near names), or several.
    """
    wanted = checked(Options(reduction=reduction, order=order))
    model, _, weights = name.partition("@")
    results = _descriptions(folder)
    of_model = results[results["model"] == model]
    if of_model.empty:
        of_model = results[results["model"].map(_short) == model]
    found = of_model[of_model["weights"] == weights if weights else of_model["weights"] != "random"]
    if found.empty:
        short = [name for name in results["model"].map(_short) if ":" in model or ":" not in name]
        hint = near(model, short) or "; affscore.load_results(companion.shipped.RESULTS) shows what there is"
        if not of_model.empty:
            hint = f"; there are weights {', '.join(sorted(set(of_model['weights'])))}: name them behind an @"
        raise AffscoreError(f"no result that comes with the companion is called {name!r}{hint}")
    alike = found[(found["reduction"] == wanted.reduction) & (found["order"] == wanted.order)]
    if alike.empty:
        ways = ", ".join(sorted(set(found["reduction"] + " with " + found["order"])))
        raise AffscoreError(
            f"the results of {name!r} are for {ways}; there is none for {reduction} with {wanted.order}"
        )
    if len(alike) > 1:
        what = " or ".join(f"{one.weights} on {one.dataset}, n={one.n}" for one in alike.itertuples())
        raise AffscoreError(
            f"{len(alike)} results are called {name!r} ({what}); name the weights behind an @, or give the file of one"
        )
    return load_signature(alike.index[0])


@functools.cache
def _descriptions(folder: Path) -> pd.DataFrame:
    """A row for each result, by its file."""
    found = Store(folder).descriptions() if folder.is_dir() else {}
    columns = ["model", "weights", "dataset", "reduction", "order", "n"]
    return pd.DataFrame(list(found.values()), index=pd.Index(found, dtype=object), columns=columns)


def _short(model: str) -> str:
    """The name of the factory where a network comes from a file.

    >>> _short("cifar_networks.py:resnet20"), _short("timm:resnet18")
    ('resnet20', 'timm:resnet18')
    """
    file, _, factory = model.rpartition(":")
    return factory if file.endswith(".py") else model
