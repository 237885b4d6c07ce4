from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

import affscore
from affscore import AffscoreError
from affscore.comparison import compare as comparison
from affscore.comparison import signature_distance
from tests.affscore.recorder.hard_networks import Net

QUICK = {"n": 32, "images": 32, "criteria": False, "progress": False}
MINI = "mini:digitsnet"


@pytest.fixture(scope="module")
def trained():
    return affscore.signature(MINI, "digits", **QUICK)


def test_two_networks_by_name(trained):
    found = affscore.compare(MINI, f"{MINI}@random", **QUICK)
    assert list(found.signatures) == [f"{MINI}@DEFAULT", f"{MINI}@random"]
    assert found.signatures[f"{MINI}@DEFAULT"].scores.tolist() == trained.scores.tolist()
    random = found.signatures[f"{MINI}@random"].scores
    assert found.distances.iloc[0, 1] == signature_distance(trained.scores, random) > 0
    assert found.statistics.loc[f"{MINI}@random", "mean"] == pytest.approx(random.mean())


def test_a_file_a_signature_and_a_network(trained, tmp_path):
    file = trained.save(tmp_path / "kept.parquet")
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 8), nn.ReLU())
    net.preprocessing = None
    images = torch.randn(32, 1, 8, 8, generator=torch.Generator().manual_seed(0))
    found = affscore.compare(file, str(file), trained, net, data=images, names=list("abcd"), **QUICK)
    assert found.distances.loc["a", ["b", "c"]].tolist() == [0, 0]
    assert found.distances.loc["a", "d"] > 0
    assert len(found.figure().axes[0].lines) == 4


def test_the_same_twice_gets_numbers(trained):
    assert list(affscore.compare([trained, trained]).signatures) == [f"{MINI} (1)", f"{MINI} (2)"]


def test_what_was_measured_differently_is_refused(trained):
    summed = affscore.signature(MINI, "digits", **(QUICK | {"reduction": "sum"}))
    with pytest.raises(AffscoreError, match="different values of reduction"):
        affscore.compare(trained, summed)


@pytest.mark.parametrize(
    ("models", "options", "complaint"),
    [
        ((), {}, "a comparison needs results: name models"),
        (("mini:digitsnot", MINI), QUICK, "did you mean mini:digitsnet"),
        ((MINI, MINI), QUICK | {"names": ["a", "a"]}, "names must be 2 different ones"),
    ],
)
def test_bad_input_is_one_sentence(models, options, complaint):
    with pytest.raises(AffscoreError, match=complaint):
        affscore.compare(*models, **options)


@pytest.mark.slow
def test_a_store_is_read_and_filled(tmp_path):
    store = tmp_path / "store"
    first = affscore.compare(MINI, f"{MINI}@random", store=store, **QUICK)
    files = {path: path.stat().st_mtime_ns for path in store.glob("*.parquet")}
    assert len(files) == 2
    again = affscore.compare(MINI, f"{MINI}@random", store=store, **QUICK)
    assert {path: path.stat().st_mtime_ns for path in store.glob("*.parquet")} == files
    pd.testing.assert_frame_equal(first.distances, again.distances)


def test_a_store_keeps_only_what_has_a_name(tmp_path):
    with pytest.raises(AffscoreError, match="a store keeps what has a name"):
        affscore.compare(MINI, nn.ReLU(), store=tmp_path / "store", **QUICK)
    with pytest.raises(AffscoreError, match="a store keeps what has a name"):
        affscore.compare(MINI, MINI, data=torch.randn(32, 1, 8, 8), store=tmp_path / "store", **QUICK)


@pytest.mark.parametrize("given", [{"data_name": "mine"}, {"forward": print}, {"activations": [nn.Sigmoid]}])
def test_options_that_a_store_does_not_take(tmp_path, given):
    with pytest.raises(AffscoreError, match=f"go by names and what files say: omit {next(iter(given))}"):
        affscore.compare(MINI, f"{MINI}@random", store=tmp_path, **given, **QUICK)
    assert list(tmp_path.iterdir()) == []


def test_other_numbers_of_images_and_data_sets_are_said(trained):
    trained, other = replace(trained, notes=[]), affscore.signature(MINI, "random", **(QUICK | {"n": 16}))
    found = affscore.compare(trained, replace(other, notes=[]))
    assert len(found.notes) == 2
    assert "number of samples" in found.notes[0]
    assert "data sets differ" in found.notes[1]
    assert repr(found).endswith("\n2 notes: .notes")
    assert affscore.compare(trained, trained).notes == ()


def test_what_cannot_be_compared_is_refused_before_anything_is_measured(trained, monkeypatch):
    monkeypatch.setattr(comparison, "signature", None)
    with pytest.raises(AffscoreError, match="different values of covariance"):
        affscore.compare(MINI, trained, covariance="empirical", **QUICK)


def test_an_activation_without_a_score_is_left_out(trained):
    half = Net(lambda net, x: torch.relu(x) + torch.cos(torch.sigmoid(0 * x)))
    lost = affscore.signature(half, torch.randn(32, 4, generator=torch.Generator().manual_seed(0)), **QUICK)
    lost.table.loc[1, "score"] = float("nan")
    found = affscore.compare(trained, lost)
    assert any("1 of 2 activations have no score" in note for note in found.notes)
    assert found.statistics["activations"].tolist() == [9, 1]
    assert len(found.figure().axes[0].lines) == 2


def test_saved_as_a_table_and_as_a_figure(trained, tmp_path):
    found = affscore.compare(trained, f"{MINI}@random", **QUICK)
    table = pd.read_csv(found.save(tmp_path / "found.csv"), index_col="name")
    assert table.loc[f"{MINI}@random", f"distance to {MINI}@DEFAULT"] == pytest.approx(found.distances.iloc[0, 1])
    assert table["mean"].tolist() == pytest.approx(found.statistics["mean"].tolist())
    assert found.save(tmp_path / "found.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in found.save(tmp_path / "found.svg").read_bytes()[:2000]
    with pytest.raises(AffscoreError, match=r"must end in \.png or \.svg or \.pdf or \.csv"):
        found.save(tmp_path / "found.txt")


class TestData:
    """Signatures belong to their data: what these were is said where nobody named them, or two share a name."""

    net = nn.Sequential(nn.Linear(10, 4), nn.ReLU())
    rows = torch.randn(3, 64, 10, generator=torch.Generator().manual_seed(0))

    def of(self, rows, **options):
        return affscore.signature(self.net, rows, **(QUICK | {"images": None} | options))

    def test_other_numbers_of_the_same_name_are_said(self):
        one, same, other = self.of(self.rows[0]), self.of(self.rows[0], seed=1), self.of(self.rows[1], seed=1)
        assert not any("of the same name" in note for note in affscore.compare(one, same).notes)
        assert any("of the same name" in note for note in affscore.compare(one, same, other).notes)
        named = [replace(one, metadata=one.metadata | {"dataset": name}) for name in "ab"]
        assert not any("of the same name" in note for note in affscore.compare(*named).notes)

    def test_networks_that_prepare_the_same_images_differently_have_the_same_data(self, trained):
        net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU())
        notes = affscore.compare(trained, net, **QUICK).notes
        assert not any("of the same name" in note for note in notes)


def small(seed, last=nn.Tanh):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(20, 30), nn.ReLU(), nn.Linear(30, 30), last()).double()


def normal(samples, seed=0):
    return torch.randn(samples, 20, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def test_a_difference_is_that_of_the_means_and_its_interval_is_paired(trained):
    found = affscore.compare(MINI, f"{MINI}@random", **QUICK)
    (row,) = found.differences().to_dict("records")
    one, other = found.signatures.values()
    assert row["difference"] == pytest.approx(one.scores.mean() - other.scores.mean())
    assert row["paired"]
    drawn = one.resampled_means() - other.resampled_means()
    assert drawn.std() < np.hypot(one.resampled_means().std(), other.resampled_means().std())
    assert row["low"] <= np.quantile(drawn, 0.025) < np.quantile(drawn, 0.975) <= row["high"]
    assert found.differences(0.5)["high"][0] < row["high"]


def test_a_network_is_not_more_non_linear_than_itself():
    found = affscore.compare(*[small(0)] * 2, data=normal(64), n=64, criteria=False, names="ab", progress=False)
    (row,) = found.differences().to_dict("records")
    assert (row["difference"], row["low"], row["high"], row["more non-linear"]) == (0, 0, 0, "undecided")


def test_other_images_are_drawn_by_themselves():
    one, other = (
        affscore.signature(small(0), normal(64, seed), n=64, criteria=False, progress=False) for seed in (0, 1)
    )
    (row,) = affscore.compare(one, other).differences().to_dict("records")
    assert not row["paired"]
    assert row["low"] < row["difference"] < row["high"]


@pytest.mark.slow
@pytest.mark.parametrize("last", [nn.Tanh, nn.ReLU])
def test_the_interval_holds_the_difference_of_other_images(last):
    n, batches, networks = 128, 60, (small(0), small(1, last))
    each = [
        affscore.compare(*networks, data=batch, n=n, criteria=False, progress=False).differences().loc[0]
        for batch in normal(n * batches).split(n)
    ]
    truth = np.mean([row["difference"] for row in each])
    holds = sum(row["low"] < truth < row["high"] for row in each)
    # 57 are expected without the allowance for the bias; fewer than 51 of 60 have a probability of 0.4 % then
    assert holds >= 51
    half = np.mean([(row["high"] - row["low"]) / 2 for row in each])
    assert half < 6 * np.std([row["difference"] for row in each])  # else it holds everything


def test_there_is_no_interval_without_the_images(trained, tmp_path):
    file = trained.save(tmp_path / "kept.parquet")
    found = affscore.compare(file, f"{MINI}@random", **QUICK)
    with pytest.raises(AffscoreError, match="measure mini:digitsnet again to get an interval"):
        found.differences()


@pytest.mark.slow
def test_blocks_compare_with_blocks_alone(tmp_path):
    blocks = affscore.signature("mini:digitsnet", "digits", n=64, units="blocks", criteria=False)
    with pytest.raises(AffscoreError, match=r"different values of units .activations, blocks.; measure them alike"):
        affscore.compare(blocks, "mini:digitsnet", n=64)
    found = affscore.compare(blocks, "mini:digitsnet", n=64, units="blocks", names=["a", "b"])
    lacking = int(np.isnan(blocks.scores).sum())
    assert f"b: {lacking} of {len(blocks)} blocks have no score (other width), and are left out" in found.notes
