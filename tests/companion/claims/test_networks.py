import pandas as pd
import pytest

from affscore.errors import AffscoreError
from companion.networks import network_table, study_models


def test_the_study_has_its_networks_in_the_order_of_the_years():
    table = network_table(study_models(""))
    assert len(table) == 36
    assert table["year"].is_monotonic_increasing
    assert table["group"].value_counts().to_dict() == {
        "Pre-residual": 7,
        "Residual": 9,
        "NAS-based": 8,
        "ViTs": 5,
        "Post-ViT": 7,
    }


def test_a_network_is_known_whatever_stands_around_its_name_and_others_are_families_of_their_own():
    table = network_table(["mini:resnet50@random", "timm:resnet50@a.pth", "resnet50", "nets/mine.py:build@weights.pt"])
    assert table["name"].tolist()[:3] == ["resnet50"] * 3
    assert table["family"].tolist() == ["ResNets"] * 3 + ["build"]
    assert table["year"].tolist()[:3] == [2015] * 3
    assert pd.isna(table["year"].iloc[3])


def test_a_network_that_is_named_twice_is_refused():
    with pytest.raises(AffscoreError, match="got vgg11 more than once"):
        network_table(["vgg11", "alexnet", "vgg11"])
