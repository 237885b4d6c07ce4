"""What chapters 5 and 7 say of their default run is what the shipped signatures say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import affscore
from affscore import AffscoreError, analysis, papers
from affscore.network.result import Signature
from affscore.survey import kept_signatures
from affscore.survey.shipped import shipped_signature
from affscore.survey.store import Store

Results = dict[str, Signature]
Scores = dict[str, np.ndarray]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    store: Path = tmp_path_factory.mktemp("store")
    models = [*papers.study_models(), "mini:squeezenet1_1", "mini:shufflenet_v2_x1_0", "mini:mobilenet_v2"]
    found = kept_signatures(models, "digits", store, jobs=1, n=512, progress=False)
    assert not Store(store).files(), "the chapters' default results are shipped, and none is measured"
    return {papers.short_name(model): result for model, result in found.items()}


@pytest.fixture(scope="module")
def signatures(results: Results) -> Scores:
    return {papers.short_name(model): results[papers.short_name(model)].scores for model in papers.study_models()}


@pytest.fixture(scope="module")
def decade(signatures: Scores) -> pd.DataFrame:
    return papers.history(signatures)


@pytest.fixture(scope="module")
def families(signatures: Scores) -> list[str]:
    return papers.network_table(signatures)["family"].tolist()


def of_kind(result: Signature, kind: str) -> pd.Series[float]:
    return result.summary.loc[result.summary["kind"] == kind, "score"]


@pytest.mark.slow
def test_scores_of_two_batches_are_alike(tmp_path_factory: pytest.TempPathFactory) -> None:
    names = ["mini:alexnet", "mini:vgg16", "mini:convnext_tiny"]
    store = tmp_path_factory.mktemp("two batches")
    found = kept_signatures(names, "digits", store, jobs=1, n=256, progress=False)
    for signature in found.values():
        assert signature.table["batch"].nunique() == 2
        assert round(signature.summary["score_std"].mean(), 3) == 0.005


def test_no_trend_can_be_shown_until_2019(decade: pd.DataFrame) -> None:
    trends = analysis.trends(decade, until=2019)
    assert (trends["points"] == 8).all()
    assert trends.loc["median", ["low", "high"]].round(3).tolist() == [-0.012, 0.037]
    assert trends.loc["spread", ["low", "high"]].round(3).tolist() == [-0.042, 0.046]
    assert round(7 * trends.loc["median", "high"], 2) == 0.26
    assert (7 * trends.loc["spread", ["low", "high"]]).abs().round(1).tolist() == [0.3, 0.3]
    assert (trends["p_value"] > 0.2).all()
    assert ((trends["low"] < 0) & (trends["high"] > 0)).all()
    assert (trends.loc[["median", "max", "spread"], "correlation"] > 0).all()
    assert trends.loc["spread of few", "correlation"] < 0


def test_the_range_of_families(decade: pd.DataFrame) -> None:
    early, inception = (decade[decade["family"] == family] for family in ("Pure convnets", "Inception"))
    assert early.groupby("year")["spread"].mean().min() > inception["spread"].max()
    later, older = decade[decade["year"] > 2019], decade[decade["year"] <= 2019]
    assert later["max"].max() < 0.82 < 0.85 < older["max"].min()
    medians = decade.groupby("family")["median"].mean().sort_values()
    assert medians.index[:2].tolist() == ["Convnexts", "Swins"]
    assert medians.index[-1] == "EfficientNets"
    searched = decade[decade["family"] == "EfficientNets"]
    assert searched["max"].max() > 0.995
    assert abs(searched["skewness"].mean()) < 0.2


def test_the_fair_spread(decade: pd.DataFrame) -> None:
    ranks = decade[["activations", "spread", "spread of few"]].corr("spearman")["activations"]
    assert ranks["spread"] == pytest.approx(0.5, abs=0.1)
    assert abs(ranks["spread of few"]) < 0.2
    fair = decade["spread of few"].sort_values(ascending=False)
    assert fair[decade["activations"].nlargest(5).index].max() < fair["alexnet"]
    assert fair.round(3)[:3].to_dict() == {"resnet34": 0.328, "vgg16": 0.327, "alexnet": 0.312}


def test_kinds_in_the_representatives(results: Results, decade: pd.DataFrame) -> None:
    for name in ("resnet101", "resnet152"):
        means = results[name].summary.groupby("kind")["score"].mean()
        assert means.pop("after-sum") > 0.935
        assert means.max() < 0.765
        summary = results[name].summary
        after = summary[summary["kind"] == "after-sum"]
        first_of_stage = after["layer"].str.contains(r"\.0(?:\.|$)")
        low = after["score"] < 0.9
        assert low.sum() >= 3
        assert first_of_stage[low].all()
    means = results["efficientnet_b4"].summary.groupby("kind")["score"].mean()
    assert means.idxmax() == "gate"
    assert results["densenet161"].summary.groupby("kind")["score"].mean().idxmax() == "hidden"
    inception = decade.loc[["googlenet", "inception_v3"]]
    assert inception.loc["inception_v3", "spread"] <= inception.loc["googlenet", "spread"]
    assert inception["min"].min() == pytest.approx(0.67, abs=0.005)
    assert inception["max"].max() == pytest.approx(0.88, abs=0.005)


def test_depth(results: Results, decade: pd.DataFrame) -> None:
    names = ["resnet18", "resnet34", "resnet50", "resnet101", "resnet152"]
    means, halves = [], []
    for name in names:
        summary = results[name].summary
        after = summary[summary["kind"] == "after-sum"]
        means.append(after["score"].mean())
        halves.append(after.loc[after["depth"] > after["depth"].median(), "score"].mean())
        assert 0.705 < summary.loc[summary["kind"] != "after-sum", "score"].mean() < 0.765
    assert means == sorted(means)
    assert halves == sorted(halves)
    assert np.round([means[0], means[-1], halves[0], halves[-1]], 2).tolist() == [0.88, 0.95, 0.84, 0.97]
    vggs = ["vgg11", "vgg13", "vgg16", "vgg19"]
    assert decade.loc[vggs, "mean"].between(0.715, 0.755).all()
    along = analysis.along_depth({name: results[name].scores for name in vggs})
    assert (along["middle"] < along[["first third", "last third"]].min(axis=1)).all()


def test_patches(results: Results, decade: pd.DataFrame) -> None:
    small, large = ("vit_b_16", "vit_l_16"), ("vit_b_32", "vit_l_32")
    scores = {name: results[name].scores for name in (*small, *large, "vit_h_14")}
    assert [round(scores[name][0], 2) for name in small] == [0.62, 0.56]
    later = np.concatenate([scores[name][1:] for name in small])
    assert np.round([later.min(), later.max()], 2).tolist() == [0.75, 0.81]
    flat = {name: scores[name][1:].std() for name in (*small, *large)}
    assert {round(value, 2) for value in flat.values()} == {0.01, 0.02}
    assert max(flat[name] for name in small) < min(flat[name] for name in large)
    along = analysis.along_depth(scores)
    assert round(along.loc["vit_l_32", "last"], 2) == 0.74
    assert along.loc["vit_l_32", "last"] - scores["vit_l_32"][-2] < 0.05
    assert round(scores["vit_h_14"][0], 2) == 0.81
    assert along.loc["vit_h_14", "correlation"] < -0.5
    assert decade.loc[["vit_h_14", "vit_l_32"], "std"].round(3).tolist() == [0.028, 0.022]


def test_efficient_networks(results: Results) -> None:
    def step(scores: np.ndarray) -> float:
        return float(np.abs(np.diff(scores)).mean())

    real = {name: shipped_signature(f"shipped:{name}") for name in ("squeezenet1_0", "squeezenet1_1", "mobilenet_v2")}
    squeezed = [round(of_kind(real[name], "first").mean(), 2) for name in ("squeezenet1_0", "squeezenet1_1")]
    expanded = [round(of_kind(real[name], "second").mean(), 2) for name in ("squeezenet1_0", "squeezenet1_1")]
    assert (squeezed, expanded) == ([0.91, 0.92], [0.66, 0.68])
    assert [round(step(result.scores), 2) for result in real.values()] == [0.22, 0.22, 0.08]
    mini = results["squeezenet1_1"]
    gap = of_kind(mini, "first").mean() - of_kind(mini, "second").mean()
    assert 0 < gap < 0.24
    assert max(step(results[name].scores) for name in ("shufflenet_v2_x1_0", "mobilenet_v2")) < 0.055


def test_clusters_of_the_zoo(signatures: Scores, families: list[str]) -> None:
    distances = analysis.distance_matrix(signatures)
    per_step, lengths = analysis.per_step(distances, signatures), analysis.length_distances(signatures)
    found = analysis.family_agreement(distances, families, permutations=999)
    assert (round(found.value, 1), found.p_value) == (0.3, 1 / 1000)
    assert round(analysis.family_agreement(distances, families, "single", 9).value, 2) == 0.06
    near = {
        name: analysis.nearest_neighbour_accuracy(matrix, families, 999).value
        for name, matrix in {"warping": distances, "per step": per_step, "length": lengths}.items()
    }
    assert near["warping"] * 36 == pytest.approx(32)
    assert (round(near["length"], 2), round(near["per step"], 2), round(near["warping"], 2)) == (0.31, 0.81, 0.89)
    assert 36 * analysis.nearest_neighbour_accuracy(distances, families, 999).permuted == pytest.approx(3, abs=0.5)
    assert round(analysis.family_agreement(lengths, families, permutations=9).value, 2) == 0.24
    assert round(analysis.family_agreement(per_step, families, permutations=9).value, 2) == 0.26
    assert analysis.mantel_test(distances, lengths, 9).correlation == pytest.approx(0.6, abs=0.05)
    assert abs(analysis.mantel_test(per_step, lengths, 9).correlation) < 0.1


def test_the_tree_and_its_nine_clusters(signatures: Scores, families: list[str]) -> None:
    distances = analysis.distance_matrix(signatures)
    trees = {method: analysis.linkage(distances, method) for method in ("average", "single", "complete")}
    faithful = [round(analysis.cophenetic_correlation(distances, tree), 2) for tree in trees.values()]
    assert faithful == [0.85, 0.83, 0.81]
    cut = analysis.clusters(trees["average"], list(signatures), len(set(families)))
    found = {frozenset(names) for names in cut.groupby(cut).groups.values()}
    assert len(found) == len(set(families)) == 9
    by_family = pd.Series(list(signatures), index=families).groupby(level=0).agg(set)
    vggs = {"vgg11", "vgg13", "vgg16", "vgg19"}
    early_and_late = {"alexnet"} | by_family["ViTs"] | by_family["Swins"] | by_family["Convnexts"]
    middle = by_family["Inception"] | by_family["DenseNets"] | by_family["MNASNets"]
    assert {frozenset(vggs | {"resnet18"}), frozenset(early_and_late), frozenset(middle)} <= found
    rest = [names for names in found if not names & (vggs | early_and_late | middle)]
    assert (len(rest), sum(map(len, rest))) == (6, 8)
    assert set().union(*rest) == by_family["ResNets"] - {"resnet18"} | by_family["EfficientNets"]


def test_early_networks_and_later_ones(signatures: Scores) -> None:
    distances = analysis.distance_matrix(signatures)
    about = papers.network_table(signatures)
    early = about.index[about["family"] == "Pure convnets"]
    apart = {}
    for name, matrix in {"raw": distances, "per step": analysis.per_step(distances, signatures)}.items():
        for family, members in about.groupby("family"):
            pairs = [matrix.loc[one, other] for one in early for other in members.index if one != other]
            apart[name, family] = np.mean(pairs)
    raw = {family: value for (name, family), value in apart.items() if name == "raw"}
    assert set(sorted(raw, key=raw.__getitem__)[-2:]) == {"ResNets", "EfficientNets"}
    among = apart["per step", "Pure convnets"]
    assert max(apart["per step", family] for family in ("Inception", "DenseNets", "MNASNets")) < among
    for name in ("raw", "per step"):
        assert max(apart[name, "Swins"], apart[name, "Convnexts"]) < apart[name, "ViTs"]
    years = about.groupby("family")["year"].mean()
    rising = {
        name: analysis.trend(years, [apart[name, family] for family in years.index]) for name in ("raw", "per step")
    }
    assert [round(trend.correlation, 2) for trend in rising.values()] == [-0.07, 0.42]
    assert rising["per step"].p_value == pytest.approx(0.27, abs=0.02)
    late = [round(apart["per step", family], 3) for family in ("ViTs", "Swins", "Convnexts")]
    assert late == [0.118, 0.093, 0.107]


def test_distributions_of_the_nine(decade: pd.DataFrame) -> None:
    nine = ["alexnet", "inception_v3", "resnet50", "densenet121", "mnasnet1_0", "efficientnet_b1", "vit_b_16", "swin_t",
            "convnext_tiny"]  # fmt: skip
    assert decade.loc[nine, "spread"].idxmax() == "efficientnet_b1"
    assert decade.loc["densenet121", "skewness"] > -0.2
    assert decade.loc["vit_b_16", "median"] > decade.loc[nine, "median"].median() - 0.02


def test_shortcuts_make_two_peaks_with_depth() -> None:
    p_values = {
        name: analysis.unimodality_test(shipped_signature(f"shipped:{name}").scores).p_value
        for name in ("plainnet20", "resnet20", "plainnet56", "resnet56")
    }
    assert p_values["resnet56"] < 0.05
    assert min(p_values["resnet20"], p_values["plainnet20"], p_values["plainnet56"]) > 0.1


def test_before_training() -> None:
    scores = {result.metadata["model"]: result.scores for result in untrained()}
    families = papers.network_table(scores)["family"].tolist()
    distances, lengths = analysis.distance_matrix(scores), analysis.length_distances(scores)
    assert sum(families.count(family) > 1 for family in families) == 25
    found, by_length = (
        analysis.family_agreement(matrix, families, permutations=999) for matrix in (distances, lengths)
    )
    assert (round(found.value, 2), round(by_length.value, 2)) == (0.60, 0.27)
    near, by_length = (
        analysis.nearest_neighbour_accuracy(matrix, families, permutations=999) for matrix in (distances, lengths)
    )
    assert (near.value * 25, round(by_length.value * 25, 1)) == (pytest.approx(20), 10.3)
    assert max(near.p_value, found.p_value) < 0.01


def untrained() -> list[Signature]:
    found = []
    for name in papers.study_models(""):
        try:
            found.append(shipped_signature(f"shipped:{name}@random"))
        except AffscoreError:
            continue
    return found


def share_of_other_couplings(results: list[Signature]) -> float:
    rows = pd.concat([result.table for result in results])["pairing_optimal"].astype(float)
    return float(1 - rows.mean())


def test_the_optimal_coupling_is_mostly_not_the_pairing(results: Results) -> None:
    study = [results[papers.short_name(model)] for model in papers.study_models()]
    assert round(share_of_other_couplings(study), 2) == 0.63
    cifar = [
        shipped_signature(f"shipped:{kind}net{layers}") for kind in ("plain", "res") for layers in (20, 32, 44, 56)
    ]
    assert round(share_of_other_couplings(cifar), 2) == 0.44
    exact, paired = (
        affscore.signature("mini:vgg19", "digits", images=512, criteria=False, whole=whole).scores
        for whole in (False, True)
    )
    assert (exact - paired).max() == pytest.approx(0.39, abs=0.005)
    assert [exact[0], paired[0]] == pytest.approx([0.87, 0.48], abs=0.006)


def test_modes_are_rejected_for_one_twin_or_the_other_by_the_order() -> None:
    """For the largest pair: the residual network in one order, the plain one in the other; for no other pair."""
    rejected = {}
    for order in ("activate-first", "reduce-first"):
        for layers in (20, 32, 44, 56):
            for kind in ("plain", "res"):
                scores = shipped_signature(f"shipped:{kind}net{layers}", order=order).scores
                rejected[order, kind, layers] = analysis.unimodality_test(scores).p_value < 0.05
    assert {key for key, value in rejected.items() if value} == {
        ("activate-first", "res", 56),
        ("reduce-first", "plain", 56),
    }


def test_the_lead_over_length_is_within_its_error(signatures: Scores, families: list[str]) -> None:
    distances, lengths = analysis.distance_matrix(signatures), analysis.length_distances(signatures)
    lead = analysis.family_lead(distances, lengths, families)
    assert lead.value == pytest.approx(0.33 - 0.24, abs=0.01)
    assert lead.value < lead.error
