"""What holds of every criterion, also of one that is added; and how criteria are declared and chosen."""

import copy
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from affscore import AffscoreError, signature
from affscore.network.columns import ALWAYS, CONSTANT, choose_criteria
from affscore.network.criteria import COLUMNS, CRITERIA, SCHEMA
from affscore.network.scoring import BatchSamples, score_pair
from affscore.options import OF_THE_PAPERS, Options
from tests.affscore.network.activations import pair


@pytest.fixture(scope="module")
def x():
    return torch.randn(40, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) + 0.5


def row_of(x, y, *names):
    return score_pair(pair(x, y, dtype=x.dtype), Options(criteria=names))


@pytest.mark.parametrize("name", CRITERIA)
def test_its_columns_are_numbers_in_their_range(x, name):
    row = row_of(x, x.relu(), name)
    for field in CRITERIA[name].columns:
        low, high = field.within
        assert low <= row[field.name] <= high


@pytest.mark.parametrize("name", CRITERIA)
def test_it_is_missing_with_the_flags_that_it_names_and_only_there(x, name):
    constant = torch.ones_like(x)
    rows = [row_of(constant, x, name), row_of(x, constant, name), row_of(x, x.relu(), name)]
    assert [row["flag"] for row in rows] == [*CONSTANT, ""]
    for row in rows:
        for field in CRITERIA[name].columns:
            assert math.isnan(row[field.name]) == (row["flag"] in CRITERIA[name].missing)


def test_every_name_and_column_is_another_one():
    assert len({*COLUMNS}) == len(COLUMNS)
    assert "all" not in CRITERIA


def test_the_schema_has_the_columns_of_all_criteria_before_the_last_one():
    criteria = [field.name for criterion in CRITERIA.values() for field in criterion.columns]
    always = [field.name for field in ALWAYS]
    assert [field.name for field in SCHEMA] == [*always[:-1], *criteria, always[-1]]
    assert list(CRITERIA)[: len(OF_THE_PAPERS)] == [*OF_THE_PAPERS]


def test_a_criterion_is_computed_where_it_is_defined_only(x):
    def fail(x, y):
        raise AssertionError

    criterion = replace(CRITERIA["cka"], function=fail)
    assert np.isnan(criterion.numbers("constant output", BatchSamples(pair(x, x)))["cka"])


@pytest.mark.parametrize("wrong", ["ckaa", "", "cka,", "cka r2", ["ckaa"], ["cka", "philipp"], None, 1, [["cka"]]])
def test_an_unknown_criterion_is_refused(wrong):
    with pytest.raises(AffscoreError, match=r"criteria must be True, False, all, or names among cka, norm, .* got "):
        choose_criteria(wrong)


@given(st.lists(st.sampled_from([*CRITERIA, "all"]), min_size=1))
def test_criteria_in_a_text_are_those_of_the_list(names):
    expected = [name for name in CRITERIA if name in names or "all" in names]
    assert [*choose_criteria(names)] == [*choose_criteria(",".join(names))] == [*choose_criteria(", ".join(names))]
    assert [*choose_criteria(set(names))] == expected


def test_rounding_is_that_of_the_arithmetic_and_not_of_the_type(x):
    """Averages of half-precision numbers that vary by their rounding only."""
    y = 20.0 + 1e-6 * x.clamp(-1, 1)
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        row = score_pair(pair(x, y, dtype=dtype), Options(covariance="empirical", criteria=()))
        assert row["flag"] == ("" if dtype == torch.float64 else "constant output")


class RoundedTwice(nn.Conv2d):  # as some GPUs compute it: the product is rounded, and again with the bias
    def forward(self, x):
        return F.conv2d(x, self.weight) + self.bias[:, None, None]


@pytest.mark.parametrize("convolution", [nn.Conv2d, RoundedTwice])
@pytest.mark.parametrize("order", ["activate-first", "reduce-first"])
def test_channels_that_follow_from_others_count_alike_in_every_precision(order, convolution):
    """The errors of half precision cancel in a mean over positions, and so does what counts as their size."""
    torch.manual_seed(0)
    network = nn.Sequential(convolution(4, 12, 1), nn.ReLU(), convolution(12, 40, 1), nn.GELU())
    images = torch.randn(96, 4, 9, 9, dtype=torch.float64) + 2 * torch.randn(96, 4, 1, 1, dtype=torch.float64)
    found = {}
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        options = {"n": 96, "order": order, "covariance": "empirical", "criteria": False, "progress": False}
        one = signature(copy.deepcopy(network).to(dtype), images.to(dtype), **options)
        found[dtype] = one.scores
        assert one.table["flag"].tolist() == ["degenerate input"] * 2
    for dtype, scores in found.items():
        assert scores == pytest.approx(found[torch.float64], abs=1e-6 if dtype == torch.float32 else 1e-3)
