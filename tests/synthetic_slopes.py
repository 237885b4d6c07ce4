"""Studies of slopes whose curves are known."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from companion.chapter_16.measurements import EARLY, LATE
from companion.results import Results

LEFT = np.linspace(0, 1, 11)
"""The parts of the path length that are left, for a weight of the penalty each."""

DEPTHS = {"residual14": 10.0, "residual8": 5.0, "residual8_wide": 5.0, "residual14_wide": 10.0}
WIDTHS = {"residual14": 16.0, "residual8": 16.0, "residual8_wide": 32.0, "residual14_wide": 32.0}


def collapse(power: float = 4, lost: float = 0.8, best: float = 0.9):
    """An accuracy that falls from its best value by so much, the later the higher the power."""
    return lambda left: best - lost * (1 - left) ** power


def fall_at(part):
    """An accuracy that falls steeply where such a part is left."""
    return lambda left: 0.9 - float(np.clip(10 * (part - left), 0, 0.6))


EASY = collapse(2, 0.02)


def trainings_of(task, late, early=None, network="residual14", seeds=5, noise=0.001, plain=None, middle=None, auc=0.5):
    """Rows of a study: a network on a task, never, late and early penalised.

    Args:
        task: The name.
        late: The accuracy as a function of the part of the path length that is left.
        early: Likewise; None for the same.
        network: Which network.
        seeds: How many.
        noise: Standard deviation of accuracies over seeds.
        plain: Accuracies of plain networks, by depth.
        middle: Likewise, from half of ordinary training on.
        auc: How likely a channel that stays had a lower score than one that went.
    """
    draw = np.random.default_rng(3)
    rows = []
    ways = [(np.nan, late, [1.0]), (LATE, late, LEFT), (EARLY, early or late, LEFT)]
    ways += [(0.5, middle, LEFT)] if middle else []
    for seed, (start, curve, parts) in itertools.product(range(1, seeds + 1), ways):
        shift = noise * draw.normal()
        rows += [
            {"network": network, "task": task, "seed": seed, "start": start, "omega": 1 - part,
             "accuracy": curve(part) + shift, "share": part, "napl": DEPTHS[network] * part,
             "width": WIDTHS[network] * part, "layer": f"layer {place}", "call": 0, "index": place,
             "channels": 10, "active": round(10 * min(1.0, part * (2 - place / 2))), "channel_auc": auc + shift}
            for part in parts for place in range(4)
        ]  # fmt: skip
    for seed, (depth, accuracy) in itertools.product(range(1, seeds + 1), (plain or {}).items()):
        own = {"network": f"plain{depth}_wide", "task": task, "seed": seed, "start": np.nan, "omega": 0.0}
        values = {"accuracy": accuracy + noise * draw.normal(), "share": 1.0, "napl": float(depth), "width": 16.0}
        rows.append({**own, **values, "layer": "layer 0", "call": 0, "index": 0, "channels": 10, "active": 10})
    return pd.DataFrame(rows)


def scores_of(study, score):
    """Scores at the start of the penalty, by the place of the activation."""
    keys = ["network", "task", "seed", "layer", "call", "index"]
    rows = study[study["start"] == LATE][keys].drop_duplicates()
    kinds = rows["index"].map(lambda place: "first" if place % 2 else "after-sum")
    return rows.assign(score=rows["index"].map(score), kind=kinds).drop(columns="index")


def of_slopes(*tables):
    """Results that hold a study of slopes."""
    return Results("slopes", tables={"advantage": pd.concat(tables, ignore_index=True)})


def four_sizes(depth: float = 0.5, width: float = 0.5, noise: float = 1e-6):
    """Networks of which about these parts of depth and width are the core, in the larger one of two."""
    at = {"residual8": 0.5, "residual14": depth, "residual8_wide": width, "residual14_wide": 0.5}
    curves = {name: fall_at(part) for name, part in at.items()}
    return of_slopes(*(trainings_of("sum", curve, network=name, noise=noise) for name, curve in curves.items()))
