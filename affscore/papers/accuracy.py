"""Accuracy beside the statistics of signatures, as figure 4 and the first version of the paper look at it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from affscore.analysis import best_fit_test, over_seeds, p_value_text, signature_statistics
from affscore.errors import AffscoreError
from affscore.papers.claim import Verdict
from affscore.papers.estimate import MissingResultsError, if_significant, not_significant, require
from affscore.papers.evidence import counted
from affscore.papers.groups import accuracy_groups, group_of_each
from affscore.papers.results import Results
from affscore.zoo.models import characteristics

PERMUTATIONS = 10_000


def accuracy_table(results: Results) -> pd.DataFrame:
    """Accuracy, statistics and common characteristics of the networks, with the groups of both papers.

    Of networks that were trained several times means; of the papers' own networks torchvision's accuracies.

    Args:
        results: Of one kind.

    Raises:
        MissingResultsError: There are no accuracies.
    """
    common = ["depth", "parameters", "gflops"]
    if results.trainings is not None and results.zoo is not None:
        zoo = results.zoo.set_index("name").rename(columns={"flops": "gflops"})  # a unit, which no fit sees
        table = over_seeds(results.trainings).join(zoo[common])
    else:
        require(not results.analogue and set(group_of_each()) <= results.signatures.keys())
        scores = {name: results.scores(name) for name in results.signatures}
        table = characteristics(list(scores))[["accuracy", *common]].join(signature_statistics(scores))
    return table.join(accuracy_groups(table.index).drop(columns="name"))


def accuracy_goes_with(
    results: Results, column: str, candidates: Mapping[str, Sequence[str]], signs: Mapping[str, int] | None = None
) -> Verdict:
    """Whether accuracy goes with the best of some statistics in each group, when it is permuted within families.

    Args:
        results: What there is.
        column: The column of the groups in :func:`accuracy_table`.
        candidates: The statistics of each group.
        signs: 1 for the groups in which accuracy must rise with it, -1 for those in which it must fall.
    """
    table = accuracy_table(results)
    parts: dict[str, bool | None] = {}
    listed = []
    for group, some in candidates.items():
        members = table[table[column] == group]
        try:
            found = best_fit_test(members, some, strata="family", permutations=PERMUTATIONS)
        except AffscoreError as error:
            raise MissingResultsError from error
        r = np.sign(np.corrcoef(members[found.best], members["accuracy"])[0, 1]) * found.observed**0.5
        part = if_significant(found.p_value, np.sign(r) == (signs or {}).get(group, np.sign(r)))
        parts[not_significant(found.p_value, group, counted(len(members), "network"))] = part
        listed.append(f"{group} {' or '.join(some)} {r:.2f} ({p_value_text(found.p_value)})")
    networks = int(table[column].isin(list(candidates)).sum())
    sentence = f"Correlation with accuracy: {', '.join(listed)}."
    return Verdict.of_parts(parts, sentence, networks)
