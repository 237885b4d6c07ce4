"""What each choice of a measurement does to a signature, one choice at a time."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from affscore.errors import AffscoreError
from affscore.options import DEFAULT, Specification


def effects_of_choices(scores: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    r"""How signatures change where one choice is another than the default, and all others are the default.

    Args:
        scores: For each network a table of scores with a row for each activation and a column for each specification
            (:attr:`affscore.Multiverse.scores`), the default among them.

    Returns:
        A row for each network and choice: ``network``, ``choice`` (which one was changed), ``to`` (its other value),
        ``activations`` (that have both scores), ``mean_change``, ``largest_fall`` and ``largest_rise`` (the
        smallest and the largest change) of the scores, and ``rank_correlation`` of both signatures
        (:func:`affscore.network.multiverse.rank_correlation`).

    Raises:
        AffscoreError: A table without the default specification.

    >>> columns = pd.MultiIndex.from_tuples([Specification(), Specification(order="reduce-first")])
    >>> found = effects_of_choices({"net": pd.DataFrame([[0.5, 0.4], [0.6, 0.3], [0.9, 1.0]], columns=columns)})
    >>> found.round(2).to_dict("records")[0]["mean_change"], float(found["rank_correlation"].round(2)[0])
    (-0.1, 0.5)
    """
    from affscore.network.multiverse import rank_correlation  # brings PyTorch

    rows = []
    for network, table in scores.items():
        if DEFAULT not in table.columns:
            raise AffscoreError(f"the scores of {network} lack the default specification ({', '.join(DEFAULT)})")
        for specification in (Specification(*words) for words in table.columns):
            differences = specification.differences(DEFAULT)
            if len(differences) != 1:
                continue
            change = (table[specification] - table[DEFAULT]).dropna()
            rows.append({
                "network": network,
                "choice": differences[0],
                "to": getattr(specification, differences[0]),
                "activations": len(change),
                "mean_change": change.mean(),
                "largest_fall": change.min(),
                "largest_rise": change.max(),
                "rank_correlation": rank_correlation(table[DEFAULT], table[specification]),
            })  # fmt: skip
    return pd.DataFrame(rows)
