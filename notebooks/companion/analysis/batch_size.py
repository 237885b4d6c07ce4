"""What batches of n samples say, against a reference: how much chance there is in it, and how much bias."""

from __future__ import annotations

import pandas as pd

from affscore.errors import AffscoreError


def effects_of_size(study: pd.DataFrame) -> pd.DataFrame:
    """What the batch size, and the images in a batch, do to the scores of each network.

    Args:
        study: As of :func:`companion.studies.study_of`, under one specification. Of the sizes those count that
            have two batches or more.

    Returns:
        A row for each network (``model``). All are root mean squares over its activations, but for the last:

        * ``chance_of_few``, ``chance_of_many``: the standard deviation of a score over the batches of the smallest n,
          and of the largest;
        * ``change``: the score at the largest n - that at the smallest, each the mean over its batches;
        * ``within``: the standard deviation over the activations, at the largest n.

    Raises:
        AffscoreError: One size only, or two scores of an activation at the same n.

    >>> rows = pd.DataFrame({"model": "net", "index": [0, 1, 0, 1], "n": [64, 64, 256, 256], "batches": 4})
    >>> rows = rows.assign(score=[0.5, 0.7, 0.53, 0.74], score_std=[0.02, 0.02, 0.01, 0.01])
    >>> effects_of_size(rows).round(3).loc["net"].tolist()
    [0.02, 0.01, 0.035, 0.148]
    """
    repeated = study[study["batches"] > 1]
    if len(set(repeated["n"])) < 2:
        raise AffscoreError("expected two batch sizes or more, with two batches or more of each")
    if repeated.duplicated(["model", "index", "n"]).any():
        raise AffscoreError("there are two scores of an activation at the same n: choose one specification")
    few, many = (
        repeated[repeated["n"] == n].set_index(["model", "index"]) for n in (min(repeated["n"]), max(repeated["n"]))
    )
    squares = {"chance_of_few": few["score_std"], "chance_of_many": many["score_std"]}
    squares["change"] = many["score"] - few["score"]
    table = pd.DataFrame({name: (one**2).groupby("model", sort=False).mean() ** 0.5 for name, one in squares.items()})
    return table.assign(within=many["score"].groupby("model").std())
