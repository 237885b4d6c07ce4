"""What each choice of a measurement does to a signature, one choice at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from affscore.analysis.permutation import PERMUTATIONS
from affscore.analysis.tables import check_columns
from affscore.analysis.time_trends import trend_within
from affscore.errors import AffscoreError
from affscore.options import DEFAULT, Specification

LEVEL = 0.05
"""A trend is decided below this p-value."""


def effects_of_choices(scores: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    r"""How signatures change where one choice is another than the default, and all others are the default.

    Args:
        scores: For each network a table of scores with a row for each activation and a column for each specification
            (:attr:`affscore.Multiverse.scores`), the default among them.

    Returns:
        A row for each network and choice: ``network``, ``choice`` (which one was changed), ``to`` (its other value),
        ``activations`` (that have both scores), ``mean_change``, ``largest_fall`` and ``largest_rise`` (the
        smallest and the largest change) of the scores, and ``rank_correlation`` of both signatures
        (:func:`affscore.network.table.rank_correlation`).

    Raises:
        AffscoreError: A table without the default specification.

    >>> columns = pd.MultiIndex.from_tuples([Specification(), Specification(order="reduce-first")])
    >>> found = effects_of_choices({"net": pd.DataFrame([[0.5, 0.4], [0.6, 0.3], [0.9, 1.0]], columns=columns)})
    >>> found.round(2).to_dict("records")[0]["mean_change"], float(found["rank_correlation"].round(2)[0])
    (-0.1, 0.5)
    """
    from affscore.network.table import rank_correlation  # brings PyTorch

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


def depth_trends(
    rows: pd.DataFrame,
    statistics: Sequence[str] = ("mean", "std", "min"),
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> pd.DataFrame:
    """How statistics of signatures go with the number of activations within kinds, under each specification.

    Args:
        rows: A row for each network and specification: the words of the specification, ``kind`` (what networks are
            compared within), ``activations`` and the statistics. The default specification is among them.
        statistics: Which columns.
        permutations: As of :func:`affscore.analysis.trend_within`.
        seed: The same.

    Returns:
        A row for each statistic: ``networks``; ``correlation`` and ``p`` under the default; in how many specifications
        it ``rises``, ``falls`` and is ``undecided`` (two-sided at 5 %), and the ``largest_p`` of them.

    Raises:
        AffscoreError: A column that is not there, no rows of the default, or what has no trend.

    >>> rows = [(*Specification(), kind, depth, depth / 10) for kind in ("plain", "residual") for depth in range(4)]
    >>> table = pd.DataFrame(rows, columns=[*Specification._fields, "kind", "activations", "mean"])
    >>> depth_trends(table, ["mean"])[["networks", "rises", "falls", "undecided"]].values.tolist()
    [[8, 1, 0, 0]]
    """
    words = list(Specification._fields)
    check_columns(rows, [*words, "kind", "activations"], statistics)
    choices = {Specification(*map(str, key)): some for key, some in rows.groupby(words, sort=False)}
    if DEFAULT not in choices:
        raise AffscoreError(f"the networks lack the default specification ({', '.join(DEFAULT)})")
    found = {}
    for name in statistics:
        tests = {
            choice: trend_within(some["activations"], some[name], some["kind"], permutations, seed)
            for choice, some in choices.items()
        }
        sure = [test.observed for test in tests.values() if test.two_sided < LEVEL]
        rises = sum(value > 0 for value in sure)
        found[name] = {
            "networks": len(choices[DEFAULT]),
            "correlation": tests[DEFAULT].observed,
            "p": tests[DEFAULT].two_sided,
            "rises": rises,
            "falls": len(sure) - rises,
            "undecided": len(tests) - len(sure),
            "largest_p": max(test.two_sided for test in tests.values()),
        }
    return pd.DataFrame(found.values(), index=list(found))
