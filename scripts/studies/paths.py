"""The linear regions of one trained network along closed paths around held-out images."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
from mini_zoo.training import one_thread

from affscore import load_model
from affscore.linear_regions import along_paths
from affscore.network.parquet import read_description, write_parquet
from companion.planes import closed_paths
from studies.trainings import Training

MEASURED = ["length", "crossings", "breakpoints", "absolute_deviation", "deviation_upper_bound", "total_variation"]


def follow(training: Training, images: int, work: Path) -> pd.DataFrame:
    """Follow the paths, unless that was done.

    Args:
        training: Of the network, done.
        images: How many held-out images, from the first on; a path around each.
        work: Where the folders ``weights`` and ``paths`` are.

    Returns:
        A row for each segment: the network, how and from which seed it was trained, its accuracy and the share of the
        training labels that it fitted, path, segment, and what was measured
        (:func:`affscore.linear_regions.along_paths`; measures of logits are means over these).
    """
    file, job = work / "paths" / f"{training.name}.parquet", {**training.describe(), "paths": images}
    if read_description(file).get("job") == job:
        return pd.read_parquet(file)
    record = json.loads(training.weights(work / "weights").with_suffix(".json").read_text(encoding="utf-8"))
    with one_thread():
        model = load_model(f"{training.model}@{training.weights(work / 'weights')}")
        pictures, _ = training.images(model, "test")
        found = along_paths(model, closed_paths(pictures[:images]), progress=False)
    table = found.groupby(["path", "segment"])[MEASURED].mean().reset_index()
    about = {"network": training.network, "way": training.way, "seed": training.seed}
    about |= {name: record[name] for name in ("accuracy", "fitted")}
    table = pd.DataFrame(about, index=table.index).join(table)
    write_parquet(table, {"job": job}, [], file)
    return table
