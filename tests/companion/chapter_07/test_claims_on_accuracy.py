"""What figure 4 prints of depth, size and operations, beside what torchvision's metadata gives."""

import numpy as np
import pytest
import torchvision

from companion.chapter_07.claims import common_characteristics_again
from companion.characteristics import characteristics
from companion.networks import FIRST_PAPER_GROUPS, accuracy_groups, study_groups, table_1_families
from companion.printed import printed_table
from companion.regression import fit


def test_one_definition_gives_the_three_numbers_that_need_no_depth():
    again = common_characteristics_again()
    depth = again["characteristic"] == "depth"
    assert ((~depth).sum(), again["difference"][~depth].abs().max() < 0.001) == (3, True)
    assert (again["difference"][depth].abs() > 0.03).all()
    for group, row in again[~depth].iterrows():
        table = characteristics(study_groups()[group])
        x, accuracy = table[row["characteristic"]], table["accuracy"]
        assert row["ours"] == pytest.approx(fit(x, accuracy, "logarithm").adjusted_r2)
    # cut after the third digit, they are the printed ones
    assert (np.floor(1000 * again["ours"][~depth].astype(float)) / 1000).tolist() == again["printed"][~depth].tolist()


def test_parameters_of_the_searched_networks_by_hand():
    meta = [torchvision.models.get_model_weights(name)["DEFAULT"].meta for name in study_groups()["NAS-based"]]
    size = np.log([one["num_params"] for one in meta])
    accuracy = np.array([one["_metrics"]["ImageNet-1K"]["acc@1"] for one in meta])
    rest = accuracy - np.polyval(np.polyfit(size, accuracy, 1), size)
    adjusted = 1 - rest.var() / accuracy.var() * (len(size) - 1) / (len(size) - 2)
    assert common_characteristics_again().loc["NAS-based", "ours"] == pytest.approx(adjusted)


def test_groups_of_both_papers_and_families_of_table_1():
    groups = study_groups()
    assert list(map(len, groups.values())) == [7, 9, 8, 5, 7]
    models = [f"mini:{name}" for members in groups.values() for name in members]
    table = accuracy_groups([*models, "mini:shufflenet_v2_x0_5", "googlenet@IMAGENET1K_V1"])
    for group, members in groups.items():
        assert table.loc[[f"mini:{name}" for name in members], "group"].eq(group).all()
    first = table.groupby("first_paper_group")["family"].unique().map(set).to_dict()
    assert set(first) == set(FIRST_PAPER_GROUPS)
    assert first["Efficient"] == {"ShuffleNets", "ConvNeXts"}  # and SqueezeNets, of which none is here
    assert table["first_paper_group"].isna()["googlenet@IMAGENET1K_V1"]
    families = set(table_1_families(models).values())
    assert families - {"AlexNet", "Inception"} == set(printed_table("table1_family_correlations").index) - {"Average"}
