"""What chapters 5, 11 and 12 conclude from the studies that come with the package."""

import numpy as np
import pandas as pd
import pytest

from affscore import analysis
from affscore.analysis.methods import spread_over_methods
from affscore.analysis.shortcuts import groups_of_scores
from affscore.options import DEFAULT, Specification
from affscore.papers.alexnet_to_transformers.appendix_i import means_of_criteria, method_of
from affscore.papers.all_results import AllResults
from affscore.survey import stored_multiverses
from affscore.survey.studies import load_study, study_of, under

pytestmark = pytest.mark.slow

CHOICES = [
    Specification(*choice) for choice in load_study("shortcuts")[[*Specification._fields]].drop_duplicates().values
]


def by_seed(name: str, choice: Specification = DEFAULT) -> pd.DataFrame:
    """Scores, a row for each seed."""
    return under(load_study(name), choice).pivot_table(index="seed", columns="index", values="score")


# chapter 11


@pytest.mark.parametrize("choice", CHOICES, ids=" ".join)
def test_training_lowers_the_scores_under_every_choice(choice: Specification) -> None:
    change = by_seed("seeds", choice) - by_seed("untrained", choice)
    assert (change.mean(axis=1) < 0).sum() >= 8  # of nine seeds: a sign test has p = 0.04
    middle = change.loc[:, 6:9]
    assert middle.mean(axis=None) < change.mean(axis=None)


def test_untrained_scores_do_not_rise_to_nearly_linear() -> None:
    before = by_seed("untrained")
    assert (before.corrwith(pd.Series(range(15)), axis=1) < 0).all()
    assert before.loc[:, 12:].mean(axis=1).max() < 0.93


def test_the_course_ends_where_the_trained_network_is() -> None:
    """The record and the study measure the same networks, on weights of 32 and of 16 bits."""
    course = load_study("seeds-course")
    last = course[course["step"] == course["step"].max()].pivot_table(index="seed", columns="index", values="score")
    trained = by_seed("seeds", Specification(coupling="paired"))
    assert np.abs(last - trained).max(axis=None) < 0.05  # 512 images each, other ones of 597


@pytest.fixture(scope="module")
def on_cifar() -> pd.DataFrame:
    """Networks on CIFAR-10 without norms, with norms, and trained, under every specification."""
    study = load_study("untrained-cifar")
    norms = np.where(study["weights"] == "as built", "off", "on")
    trained = [one for one in stored_multiverses() if one.metadata["model"].startswith("cifar_networks.py")]
    return pd.concat([study.assign(state=norms), study_of(trained).assign(state="trained")], ignore_index=True)


@pytest.mark.parametrize("choice", CHOICES, ids=" ".join)
def test_training_lowers_the_scores_of_residual_networks_on_cifar(
    on_cifar: pd.DataFrame, choice: Specification
) -> None:
    """Under every choice; those of plain networks where averages come after the activation."""
    means = under(on_cifar, choice).pivot_table(index="model", columns="state", values="score")
    fall, residual = means["trained"] < means["on"], means.index.str.contains("resnet")
    assert len(means) == 8
    assert fall[residual].all()
    assert fall[~residual].any() == (choice[:2] == ("mean", "activate-first"))


def test_untrained_networks_on_cifar_are_nearly_linear_without_norms_alone(on_cifar: pd.DataFrame) -> None:
    rows = under(on_cifar)
    last = rows.groupby(["state", "model"])["score"].apply(lambda scores: scores.iloc[-3:].mean())
    assert last["off"].min() > 0.93
    assert last["on"].max() < 0.93
    for state in ("off", "on"):
        some = rows[rows["state"] == state].pivot_table(index="index", columns="model", values="score")
        assert (some.corrwith(pd.Series(some.index, some.index)) > 0).all()


def test_training_bends_the_inside_of_residual_blocks_that_were_apart_before(on_cifar: pd.DataFrame) -> None:
    rows = under(on_cifar)
    residual = rows[rows["model"].str.contains("resnet")]
    means = residual.pivot_table(index="kind", columns="state", values="score")
    fall = means["on"] - means["trained"]
    assert fall["first"] > 0.15 > 0.05 > fall["after-sum"]
    before = residual[residual["state"] == "on"]
    for _, one in before.groupby("model"):
        after, first = (one.loc[one["kind"] == kind, "score"] for kind in ("after-sum", "first"))
        assert analysis.common_language_effect_size(after, first) > 0.99


# chapter 5


@pytest.fixture(scope="module")
def groups() -> pd.DataFrame:
    on_cifar = [one for one in stored_multiverses() if one.metadata["model"].startswith("cifar_networks.py")]
    return groups_of_scores(pd.concat([load_study("shortcuts"), study_of(on_cifar)]), 99)


def test_the_two_groups_are_the_two_activations_of_a_block_under_every_choice(groups: pd.DataFrame) -> None:
    assert groups.groupby("shortcuts")["weights"].nunique().to_dict() == {True: 19, False: 19}
    separation = groups.groupby("shortcuts")["separation"]
    assert separation.min()[True] > 0.9
    assert separation.max()[False] < 0.8
    assert abs(separation.mean()[False] - 0.5) < 0.1


def test_whether_two_modes_are_seen_depends_on_the_order(groups: pd.DataFrame) -> None:
    rejected = groups[groups["shortcuts"]].assign(two=groups["one mode"] < 0.05)
    share = rejected.groupby(["reduction", "order"])["two"].mean()
    assert share["mean", "activate-first"] < 0.4 < 0.5 < share["mean", "reduce-first"]


def test_deep_plain_networks_are_trained_less_well() -> None:
    accuracy = under(load_study("shortcuts")).groupby("network")["accuracy"].mean()
    assert accuracy["plain34"] < 0.8 < 0.95 < accuracy["residual34"]


# chapter 12


@pytest.fixture(scope="module")
def results() -> AllResults:
    return AllResults.gather()


def test_methods_differ_by_more_than_seeds(results: AllResults) -> None:
    trainings = results.mini.checkpoints
    methods = [method_of(name) for name in trainings]
    assert pd.Series(methods).value_counts().to_dict() == dict.fromkeys(
        ("supervised", "label-noise", "rotation", "contrastive", "distillation"), 3
    )
    spread = spread_over_methods(means_of_criteria(trainings), methods)
    assert (spread.loc[["score", "cka", "entropy"], "p_value"] < 0.01).all()
    assert spread.loc["sparsity", "p_value"] > 0.05


@pytest.mark.parametrize("choice", CHOICES, ids=" ".join)
def test_the_nearest_signature_is_of_the_same_method_more_often_than_by_chance(choice: Specification) -> None:
    study = under(load_study("other-training"), choice)
    assert study.groupby("seed")["way"].nunique().max() == 1  # no two begin alike
    scores = {str(name): rows["score"].dropna().to_numpy() for name, rows in study.groupby("weights")}
    methods = list(study.groupby("weights")["way"].first())
    near = analysis.nearest_neighbour_accuracy(analysis.distance_matrix(scores), methods, permutations=999)
    assert near.value > 2 * near.permuted
    assert near.p_value < 0.05


def test_contrastive_learning_is_apart_and_what_teaches_digits_mixes(results: AllResults) -> None:
    trainings = results.mini.checkpoints
    distances = analysis.distance_matrix({name: one.scores for name, one in trainings.items()})
    methods = np.array([method_of(name) for name in trainings])
    two = analysis.clusters(analysis.linkage(distances), list(trainings), 2)
    assert set(methods[two == two[methods == "contrastive"].iloc[0]]) == {"contrastive"}
    nearest = methods[np.where(np.eye(15) > 0, np.inf, distances.to_numpy()).argmin(axis=1)]
    digits = ["supervised", "label-noise", "distillation"]
    assert set(nearest[np.isin(methods, digits)]) <= set(digits)
    assert 0.4 < (nearest == methods)[np.isin(methods, digits)].mean() < 0.7
