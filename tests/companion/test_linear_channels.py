"""Channels that become linear by a criterion, on networks whose channels are known by construction."""

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

from affscore import AffscoreError
from affscore.network.batch import subject_of
from affscore.options import Execution, Options
from affscore.transport import diagonal_affinity
from companion.chapter_16.linear_channels import BY, DRAWS, FILE, MARGIN, SHARES, accuracies, channels_of, chosen
from companion.statistics import mean_of

MEANS = torch.tensor([0.0, 9.0, -9.0, 0.5])
"""What enters the ReLUs: the second is open and the third shut, which is affine; the first bends, the last less."""


class Known(nn.Module):
    """A linear layer that shifts, a ReLU (in place, or not), and what tells positive numbers of channel 0 apart."""

    def __init__(self, inplace: bool = False, image: bool = False) -> None:
        super().__init__()
        self.shift = nn.Parameter(MEANS[:, None, None] if image else MEANS)
        self.relu = nn.ReLU(inplace)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits: 0, and a linear function of the outputs."""
        y = self.relu(x + self.shift)
        y = y.mean(dim=(2, 3)) if y.ndim == 4 else y
        answer = 100 * y[:, 0] + y[:, 1] + y[:, 2] - 9.5
        return torch.stack([torch.zeros_like(answer), answer], dim=1)


def samples(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def measured(network: nn.Module, x: torch.Tensor):
    subject = subject_of(network, x, Options(criteria=()), Execution("cpu", 50, False))
    return channels_of(subject, list(subject.stream.chunks))


@pytest.mark.parametrize("shape", [(400, 4), (60, 4, 3, 5)])
@pytest.mark.parametrize("inplace", [False, True])
def test_contributions_and_lines_are_those_of_the_definition(shape, inplace):
    x = samples(*shape)
    found = measured(Known(inplace, len(shape) == 4), x)
    before = x.movedim(1, -1).reshape(-1, 4) + MEANS
    after = before.relu()
    expected = diagonal_affinity(before, after).contributions
    np.testing.assert_allclose(found["contribution"], expected, atol=1e-6)
    np.testing.assert_allclose(found["variance"], after.var(0) / after.var(0).sum(), atol=1e-6)
    for channel in (0, 3):
        line = np.polyfit(before[:, channel].double(), after[:, channel].double(), 1)
        np.testing.assert_allclose(found.loc[channel, ["slope", "intercept"]].astype(float), line, atol=1e-5)
    assert found["affinity"][1:3].tolist() == pytest.approx([1, 1], abs=1e-3)  # open, and shut: both are affine


def test_criteria_choose_the_channels_that_are_right_by_construction():
    found = measured(Known(), samples(400, 4))
    assert set(chosen(found, "contribution", 0.5)["channel"]) == {1, 2}
    assert set(chosen(found, "affinity", 0.5)["channel"]) == {1, 2}
    assert set(chosen(found, "reversed", 0.5)["channel"]) == {0, 3}
    assert 1 not in set(chosen(found, "variance", 0.75)["channel"])  # it varies most, and is a line
    draws = [tuple(chosen(found, "random", 0.5, draw=draw)["channel"]) for draw in range(20)]
    assert len(set(draws)) > 3
    assert draws[3] == tuple(chosen(found, "random", 0.5, draw=3)["channel"])


def test_a_share_of_each_activation_or_of_all():
    one = measured(Known(), samples(400, 4))
    two = one.assign(layer="another", contribution=one["contribution"] + 1)
    both = pd.concat([one, two], ignore_index=True)
    of_each = chosen(both, "contribution", 0.5)
    assert of_each["layer"].value_counts().tolist() == [2, 2]
    assert set(chosen(both, "contribution", 0.5, "network")["layer"]) == {"relu"}


def test_the_right_channels_cost_nothing_and_the_wrong_ones_do():
    x = samples(800, 4)
    labels = Known()(x).argmax(dim=1)
    table = accuracies(Known(), (x, labels), 0)
    assert len(table) == 1 + len(SHARES) * (len(BY) - 1 + DRAWS + 2)
    half = table[(table["share"] == 0.5) & (table["scope"] == "layer")].groupby("by")["accuracy"].mean()
    assert table["accuracy"][0] == 1
    assert half["contribution"] == half["affinity"] == 1
    assert half["reversed"] < 0.9
    assert half["reversed"] < half["random"] < 1


@pytest.mark.parametrize(("data", "images"), [(samples(40, 4), 0), ((samples(40, 4), torch.zeros(40)), 3)])
def test_what_cannot_be_measured_is_said(data, images):
    with pytest.raises(AffscoreError, match="expected"):
        accuracies(Known(), data, images)


def test_the_stored_networks_say_what_the_page_says():
    """The plan's verdicts, over networks, with the interval for two comparisons together."""
    table = pd.read_parquet(FILE)
    plans = table.groupby(["dataset", "model"]).size()
    assert set(plans) == {1 + len(SHARES) * (len(BY) - 1 + DRAWS + 2)}
    assert plans.groupby("dataset").size().to_dict() == {"cifar10-test": 4, "imagenet-sample": 5, "digits": 10}
    kept = 100 * table.query("scope == 'layer'").groupby(["dataset", "model", "by"])["accuracy"].mean().unstack()
    leads = -kept.sub(kept.pop("contribution"), axis=0)
    better = {
        (place, by): mean_of(lead[by]).interval(together=2)[0] > MARGIN and (lead[by] > 0).sum() >= 8
        for place, lead in (("real", leads.drop("digits")), ("digits", leads.loc["digits"]))
        for by in BY[1:]
    }
    assert [pair for pair, holds in better.items() if not holds] == [("digits", "affinity")]
