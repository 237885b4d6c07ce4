"""What chapter 12 concludes from its studies, under every choice; and rows of these, measured again."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

import affscore
from affscore.analysis import ClassEffect, class_effects, data_deviations, mean_of
from affscore.options import Specification
from affscore.papers.specifications import SPECIFICATIONS
from affscore.survey import stored_multiverses
from affscore.survey.studies import STUDIES, load_study, study_of, under

pytestmark = pytest.mark.slow

CHOICES = SPECIFICATIONS
KINDS = {"": "digits", "-cifar": "folder:cifar10-test", "-photographs": "folder:imagenet-sample"}
"""The ending of a study, and its data of reference."""

study = cache(load_study)


def distances(choice: Specification, value: str = "euclidean", ending: str = "") -> pd.DataFrame:
    """A row for each network, a column for each other data set."""
    table = data_deviations(under(study(f"other-data{ending}"), choice))
    return table.pivot_table(index="model", columns="dataset", values=value)


@cache
def effects(ending: str = "", choice: Specification = CHOICES[0]) -> dict[str, ClassEffect]:
    """What the class does to each network."""
    return class_effects(under(study(f"classes{ending}"), choice))


@pytest.mark.parametrize("value", ["euclidean", "dtw"])
def test_noise_is_furthest_on_average_under_the_papers_choice_by_both_distances(value: str) -> None:
    found = distances(CHOICES[0], value)
    assert len(found) == 36
    assert all(mean_of(found["random"] - found[data]).above(together=3) for data in found if data != "random")


def test_noise_is_further_than_inverted_digits_unless_averages_come_first() -> None:
    for choice in CHOICES:
        found = distances(choice)
        nearer = {data: mean_of(found["random"] - found[data]).above() for data in found if data != "random"}
        inverted = nearer.pop("digits-inverted")
        assert inverted is (None if choice.order == "reduce-first" else True)
        assert all(nearer.values())


@pytest.mark.parametrize("choice", CHOICES, ids=" ".join)
def test_other_data_move_signatures_by_more_than_other_images(choice: Specification) -> None:
    ratios = distances(choice) / distances(choice, "chance")
    assert all(mean_of(np.log(ratios[data])).above(together=4) for data in ratios)
    if choice == CHOICES[0]:
        assert ratios.min(axis=None) > 2


def test_inverted_digits_are_nearer_than_shuffled_ones_under_no_choice() -> None:
    leads = {choice: mean_of(found["digits-shuffled"] - found["digits-inverted"]) for choice, found in
             ((choice, distances(choice)) for choice in CHOICES)}  # fmt: skip
    assert not any(lead.above() for lead in leads.values())
    turned = [choice for choice, lead in leads.items() if lead.above() is False]
    assert turned == [choice for choice in CHOICES if choice.order == "reduce-first"]
    rows = under(study("other-data")).query("n == 512").groupby(["dataset", "model"])["accuracy"].first()
    accuracy = rows.groupby("dataset").mean()
    assert accuracy[["digits-inverted", "digits-shuffled"]].max() < 0.12  # guessing is 0.10
    assert accuracy["digits-noisy"] > 0.7


def test_noise_is_further_than_images_of_another_kind_from_cifar_and_not_always_from_photographs() -> None:
    found = {ending: distances(CHOICES[0], ending=ending) for ending in ("-cifar", "-photographs")}
    further = {ending: one["random"] > one.drop(columns="random").max(axis=1) for ending, one in found.items()}
    assert further["-cifar"].tolist() == [True] * 8
    assert further["-photographs"].to_dict() == {"mobilenet_v2": True, "squeezenet1_0": False, "squeezenet1_1": True}
    for ending, one in found.items():
        assert (one.min(axis=1) > 2 * distances(CHOICES[0], "chance", ending).max(axis=1)).all()


@pytest.mark.parametrize("ending", ["", "-cifar"])
def test_the_class_moves_signatures_under_every_choice(ending: str) -> None:
    assert len(found := effects(ending).values()) == {"": 8, "-cifar": 4}[ending]
    assert all(one.p_value < 0.01 for one in found)
    assert min((one.distances > one.chance.max()).sum() for one in found) >= 7  # of ten classes
    assert min((one.layers["p_value"] < 0.05).mean() for one in found) >= 0.5


def test_late_activations_know_the_class() -> None:
    ratios = [one.layers["ratio"] for ending in ("", "-cifar") for one in effects(ending).values()]
    assert sum(spearmanr(range(len(one)), one).statistic > 0 for one in ratios) >= 10  # of 12: a sign test has p = 0.04


def test_a_label_that_says_nothing_is_told_so() -> None:
    """The same test where ten of the random subsets are called classes."""
    rows = under(study("classes"))
    rows = rows[rows["draw"] > 0]
    named = rows.assign(
        dataset=rows["dataset"].where(rows["draw"] > 10, "digits:" + rows["draw"].astype(str)),
        draw=rows["draw"].where(rows["draw"] > 10, 0),
    )
    found = class_effects(named)
    assert sum(one.p_value < 0.05 for one in found.values()) <= 1
    assert np.mean([one.ratio for one in found.values()]) == pytest.approx(1, abs=0.1)


def test_rows_of_the_studies_of_small_networks_are_what_the_library_measures() -> None:
    spec = {"n": 512, "images": 512, "progress": False}
    again = study_of([affscore.multiverse("mini:vgg11", "digits-inverted", **spec)])
    shipped = study("other-data").query("model == 'mini:vgg11' and dataset == 'digits-inverted' and n == 512")
    assert_same(again, shipped)
    spec = {"n": 58, "images": 58, "progress": False}
    both = [
        affscore.multiverse("mini:alexnet", data, seed=seed, **spec) for data, seed in (("digits:3", 0), ("digits", 7))
    ]
    classes = study("classes").query("model == 'mini:alexnet'")
    assert_same(study_of([both[0]]), classes.query("dataset == 'digits:3'"))
    assert_same(study_of([both[1]]), classes.query("draw == 7"))


def test_rows_of_the_studies_of_other_networks_are_those_of_the_shipped_multiverses() -> None:
    """They were measured on the same images, of CIFAR-10 in the first of 19 batches."""
    found = {one.metadata["model"]: one for one in stored_multiverses() if one.metadata["weights"] != "random"}
    compared = 0
    for ending in ("-cifar", "-photographs"):
        table = study(f"other-data{ending}").query("n == 512").query("dataset == @KINDS[@ending]")
        for model, rows in table.groupby("model"):
            one = found[str(model)]
            first = type(one)(one.rows[one.rows["batch"] == 0], one.metadata, one.notes)
            assert_same(study_of([first]), rows)
            compared += 1
    assert compared == 11


@pytest.mark.parametrize("name", [f"other-data{ending}" for ending in KINDS] + ["classes", "classes-cifar"])
def test_each_study_has_its_command_and_no_path(name: str) -> None:
    about = affscore.network.parquet.read_description(STUDIES / f"{name}.parquet")
    assert about["command"].startswith(f"make_studies.py --only {name}")
    assert "shared" not in str(about)
    table = study(name)
    assert not table["dataset"].str.contains("/").any()
    assert set(table[list(Specification._fields)].itertuples(index=False, name=None)) == {tuple(one) for one in CHOICES}


def assert_same(again: pd.DataFrame, shipped: pd.DataFrame) -> None:
    """The same scores under every choice.

    With the empirical covariance of 48 units that see 20 channels, rounding moves a score by 3e-4.
    """
    words = ["index", *Specification._fields]
    both = again[[*words, "score"]].merge(shipped[[*words, "score"]], on=words, validate="1:1")
    assert len(both) == len(again) == len(shipped) > 0
    singular = (both["covariance"] == "empirical") & (both["bias"] == "none")
    assert (abs(both["score_x"] - both["score_y"]) < np.where(singular, 1e-3, 1e-4)).all()
