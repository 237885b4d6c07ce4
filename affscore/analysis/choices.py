"""What each choice of a measurement does to a signature, one choice at a time."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from affscore.errors import AffscoreError

CHOICES = ("reduction", "order", "covariance", "coupling", "bias")
"""The levels of the columns of the scores, see :attr:`affscore.Multiverse.scores`."""

USUAL = ("mean", "activate-first", "ledoit-wolf", "exact", "none")
"""The default of each choice, which is what the papers measured on convolutional networks."""


def effects_of_choices(scores: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    r"""How signatures change where one choice is another than the default, and all others are the default.

    Args:
        scores: For each network a table of scores with a row for each activation and a column for each specification
            (:attr:`affscore.Multiverse.scores`), the default among them.

    Returns:
        A row for each network and choice: ``network``, ``choice`` (which one was changed), ``to`` (its other value),
        ``activations`` (that have both scores), ``mean_change`` and ``largest_change`` (the one largest in size) of the
        scores, and ``rank_correlation``, Spearman's, of both signatures; missing where there are fewer than three
        activations, or scores that are all the same.

    Raises:
        AffscoreError: A table without the default specification.

    >>> columns = pd.MultiIndex.from_tuples([USUAL, ("mean", "reduce-first", *USUAL[2:])], names=CHOICES)
    >>> found = effects_of_choices({"net": pd.DataFrame([[0.5, 0.4], [0.6, 0.3], [0.9, 1.0]], columns=columns)})
    >>> found.round(2).to_dict("records")[0]["mean_change"], float(found["rank_correlation"].round(2)[0])
    (-0.1, 0.5)
    """
    rows = []
    for network, table in scores.items():
        if USUAL not in table.columns:
            raise AffscoreError(f"the scores of {network} lack the default specification ({', '.join(USUAL)})")
        default = table[USUAL]
        for specification in table.columns:
            differs = [place for place, pair in enumerate(zip(specification, USUAL, strict=True)) if pair[0] != pair[1]]
            if len(differs) != 1:
                continue
            both = pd.DataFrame({"default": default, "other": table[specification]}).dropna()
            change = both["other"] - both["default"]
            varied = len(both) > 2 and (both.max() > both.min()).all()
            rows.append({
                "network": network,
                "choice": CHOICES[differs[0]],
                "to": specification[differs[0]],
                "activations": len(both),
                "mean_change": change.mean(),
                "largest_change": max(change, key=abs, default=float("nan")),
                "rank_correlation": both["default"].corr(both["other"], method="spearman") if varied else float("nan"),
            })  # fmt: skip
    return pd.DataFrame(rows)
