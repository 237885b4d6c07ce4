"""What chapter 6 says of families within groups, against the numbers."""

from pathlib import Path

import pytest

import affscore
from affscore.analysis import STATISTICS, best_fit_lead, best_fit_tests, over_seeds
from affscore.papers import FIRST_PAPER_STATISTICS, accuracy_groups, study_models
from affscore.zoo import characteristics

PAGE = " ".join(
    (Path(__file__).parents[2] / "notebooks" / "06_accuracy_and_non_linearity.py")
    .read_text()
    .replace("\n# ", " ")
    .split()
)
COMMON = ["depth", "parameters", "gflops"]


@pytest.fixture(scope="module")
def networks():
    names = [*study_models("mini:"), "mini:squeezenet1_1", "mini:shufflenet_v2_x1_0", "mini:mobilenet_v2"]
    trials = affscore.zoo.hard_task()
    trials["model"] = "mini:" + trials.pop("name")
    trials = trials[trials["model"].isin(names)]
    return accuracy_groups(names).join(over_seeds(trials, by="model")).join(characteristics(names)[COMMON]), trials


def said(sentence):
    assert sentence in PAGE, sentence


def test_families_alone_and_within(networks):
    table, _ = networks
    found = best_fit_tests(table.dropna(subset="group"), list(STATISTICS), kind="logarithm")
    residual, youngest, transformers = (found.loc[name] for name in ("Residual", "Post-ViT", "ViTs"))
    assert round(residual["between_families"], 2) == round(residual["statistic_r2"], 2) == 0.65
    assert round(residual["p_within"], 2) == 0.81
    said('"ResNet or DenseNet" explains 0.65 of the accuracies of the residual group')
    said("($p = 0.81$)")
    assert round(youngest["p_within"], 3) == 0.035
    said("The youngest group keeps 0.035.")
    assert transformers["families"] == 1
    large = table.loc[["mini:vit_b_32", "mini:vit_l_32"], "accuracy"]
    others = table.loc[["mini:vit_b_16", "mini:vit_l_16", "mini:vit_h_14"], "accuracy"]
    assert [int(large.min()), round(others.min()), round(others.max())] == [80, 23, 52]
    said("are by far the best (80 per cent against 23 to 52)")
    first = table.assign(group=table["first_paper_group"]).dropna(subset="group")
    oldest = best_fit_tests(first, list(FIRST_PAPER_STATISTICS)).loc["Traditional and residual"]
    assert (oldest["networks"], oldest["families"]) == (14, 3)
    assert (round(oldest["p_within"], 2), round(oldest["p_value"], 3)) == (0.14, 0.002)
    said("The 14 of the first group are three families once more: within these $p$ is 0.14 and not 0.002.")


def test_the_comparison_with_common_characteristics(networks):
    table, _ = networks
    rows = {
        group: best_fit_lead(members, list(STATISTICS), COMMON, kind="logarithm")
        for group, members in table.dropna(subset="group").groupby("group")
    }
    won = {group for group, row in rows.items() if row["statistic_r2"] > row["common_r2"]}
    assert len(won) == 4
    beaten = {group: rows[group]["beats_common"] for group in won}
    assert min(beaten.values()) > 0.05
    assert beaten["Pre-residual"] > 0.5 < beaten["Residual"]
    assert round(beaten["ViTs"], 2) == round(beaten["Post-ViT"], 2) == 0.06
    said("in the transformers and the youngest group it does so in 6 of 100 shuffles")
    said("In no group that the signature wins is the victory beyond chance at 0.05.")


def test_the_noise_of_one_training(networks):
    table, trials = networks
    youngest = trials[trials["model"].isin(table.index[table["group"] == "Post-ViT"])].groupby("model")["accuracy"]
    assert round(youngest.var().mean() ** 0.5, 1) == 2.1
    assert round(youngest.mean().std(), 1) == 3.1
    said("the accuracy of one training varies by 2.1 points, that of different networks of the group by 3.1")
