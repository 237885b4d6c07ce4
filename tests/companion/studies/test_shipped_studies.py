"""Rows of the studies that come with the package are those that are measured now, and fit together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import affscore
from affscore import load_results
from affscore.linear_regions import along_paths
from affscore.options import Specification
from affscore.survey import stored_multiverses
from companion.planes import closed_paths
from companion.shipped import MULTIVERSES, RESULTS
from companion.specifications import SPECIFICATIONS
from companion.studies import STUDIES, load_study, study_of

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[3] / "examples"
KINDS = {"": "digits", "-cifar": "folder:cifar10-test", "-photographs": "folder:imagenet-sample"}
"""The ending of a study of other data, and its data of reference."""

SHIPPED = [*(f"other-data{ending}" for ending in KINDS), "classes", "classes-cifar", "batch-size", "batch-size-cifar",
           "batch-size-large-cifar"]  # fmt: skip

study = cache(load_study)


def test_every_shipped_result_has_its_multiverse_with_the_same_scores() -> None:
    rows = load_results(RESULTS)
    assert rows["paired"].isna().eq(rows["score"].isna()).all()
    assert (rows["paired"] <= rows["score"] + 1e-12).all()
    found = {
        tuple(one.metadata[name] for name in ("model", "weights", "dataset")): one
        for one in stored_multiverses(MULTIVERSES)
    }
    for (model, weights, dataset, reduction, order), some in rows.groupby(
        ["model", "weights", "dataset", "reduction", "order"]
    ):
        again = found[model, weights, dataset].signature(reduction, order)
        expected = some.groupby("index")[["score", "paired"]].mean()
        np.testing.assert_allclose(again.scores, expected["score"], atol=2e-5)
        np.testing.assert_allclose(again.summary["paired"], expected["paired"], atol=2e-5)


def test_rows_of_the_studies_of_small_networks_are_what_the_library_measures() -> None:
    spec = {"n": 512, "images": 512, "progress": False}
    again = study_of([affscore.multiverse("mini:vgg11", "digits-inverted", **spec)])
    shipped = study("other-data").query("model == 'mini:vgg11' and dataset == 'digits-inverted' and n == 512")
    assert_same(again, shipped)
    spec = {"n": 58, "images": 58, "progress": False}
    both = [
        affscore.multiverse("mini:alexnet", data, seed=seed, **spec) for data, seed in (("digits:3", 0), ("digits", 7))
    ]
    spec = {"n": 256, "bias": "extrapolated", "progress": False}
    again = study_of([affscore.multiverse("mini:alexnet", "digits", **spec)])
    shipped = study("batch-size").query("model == 'mini:alexnet' and n in @again['n'].unique()")
    assert_same(again, shipped, more=["n", "images"])
    classes = study("classes").query("model == 'mini:alexnet'")
    assert_same(study_of([both[0]]), classes.query("dataset == 'digits:3'"))
    assert_same(study_of([both[1]]), classes.query("draw == 7"))


@pytest.mark.parametrize("name", SHIPPED)
def test_each_study_has_its_command_and_no_path(name: str) -> None:
    about = affscore.network.parquet.read_description(STUDIES / f"{name}.parquet")
    assert f"--only {name}" in about["command"]
    assert "shared" not in str(about)
    table = study(name)
    assert not table[["model", "weights", "dataset"]].stack().str.contains("/").any()
    assert table["score"].dropna().between(0, 1).all()
    words = set(table[list(Specification._fields)].itertuples(index=False, name=None))
    assert name.startswith("batch-size") or words == {tuple(one) for one in SPECIFICATIONS}


def assert_same(again: pd.DataFrame, shipped: pd.DataFrame, more: Sequence[str] = ()) -> None:
    """The same scores under every choice.

    With the empirical covariance of 48 units that see 20 channels, rounding moves a score by 3e-4.
    """
    words = ["index", *more, *Specification._fields]
    both = again[[*words, "score"]].merge(shipped[[*words, "score"]], on=words, validate="1:1")
    assert len(both) == len(again) == len(shipped) > 0
    singular = (both["covariance"] == "empirical") & (both["bias"] == "none")
    assert (abs(both["score_x"] - both["score_y"]) < np.where(singular, 1e-3, 1e-4)).all()


def test_the_weights_of_the_page_are_those_of_the_study() -> None:
    way = "noise-1.0"
    model = affscore.load_model(f"{EXAMPLES}/region_networks.py:vgg8@{EXAMPLES}/weights/vgg8-{way}-1.safetensors")
    pictures, labels = affscore.models.digits("test")
    inputs = torch.stack([affscore.models.card_of(model).preprocessing(one) for one in pictures])
    rows = study("regions-paths").query("network == 'vgg8' and way == @way and seed == 1")
    with torch.no_grad():
        reached = (model.eval()(inputs).argmax(dim=1) == labels).double().mean()
    assert float(reached) == pytest.approx(rows["accuracy"].iloc[0], abs=1e-4)
    again = along_paths(model, closed_paths(inputs[:1]), progress=False).groupby("segment").mean()
    expected = rows[rows["path"] == 0].set_index("segment")
    for name in ("length", "crossings", "absolute_deviation", "deviation_upper_bound", "total_variation"):
        np.testing.assert_allclose(again[name], expected[name], rtol=1e-5)
