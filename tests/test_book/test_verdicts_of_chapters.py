"""What chapters 4 and 6 to 10 conclude from the mini zoo and shipped ones, where it could have come out otherwise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from affscore import analysis, load_results, papers, zoo
from affscore.network.multiverse_result import Multiverse
from affscore.network.result import Signature
from affscore.options import Specification
from affscore.survey import load_or_measure, stored_multiverses
from affscore.survey.shipped import shipped_signature, trained_networks
from affscore.survey.studies import load_study

Results = dict[str, Signature]
Scores = dict[str, np.ndarray]

pytestmark = pytest.mark.slow

EFFICIENT = ("squeezenet1_1", "shufflenet_v2_x1_0", "mobilenet_v2")
COMMON = ["depth", "parameters", "gflops"]
CIFAR = [f"{kind}net{layers}" for kind in ("plain", "res") for layers in (20, 32, 44, 56)]
TRAINED = [*CIFAR, "mobilenet_v2", "squeezenet1_0", "squeezenet1_1"]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    store = tmp_path_factory.mktemp("store")
    models = [*papers.study_models(), *(f"mini:{name}" for name in EFFICIENT)]
    found = load_or_measure(models, "digits", store, jobs=1, n=512, progress=False)
    assert not list(store.glob("*.parquet")), "the chapters' default results are shipped, and none is measured"
    return {papers.short_name(model): result for model, result in found.items()}


@pytest.fixture(scope="module")
def signatures(results: Results) -> Scores:
    return {papers.short_name(model): results[papers.short_name(model)].scores for model in papers.study_models()}


@pytest.fixture(scope="module")
def decade(signatures: Scores) -> pd.DataFrame:
    return papers.history(signatures)


@pytest.fixture(scope="module")
def distances(signatures: Scores) -> pd.DataFrame:
    return analysis.distance_matrix(signatures)


@pytest.fixture(scope="module")
def families(signatures: Scores) -> list[str]:
    return papers.network_table(signatures)["family"].tolist()


def of_kind(result: Signature, kind: str) -> pd.Series[float]:
    return result.summary.loc[result.summary["kind"] == kind, "score"]


def step(scores: np.ndarray) -> float:
    return float(np.abs(np.diff(scores)).mean())


# chapter 4


def test_two_bands_of_a_residual_network() -> None:
    scores, zeros = (trained_networks(reduction)["resnet56"].summary for reduction in ("mean", "sample"))
    by_kind = scores.groupby("kind")["score"].mean()
    assert by_kind["after-sum"] > 0.9 > 0.65 > by_kind["first"]
    assert 0.33 < (scores["score"] > 0.9).mean() < 0.5
    shares = zeros.groupby("kind")["sparsity_after"].mean()
    assert shares["after-sum"] == pytest.approx(1 / 3, abs=0.05)
    assert shares["first"] == pytest.approx(0.7, abs=0.05)
    for kind in ("after-sum", "first"):
        assert scores[scores["kind"] == kind][["score", "depth"]].corr("spearman").iloc[0, 1] < -0.6
    plain = trained_networks()["plainnet56"].summary
    assert plain["score"].idxmin() >= 2 * len(plain) / 3


# chapter 6


def test_deeper_networks_with_and_without_shortcuts() -> None:
    found = trained_networks()
    plain = [found[f"plainnet{layers}"].scores.mean() for layers in (20, 32, 44, 56)]
    kinds = [found[f"resnet{layers}"].summary for layers in (20, 32, 44, 56)]
    after, others = (
        [kind.loc[(kind["kind"] == "after-sum") == is_after, "score"].mean() for kind in kinds]
        for is_after in (True, False)
    )
    assert plain == sorted(plain)
    assert after == sorted(after)
    assert np.ptp(others) < 0.04 < np.ptp(after)


def test_no_trend_until_2019(decade: pd.DataFrame) -> None:
    trends = analysis.trends(decade, until=2019)
    assert (trends["p_value"] > 0.2).all()
    assert ((trends["low"] < 0) & (trends["high"] > 0)).all()


def test_the_range_grows_with_the_number_of_activations_and_the_rarefied_one_does_not(decade: pd.DataFrame) -> None:
    ranks = decade[["activations", "spread", "rarefied range"]].corr("spearman")["activations"]
    assert ranks["spread"] > 0.4
    assert abs(ranks["rarefied range"]) < 0.2
    fair = decade["rarefied range"]
    assert fair[decade["activations"].nlargest(5).index].max() < fair["alexnet"]


def test_kinds_of_activations(results: Results, decade: pd.DataFrame) -> None:
    for name in ("resnet101", "resnet152"):
        summary = results[name].summary
        means = summary.groupby("kind")["score"].mean()
        assert means.pop("after-sum") > means.max() + 0.1
        after = summary[summary["kind"] == "after-sum"]
        first_of_stage = after["layer"].str.contains(r"\.0(?:\.|$)")
        assert first_of_stage[after["score"] < 0.9].all()
    for name, kind in {"efficientnet_b4": "gate", "densenet161": "hidden"}.items():
        assert results[name].summary.groupby("kind")["score"].mean().idxmax() == kind
    assert decade.loc["inception_v3", "spread"] <= decade.loc["googlenet", "spread"]


def test_depth(results: Results) -> None:
    after, deeper, others = [], [], []
    for name in ("resnet18", "resnet34", "resnet50", "resnet101", "resnet152"):
        summary = results[name].summary
        sums = summary[summary["kind"] == "after-sum"]
        after.append(sums["score"].mean())
        deeper.append(sums.loc[sums["depth"] > sums["depth"].median(), "score"].mean())
        others.append(summary.loc[summary["kind"] != "after-sum", "score"].mean())
    assert after == sorted(after)
    assert deeper == sorted(deeper)
    assert np.ptp(others) < np.ptp(after)
    for name in ("vgg11", "vgg13", "vgg16", "vgg19"):
        first, middle, last = (third.mean() for third in np.array_split(results[name].scores, 3))
        assert middle < min(first, last)


def test_patches(results: Results) -> None:
    small, large = ("vit_b_16", "vit_l_16"), ("vit_b_32", "vit_l_32")
    scores = {name: results[name].scores for name in (*small, *large, "vit_h_14")}
    assert all(scores[name][0] < scores[name][1:].min() for name in small)
    flat = {name: scores[name][1:].std() for name in (*small, *large)}
    assert max(flat[name] for name in small) < min(flat[name] for name in large)
    assert all(scores[name][-1] - scores[name][-2] < 0.05 for name in large)
    assert spearmanr(range(len(scores["vit_h_14"])), scores["vit_h_14"]).statistic < -0.5


def test_efficient_networks(results: Results) -> None:
    real = {name: shipped_signature(f"shipped:{name}") for name in TRAINED[8:]}
    gaps = {
        name: of_kind(result, "first").mean() - of_kind(result, "second").mean()
        for name, result in {**real, "mini": results["squeezenet1_1"]}.items()
        if name != "mobilenet_v2"
    }
    assert min(gaps["squeezenet1_0"], gaps["squeezenet1_1"]) > 0.2 > gaps["mini"] > 0
    steps = [step(result.scores) for result in real.values()]
    assert steps[0] < 0.5 * min(steps[1:])
    assert max(step(results[name].scores) for name in EFFICIENT[1:]) < 0.06


# chapter 8


def test_families_are_found_by_neighbours_and_not_by_the_cut(
    signatures: Scores, distances: pd.DataFrame, families: list[str]
) -> None:
    lengths = analysis.length_distances(signatures)
    near, by_length, per_step = (
        analysis.nearest_neighbour_accuracy(matrix, families, permutations=99)
        for matrix in (distances, lengths, analysis.per_step(distances, signatures))
    )
    assert near.p_value == 1 / 100
    assert near.value > per_step.value > 2 * by_length.value
    assert analysis.family_agreement(distances, families, "single", 9).value < 0.1


def test_twins_on_cifar_are_told_apart_and_depths_are_not() -> None:
    scores = {name: shipped_signature(f"shipped:{name}").scores for name in CIFAR}
    distances = analysis.distance_matrix(scores)
    nearest = distances.mask(np.eye(len(CIFAR), dtype=bool)).idxmin()
    assert sum(one[:5] == other[:5] for one, other in nearest.items()) == 7
    assert distances.loc["plainnet20", "plainnet56"] < distances.loc["plainnet20", "resnet20"]


def test_a_signature_identifies_the_family_before_training() -> None:
    scores = {
        path: shipped_signature(f"shipped:{path}@random").scores
        for path in papers.study_models("")
        if path not in ("vgg16", "vgg19", "resnet152", "vit_b_16", "vit_l_16", "vit_l_32", "vit_h_14", "swin_b",
                        "convnext_base", "convnext_large")
    }  # fmt: skip
    families = papers.network_table(scores)["family"].tolist()
    near, by_length = (
        analysis.nearest_neighbour_accuracy(matrix, families, permutations=99)
        for matrix in (analysis.distance_matrix(scores), analysis.length_distances(scores))
    )
    assert near.value > 1.5 * by_length.value
    assert near.p_value == 1 / 100


# chapter 7


def test_the_largest_score_goes_with_the_accuracy_of_eight_networks() -> None:
    study = load_study("other-data-cifar").query("dataset == 'folder:cifar10-test'")
    accuracy = study.groupby(study["model"].str.partition(":")[2])["accuracy"].first()
    table = analysis.signature_statistics({name: trained_networks()[name].scores for name in accuracy.index})
    table = table.assign(accuracy=accuracy, group="CIFAR-10", family=[name[0] for name in accuracy.index])
    found = analysis.explained_accuracy(table, [*analysis.STATISTICS, "activations"], kind="logarithm")
    r2 = found.set_index("characteristic")["r2"]
    assert r2.idxmax() == "max"
    assert r2["max"] > 0.7 > 2 * r2["activations"]
    tested = analysis.best_fit_tests(table, list(analysis.STATISTICS), kind="logarithm").iloc[0]
    assert max(tested["p_value"], tested["p_within"]) < 0.05


@pytest.fixture(scope="module")
def accuracies() -> tuple[pd.DataFrame, pd.DataFrame]:
    names = [*papers.study_models("mini:"), *(f"mini:{name}" for name in EFFICIENT)]
    trials = zoo.hard_task()
    trials["model"] = "mini:" + trials.pop("name")
    trials = trials[trials["model"].isin(names)]
    table = papers.accuracy_groups(names).join(analysis.over_seeds(trials, by="model"))
    return trials, table.join(zoo.characteristics(names)[COMMON])


def test_where_the_signature_wins_its_lead_is_never_significant(accuracies: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    _, table = accuracies
    rows = {
        group: analysis.best_fit_lead(members, list(analysis.STATISTICS), COMMON, kind="logarithm")
        for group, members in table.dropna(subset="group").groupby("group")
    }
    wins = {group for group, row in rows.items() if row["statistic_r2"] > row["common_r2"]}
    assert wins == set(rows) - {"NAS-based"}
    assert {group for group, row in rows.items() if row["p_value"] < 0.05} == {"Residual", "ViTs", "Post-ViT"}
    assert min(rows[group]["common_p_value"] for group in wins) > 0.05
    assert all(row["wins_if_nothing_matters"] > 0.5 for row in rows.values())


def test_families_within_groups(accuracies: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    _, table = accuracies
    found = analysis.best_fit_tests(table.dropna(subset="group"), list(analysis.STATISTICS), kind="logarithm")
    residual = found.loc["Residual"]
    assert residual["between_families"] > residual["statistic_r2"] - 0.01
    assert residual["p_within"] > 0.5 > 0.05 > found.loc["Post-ViT", "p_within"]
    assert found.loc["ViTs", "families"] == 1
    first = table.assign(group=table["first_paper_group"]).dropna(subset="group")
    oldest = analysis.best_fit_tests(first, list(papers.FIRST_PAPER_STATISTICS)).loc["Traditional and residual"]
    assert oldest["p_within"] > 0.05 > oldest["p_value"]


def test_the_printed_groups_against_chance() -> None:
    """Four of five pass; the early networks: one in four; noise beats the characteristics of two groups."""
    assert round(analysis.independent_best(5, 7), 2) == 0.66
    printed = papers.printed_table("figure4_r2")
    by_chance, beaten = {}, {}
    for group, members in papers.study_groups().items():
        size = len(members)
        statistic, common = (
            analysis.plain_r2(printed.loc[group, f"{which}_r2"], size) for which in ("signature", "common")
        )
        by_chance[group] = analysis.independent_p_value(statistic, size, 7)
        beaten[group] = analysis.independent_p_value(common, size, 7)
    assert {group for group, p in by_chance.items() if p < 0.05} == set(by_chance) - {"Pre-residual"}
    assert by_chance["Pre-residual"] == pytest.approx(1 / 4, abs=0.02)
    assert {group for group, p in beaten.items() if p > 0.05} == {"ViTs", "Pre-residual"}
    assert beaten["ViTs"] == pytest.approx(1 / 8, abs=0.01)
    assert beaten["Pre-residual"] == pytest.approx(1 / 11, abs=0.003)


@pytest.mark.parametrize("weights", ["DEFAULT", "IMAGENET1K_V1"])
def test_only_one_fit_comes_near_the_three_printed_numbers_that_need_no_depth(weights: str) -> None:
    printed = papers.printed_table("figure4_r2")
    columns = {"ops": "gflops", "num_params": "parameters"}
    apart, straight = {}, {}
    for group, names in papers.study_groups().items():
        if (column := columns.get(str(printed.loc[group, "best_common_characteristic"]))) is None:
            continue
        of_group = "DEFAULT" if "vit_h_14" in names else weights  # which has no others of that name
        known = zoo.characteristics([f"{name}@{of_group}" for name in names])
        for kind in ("linear", "logarithm"):
            found = analysis.fit(known[column], known["accuracy"], kind)
            straight[group, kind] = found.r2
            for how in ("r2", "adjusted_r2"):
                apart.setdefault((kind, how), []).append(abs(getattr(found, how) - printed.loc[group, "common_r2"]))
    near = {way for way, differences in apart.items() if max(differences) < 0.001}
    assert near == ({("logarithm", "adjusted_r2")} if weights == "DEFAULT" else set())
    assert {len(differences) for differences in apart.values()} == {3}
    if weights == "DEFAULT":
        assert straight["NAS-based", "linear"] == pytest.approx(0.77, abs=0.005)


# chapter 9


def test_signs_of_the_criteria(results: Results) -> None:
    networks = papers.study_models("")
    summaries = {name: results[name].summary for name in networks}
    table = analysis.criterion_correlations(summaries)
    counts = analysis.sign_counts(table)
    assert (counts.loc[["norm", "sparsity", "entropy"], ["positive", "negative"]] > 0).all(axis=None)
    assert (counts.loc[["cka", "r2"], "negative"] == 0).all()
    printed = analysis.sign_counts(papers.printed_correlations())
    assert printed[["positive", "negative"]].min(axis=1).between(1, 4).all()
    by_family = analysis.family_correlations(table, papers.table_1_families(networks))
    mean = by_family.pivot_table(index="family", columns="criterion", values="mean")
    assert mean.loc["ResNets", "sparsity"] < -0.5 < 0.5 < mean.loc["DenseNets", "sparsity"]
    assert mean.loc["ResNets", "norm"] < -0.5 < 0.5 < mean.loc["MNASNets", "norm"]
    together = analysis.explained_by_all(summaries, papers.network_table(networks)["family"].to_dict())
    assert 0.3 < together["from_others"].mean() < together["within"].mean() < 0.9


def test_criteria_keep_their_sign_on_trained_networks_of_usual_size() -> None:
    criteria = ["cka", "norm", "sparsity", "entropy", "r2", "cka_debiased", "nlc"]
    summaries = {name: shipped_signature(f"shipped:{name}").summary for name in TRAINED}
    table = analysis.criterion_correlations(summaries, criteria)
    counts = analysis.sign_counts(table)
    assert (counts.loc[["cka", "r2", "cka_debiased"], "positive"] == 11).all()
    assert (counts.loc[["sparsity", "nlc"], "negative"] == 11).all()
    assert (counts.loc["entropy", ["positive", "negative"]] > 0).all()
    assert table.loc[table["criterion"] == "norm", "correlation"].max() < 0
    assert all(summary["score"].corr(summary["cka"], method="spearman") >= 0.7 for summary in summaries.values())
    kinds = {name: name.rstrip("0123456789_") for name in summaries}
    explained = analysis.explained_by_all(summaries, kinds)["from_others"].astype(float)
    assert explained.mean() > 0.6


# chapter 10


@pytest.fixture(scope="module")
def multiverses() -> dict[str, Multiverse]:
    """The multiverses of trained networks that come with the package, by the name of the network."""
    trained = [found for found in stored_multiverses() if found.metadata["weights"] != "random"]
    return {found.metadata["model"].removeprefix("cifar_networks.py:"): found for found in trained}


def test_order_and_reduction_reorder_a_signature_and_covariance_and_coupling_mostly_do_not(
    multiverses: dict[str, Multiverse],
) -> None:
    small = {name: found.scores for name, found in multiverses.items() if name.startswith("mini:")}
    real = {name: found.scores for name, found in multiverses.items() if not name.startswith("mini:")}
    assert sorted(real) == sorted(TRAINED)
    for scores, reordered in ((small, 0.8), (real, 0.97)):
        ranks = analysis.effects_of_choices(scores).groupby("to")["rank_correlation"].median()
        assert ranks[["reduce-first", "sample"]].max() < reordered
        assert ranks[["empirical", "paired"]].min() > 0.9
    published = analysis.effects_of_choices(small).query("to == 'published'")["rank_correlation"]
    assert len(published) == 12
    assert published.median() < 0.3


def test_a_relu_may_be_affine_as_a_cloud_and_not_at_all_image_by_image(multiverses: dict[str, Multiverse]) -> None:
    found = multiverses["resnet44"]
    exact, paired = found.scores[Specification()], found.scores[Specification(coupling="paired")]
    worst = (exact - paired).idxmax()
    assert exact[worst] > 0.6
    assert paired[worst] < 0.05
    rows = found.rows[found.rows["order"] == "activate-first"]
    assert rows["pairing_optimal"].astype(float).mean() < 0.9


def test_every_shipped_result_has_its_multiverse_with_the_same_scores() -> None:
    rows = load_results()
    assert rows["paired"].isna().eq(rows["score"].isna()).all()
    assert (rows["paired"] <= rows["score"] + 1e-12).all()
    found = {tuple(one.metadata[name] for name in ("model", "weights", "dataset")): one for one in stored_multiverses()}
    for (model, weights, dataset, reduction, order), some in rows.groupby(
        ["model", "weights", "dataset", "reduction", "order"]
    ):
        again = found[model, weights, dataset].signature(reduction, order)
        expected = some.groupby("index")[["score", "paired"]].mean()
        np.testing.assert_allclose(again.scores, expected["score"], atol=2e-5)
        np.testing.assert_allclose(again.summary["paired"], expected["paired"], atol=2e-5)
