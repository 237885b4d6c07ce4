"""What chapters 6 and 8 say in words is what the numbers say."""

import pandas as pd
import pytest

from affscore.analysis import (
    STATISTICS,
    best_explained,
    best_fit_lead,
    best_of_each_seed,
    correlations_by_kind,
    criterion_correlations,
    explained_accuracy,
    explained_by_all,
    family_correlations,
    independent_best,
    independent_p_value,
    over_seeds,
    plain_r2,
    sign_counts,
)
from affscore.papers import (
    accuracy_groups,
    common_characteristic_fits,
    network_table,
    printed_correlations,
    printed_table,
    study_groups,
    study_models,
    table_1_again,
    table_1_families,
)
from affscore.survey import kept_signatures
from affscore.survey.shipped import shipped_signature
from affscore.zoo import characteristics, hard_task

COMMON = ["depth", "parameters", "gflops"]
CRITERIA = ["cka", "norm", "sparsity", "entropy", "r2", "cka_debiased", "nlc"]


def test_a_straight_line_gives_077_where_0955_is_printed():
    fits = common_characteristic_fits().set_index(["group", "weights", "fit"])
    assert round(fits.loc[("NAS-based", "DEFAULT", "linear"), "r2"], 2) == 0.77
    assert fits.loc[("NAS-based", "DEFAULT", "linear"), "printed"] == 0.955


def test_seven_lots_of_noise_on_five_points():
    assert round(independent_best(5, 7), 2) == 0.66


def test_the_printed_groups_against_chance():
    """Four of five stand the test; the early networks: one in four; noise beats the characteristics of two groups."""
    printed = printed_table("figure4_r2")
    by_chance, beaten = {}, {}
    for group, members in study_groups().items():
        size = len(members)
        statistic, common = (plain_r2(printed.loc[group, f"{which}_r2"], size) for which in ("signature", "common"))
        by_chance[group] = independent_p_value(statistic, size, 7)
        beaten[group] = independent_p_value(common, size, 7)
    assert {group for group, p in by_chance.items() if p < 0.05} == set(by_chance) - {"Pre-residual"}
    assert by_chance["Pre-residual"] == pytest.approx(1 / 4, abs=0.02)
    assert beaten["ViTs"] == pytest.approx(1 / 8, abs=0.01)
    assert beaten["Pre-residual"] == pytest.approx(1 / 11, abs=0.003)
    assert all(p < 0.05 for group, p in beaten.items() if group not in ("ViTs", "Pre-residual"))


def test_no_criterion_of_the_printed_table_keeps_its_sign():
    counts = sign_counts(printed_correlations())
    assert sorted(counts[["positive", "negative"]].min(axis=1)) == [1, 1, 1, 3, 4]


def test_networks_that_table_2_lacks_do_not_explain_the_average_of_table_1():
    norm = table_1_again().xs("norm", level="criterion")
    average, missing = norm.loc["Average"], norm.loc["MNASNets"]
    assert (round(average["mean"], 3), average["printed_mean"]) == (-0.467, -0.44)
    with_them = (32 * average["mean"] + 4 * missing["printed_mean"]) / 36
    assert round(with_them, 3) == -0.475


def test_what_is_said_of_the_trained_networks_that_come_with_the_package():
    names = [f"{kind}{layers}" for kind in ("plainnet", "resnet") for layers in (20, 32, 44, 56)]
    names += ["mobilenet_v2", "squeezenet1_0", "squeezenet1_1"]
    summaries = {name: shipped_signature(f"shipped:{name}").summary for name in names}
    table = criterion_correlations(summaries, CRITERIA)
    counts = sign_counts(table)
    assert (counts.loc[["cka", "r2", "cka_debiased"], "positive"] == 11).all()
    assert (counts.loc[["sparsity", "nlc"], "negative"] == 11).all()
    assert (counts.loc["entropy", ["positive", "negative"]] > 0).all()
    assert table.loc[table["criterion"] == "norm", "correlation"].max() < 0
    assert counts.loc["norm", "negative"] == 9
    every = pd.concat(summaries.values(), keys=summaries)
    assert (every["cka"] - every["cka_debiased"]).abs().max() < 0.011
    blind = every[every["width"] > 512]
    assert (len(blind), len(blind.loc["mobilenet_v2"])) == (15, 13)
    assert blind["r2"].min() == pytest.approx(1)
    ranks = [summary["score"].corr(summary["cka"], method="spearman") for summary in summaries.values()]
    assert (round(min(ranks), 2), round(max(ranks), 2)) == (0.70, 0.94)


def default_run_of_chapter_6():
    networks = study_models("mini:")
    trials = hard_task()
    trials["model"] = "mini:" + trials.pop("name")
    trials = trials[trials["model"].isin(networks)].join(accuracy_groups(networks)["group"], on="model")
    table = over_seeds(trials.drop(columns="group"), by="model").join(accuracy_groups(networks)[["family", "group"]])
    return trials, table.join(characteristics(networks)[COMMON])


def test_what_chapter_6_says_of_its_default_run():
    trials, table = default_run_of_chapter_6()
    explained = explained_accuracy(table, [*STATISTICS, *COMMON], kind="logarithm")
    best = {
        which: best_explained(explained[explained["characteristic"].isin(columns)]).set_index("group")
        for which, columns in (("statistic", STATISTICS), ("common", COMMON))
    }
    wins = best["statistic"]["r2"] > best["common"]["r2"]
    assert set(wins[~wins].index) == {"NAS-based"}
    assert best["common"].loc["NAS-based", "characteristic"] == "gflops"
    printed = printed_table("figure4_r2")["best_signature_statistic"]
    same = best["statistic"]["characteristic"] == printed
    assert set(same[same].index) == {"NAS-based"}
    spread = best["statistic"].loc[["Pre-residual", "NAS-based"]]
    assert spread["characteristic"].tolist() == ["max/mean", "std"]
    assert (spread["correlation"] < 0).all()
    residual = table[table["group"] == "Residual"].groupby("family")
    assert residual["mean"].max()["DenseNets"] < residual["mean"].min()["ResNets"]
    assert residual["accuracy"].min()["DenseNets"] > residual["accuracy"].max()["ResNets"]
    assert best["common"].loc["ViTs", ["characteristic"]].tolist() == ["gflops"]
    assert best["common"].loc["ViTs", "correlation"] < 0
    winners = best_of_each_seed(trials.dropna(subset="group"), STATISTICS, kind="logarithm").set_index("group")
    assert (winners.groupby("group")["characteristic"].nunique() > 1).all()
    assert set(winners.loc["ViTs", "characteristic"]) == {"max", "median"}
    assert winners.loc["ViTs", "r2"].min() > 0.9
    assert winners.loc["Post-ViT", "r2"].max() < 0.6
    assert round(best["statistic"].loc["Post-ViT", "r2"], 2) == 0.85
    rows = {
        name: best_fit_lead(members, STATISTICS, COMMON, kind="logarithm")
        for name, members in table.groupby("group", sort=False)
    }
    assert {name for name, row in rows.items() if row["p_value"] < 0.05} == {"Residual", "ViTs", "Post-ViT"}
    assert rows["ViTs"]["p_value"] == 1 / 120
    assert rows["Pre-residual"]["p_value"] == pytest.approx(0.5, abs=0.05)
    assert min(rows[name]["beats_common"] for name in ("Pre-residual", "Residual")) > 0.5
    assert all(row["wins_if_nothing_matters"] > 0.5 for row in rows.values())


def test_what_chapter_8_says_of_its_default_run():
    networks = study_models("")
    summaries = {name: shipped_signature(f"shipped:mini:{name}").summary for name in networks}
    table = criterion_correlations(summaries)
    by_family = family_correlations(table, table_1_families(networks)).set_index(["family", "criterion"])
    family = by_family["mean"]
    places = [("ResNets", "sparsity"), ("DenseNets", "sparsity"), ("ResNets", "norm"), ("MNASNets", "norm")]
    assert [round(family[place], 2) for place in places] == [-0.88, 0.65, -0.64, 0.65]
    counts = sign_counts(table)
    assert (counts.loc[["norm", "sparsity", "entropy"], ["positive", "negative"]] > 0).all(axis=None)
    assert (counts.loc[["cka", "r2"], "negative"] == 0).all()
    assert counts.loc[["cka", "r2"], "positive"].tolist() == [28, 29]
    scatter = by_family["std"].unstack().drop("Average")
    assert scatter.loc["ViTs"].agg(["min", "max"]).round(2).tolist() == [0.33, 0.53]
    assert (scatter.loc["ViTs"] == scatter.max()).all()
    assert scatter.loc["Swins"].drop("cka").agg(["min", "max"]).round(2).tolist() == [0.04, 0.11]
    assert scatter.loc["Swins", "cka"] > 0.3
    assert max(summary["width"].max() for summary in summaries.values()) < 512
    families = network_table(networks)["family"].to_dict()
    together = explained_by_all(summaries, families)
    fitted = together.dropna(subset="within")
    assert (len(fitted), round(fitted["within"].mean(), 2), round(fitted["from_others"].mean(), 2)) == (33, 0.77, 0.51)
    others = together["from_others"]
    assert round(others.mean(), 2) == 0.52
    assert (others.idxmin(), round(others.min(), 2)) == ("vgg19", -0.33)
    assert (others.idxmax(), round(others.max(), 2)) == ("vit_l_16", 0.90)
    assert together.groupby("family")["from_others"].mean().idxmin() == "Pure convnets"
    for name, ends in {"ViTs": (6, 10), "Swins": (8, 10)}.items():
        lengths = {len(summaries[network]) for network in networks if families[network] == name}
        assert (min(lengths), max(lengths)) == ends


def test_what_is_left_of_sparsity_and_norm_within_the_two_clouds_of_a_resnet(tmp_path):
    names = [f"mini:resnet{layers}" for layers in (18, 34, 50, 101, 152)]
    found = kept_signatures(names, "digits", tmp_path, n=512, progress=False)
    table = correlations_by_kind({name.removeprefix("mini:"): one.summary for name, one in found.items()})
    deep = table.loc[["resnet101", "resnet152"]].round(2)
    for criterion, everywhere, others in (
        ("sparsity", [-0.9, -0.93], [0.12, 0.14]),
        ("norm", [-0.61, -0.66], [-0.01, 0.24]),
    ):
        assert deep.xs("all", level="part")[criterion].tolist() == everywhere
        assert deep.xs("others", level="part")[criterion].tolist() == others
        assert deep.xs("after-sum", level="part")[criterion].between(-0.95, -0.75).all()
    assert (table[["cka", "r2"]] > 0).all(axis=None)
    assert table.loc[("resnet152", "all"), "activations"] == 91
