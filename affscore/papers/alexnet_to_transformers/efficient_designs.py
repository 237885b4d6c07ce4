"""Towards model efficiency: whether efficient designs shake the signature, as section 4.1 of the first version says."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy import stats

from affscore.analysis import p_value_text, shaking
from affscore.papers.alexnet_to_transformers import FIRST
from affscore.papers.claim import STUDY_ON_IMAGENET, Verdict, claim
from affscore.papers.estimate import if_significant, mean_of, not_significant, require
from affscore.papers.groups import table_1_families
from affscore.papers.networks import short_name
from affscore.papers.results import Results

EFFICIENT = ("SqueezeNets", "ShuffleNets", "MobileNets", "MNASNets", "EfficientNets")
"""Families with squeeze modules, shuffled channels, inverted bottlenecks, or squeeze-and-excite."""

OTHERS = ("AlexNet", "VGGs", "Inception", "DenseNets")
"""The convnets that they are held against; ResNets, of which the paper says the same, are neither."""

_PLACES = {
    "squeezenet": {
        "squeeze above expand 1x1": ("squeeze_activation", "expand1x1_activation"),
        "expand 1x1 above expand 3x3": ("expand1x1_activation", "expand3x3_activation"),
    },
    "mobilenet_v2": {"expand above depthwise": ("conv.0.2", "conv.1.2")},
}


def shaking_of_networks(summaries: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """How much the signature of each network changes from one depth to the next.

    Args:
        summaries: By MODEL or MODEL@WEIGHTS a table with the ``depth`` and the ``score`` of each activation, as
            :attr:`affscore.Signature.summary`. Activations without a score are left out, and counted by ``missing``.

    Returns:
        A row for each network: ``family`` (as in table 1), ``design`` ("efficient", "other", or "" for the ResNets and
        those that are neither), ``activations``, ``missing``, ``step`` and ``ratio``
        (:func:`affscore.analysis.shaking`).

    Raises:
        AffscoreError: A network with scores at one depth only.

    >>> table = pd.DataFrame({"depth": [1, 2, 3], "score": [0.5, 0.9, 0.5]})
    >>> shaking_of_networks({"mini:mobilenet_v2": table}).round(2)
                           family     design  activations  missing  step  ratio
    mini:mobilenet_v2  MobileNets  efficient            3        0   0.4    1.5
    """
    rows = {}
    for name, summary in summaries.items():
        there = summary.dropna(subset="score")
        found = shaking(there["score"], there["depth"])
        rows[name] = (len(there), len(summary) - len(there), found.step, found.ratio)
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["activations", "missing", "step", "ratio"])
    family = pd.Series(table_1_families(rows), dtype=object)
    design = np.select([family.isin(EFFICIENT), family.isin(OTHERS)], ["efficient", "other"], "")
    table.insert(0, "family", family)
    table.insert(1, "design", design)
    return table


def places_in_blocks(rows: pd.DataFrame) -> pd.DataFrame:
    """Which of two activations of a block has the higher score, by a sign test over blocks.

    In a SqueezeNet the squeeze activation is compared with that of expand 1x1, and this with that of expand 3x3; in
    a MobileNetV2 that of the expanding 1x1 convolution with that of the depthwise one, in blocks that have both.

    Args:
        rows: A row for each activation of each network, with ``model``, ``layer`` and ``score``, under one
            specification. Other networks are left out, as are activations that are in no block.

    Returns:
        A row for each network and comparison (the index): ``difference`` (mean over blocks), ``higher`` (in how many),
        ``blocks`` and ``p`` (two-sided; blocks of one network are taken for independent). None where no block has both.

    >>> layers = [f"features.{block}.conv.{at}.2" for block in (2, 3) for at in (0, 1)]
    >>> table = pd.DataFrame({"model": "mobilenet_v2", "layer": layers, "score": [0.9, 0.7, 0.8, 0.7]})
    >>> places_in_blocks(table).round(2).iloc[0].tolist()
    [0.15, 2.0, 2.0, 0.5]
    """
    parts = rows["layer"].str.extract(r"^(features\.\d+)\.(.+)$")
    rows = rows.assign(block=parts[0], place=parts[1])
    found = {}
    for model, own in rows.groupby("model", sort=False):
        pairs = next((pairs for start, pairs in _PLACES.items() if short_name(str(model)).startswith(start)), {})
        scores = own.pivot_table(index="block", columns="place", values="score")
        for comparison, both in pairs.items():
            there = scores.reindex(columns=both).dropna()
            lead = there[both[0]] - there[both[1]]
            if lead.empty:
                continue
            higher = int((lead > 0).sum())
            p = stats.binomtest(higher, len(lead)).pvalue
            found[str(model), comparison] = (float(lead.mean()), higher, len(lead), float(p))
    index = pd.MultiIndex.from_tuples(list(found), names=["model", "comparison"]) if found else None
    return pd.DataFrame(found.values(), index=index, columns=["difference", "higher", "blocks", "p"])


@claim(73, f"{FIRST}, section 4.1 and figure 6", f"{STUDY_ON_IMAGENET}, with SqueezeNets, ShuffleNets and MobileNets")
def efficient_designs_shake(results: Results) -> Verdict:
    """Designs made for efficiency shake the signature, by squeeze modules, shuffling, inverted bottlenecks and gates.

    Test: The mean step from one depth to the next, averaged by family, is larger than in AlexNet, VGGs, Inception and
    DenseNets, by an exact permutation test over families. A smaller one refutes the claim.
    """
    scores = {name: one.dropna(subset="score") for name, one in results.summaries.items()}
    deep = {name: one for name, one in scores.items() if len(set(one["depth"])) > 1}
    require(deep)
    table = shaking_of_networks(deep)
    families = table[table["design"] != ""].groupby("family").agg(design=("design", "first"), step=("step", "mean"))
    one, other = (families.loc[families["design"] == name, "step"] for name in ("efficient", "other"))
    require(len(one) > 1 and len(other) > 1)
    test = stats.permutation_test(  # exact: five families and four can be divided in 126 ways
        (one, other), lambda x, y, axis: np.mean(x, axis=axis) - np.mean(y, axis=axis)
    )
    gap = mean_of(one) - mean_of(other)
    found = (
        f"From one depth to the next scores change by {one.mean():.3f} in {len(one)} efficient families and by "
        f"{other.mean():.3f} in {len(other)} others: a difference of {gap:.3f} ({p_value_text(test.pvalue)})."
    )
    networks = int((table["design"] != "").sum())
    holds = if_significant(test.pvalue, test.statistic > 0)
    return Verdict.of_parts(
        {not_significant(test.pvalue, "the difference", f"{len(one)} families against {len(other)}"): holds},
        found,
        networks,
    )
