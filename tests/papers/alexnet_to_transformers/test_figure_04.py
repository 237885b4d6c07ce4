"""What figure 4 prints of depth, size and operations, beside what torchvision's metadata gives."""

import numpy as np
import pytest
import torchvision

from affscore.analysis import FITS, STATISTICS
from affscore.papers.alexnet_to_transformers.figure_04 import common_characteristic_fits, common_characteristics_again
from affscore.papers.groups import (
    FIRST_PAPER_GROUPS,
    FIRST_PAPER_STATISTICS,
    accuracy_groups,
    study_groups,
    table_1_families,
)
from affscore.papers.printed import printed_table


@pytest.fixture(scope="module")
def fits():
    return common_characteristic_fits()


def test_every_group_is_fitted_in_every_way(fits):
    groups = study_groups()
    assert set(fits["group"]) == set(groups) == set(printed_table("figure4_r2").index)
    for (group, _), rows in fits.groupby(["group", "weights"]):
        assert list(rows["fit"]) == list(FITS)
        assert set(rows["points"]) == {len(groups[group])}


def test_weights_that_are_the_same_for_a_whole_group_stand_once(fits):
    versions = fits.groupby("group", sort=False)["weights"].unique().map(list).to_dict()
    assert versions["Pre-residual"] == ["DEFAULT"]
    assert versions["NAS-based"] == ["DEFAULT", "IMAGENET1K_V1"]
    assert "IMAGENET1K_SWAG_LINEAR_V1" in versions["ViTs"]


def test_parameters_of_the_searched_networks_by_hand(fits):
    """The three fits of the first weights: 0.79 linear, 0.97 in the logarithm, 0.99 quadratic."""
    meta = [torchvision.models.get_model_weights(name)["IMAGENET1K_V1"].meta for name in study_groups()["NAS-based"]]
    size = np.array([m["num_params"] for m in meta]) / 1e6
    accuracy = np.array([m["_metrics"]["ImageNet-1K"]["acc@1"] for m in meta])
    rows = fits[(fits["group"] == "NAS-based") & (fits["weights"] == "IMAGENET1K_V1")].set_index("fit")
    for kind, x, order in (("linear", size, 1), ("logarithm", np.log(size), 1), ("quadratic", size, 2)):
        rest = accuracy - np.polyval(np.polyfit(x, accuracy, order), x)
        assert rows.loc[kind, "r2"] == pytest.approx(1 - rest.var() / accuracy.var())
    assert rows["r2"].round(2).tolist() == [0.79, 0.97, 0.99]


def test_one_definition_gives_the_three_numbers_that_need_no_depth(fits):
    again = common_characteristics_again()
    metadata = again[again["characteristic"] != "depth"]
    assert len(metadata) == 3
    assert metadata["difference"].abs().max() < 0.001
    # cut after the third digit, they are the printed ones
    assert (np.floor(1000 * metadata["ours"]) / 1000).tolist() == metadata["printed"].tolist()


def test_no_other_definition_does(fits):
    """Over fits, weights, and R2 adjusted or not: the largest difference over the three groups."""
    metadata = fits[fits["characteristic"] != "depth"]
    default = metadata[metadata["weights"] == "DEFAULT"].set_index("group")
    first = metadata[metadata["weights"] == "IMAGENET1K_V1"].set_index("group")
    for kind in FITS:
        for column in ("difference", "adjusted_difference"):
            for table in (default, first.combine_first(default)):
                if kind == "logarithm" and column == "adjusted_difference" and table is default:
                    continue
                assert table.loc[table["fit"] == kind, column].abs().max() > 0.01


def test_depth_does_not_agree():
    again = common_characteristics_again()
    assert (again.loc[again["characteristic"] == "depth", "difference"].abs() > 0.03).all()


def test_groups_of_both_papers():
    groups = study_groups()
    assert {name: len(members) for name, members in groups.items()} == {
        "Pre-residual": 7, "Residual": 9, "NAS-based": 8, "ViTs": 5, "Post-ViT": 7
    }  # fmt: skip
    models = [f"mini:{name}" for members in groups.values() for name in members]
    table = accuracy_groups([*models, "mini:shufflenet_v2_x0_5", "googlenet@IMAGENET1K_V1"])
    for group, members in groups.items():
        assert table.loc[[f"mini:{name}" for name in members], "group"].eq(group).all()
    assert set(table["first_paper_group"].dropna()) == set(FIRST_PAPER_GROUPS)
    assert table.loc["mini:shufflenet_v2_x0_5", "first_paper_group"] == "Efficient"
    assert table["first_paper_group"].isna()["googlenet@IMAGENET1K_V1"]
    assert set(FIRST_PAPER_STATISTICS) < set(STATISTICS)
    first = table.groupby("first_paper_group")["family"].unique().map(set).to_dict()
    assert first["Traditional and residual"] == {"Pure convnets", "ResNets", "DenseNets"}
    assert first["Efficient"] == {"ShuffleNets", "ConvNeXts"}  # and SqueezeNets, of which none is here
    assert first["Vision transformers"] == {"ViTs"}


def test_the_families_of_table_1():
    families = set(table_1_families([name for members in study_groups().values() for name in members]).values())
    assert families - {"AlexNet", "Inception"} == set(printed_table("table1_family_correlations").index) - {"Average"}
