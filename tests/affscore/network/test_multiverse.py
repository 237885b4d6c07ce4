"""One forward pass gives what separate signatures give, for every combination of the choices."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
import torch
from matplotlib import pyplot as plt
from torch import nn

from affscore import AffscoreError, load_multiverse, multiverse, signature
from affscore.network.multiverse import load_result
from affscore.options import DEFAULT, Options, Specification, checked

COVARIANCES = ("ledoit-wolf", "empirical")
COUPLINGS = ("exact", "paired")
WAYS = (("mean", "activate-first"), ("mean", "reduce-first"), ("sample", "activate-first"))
TWELVE = [Specification(*way, *more) for way in WAYS for more in itertools.product(COVARIANCES, COUPLINGS)]
"""reduction and order, covariance, coupling."""

NETWORKS = ("mini:resnet18", "mini:vit_b_16", "mini:mobilenet_v2", "mini:squeezenet1_1")
QUICK_AND_SLOW = [*NETWORKS[:2], *(pytest.param(name, marks=pytest.mark.slow) for name in NETWORKS[2:])]


@pytest.fixture(scope="module")
def found():
    return multiverse("mini:resnet18", "digits", n=64, images=192)


def separate(model, specification, **options):
    words = {name: getattr(specification, name) for name in ("reduction", "order", "covariance")}
    with warnings.catch_warnings(action="ignore"):
        return signature(model, "digits", criteria=False, **words, **options)


@pytest.mark.slow
@pytest.mark.parametrize("model", QUICK_AND_SLOW)
def test_its_scores_are_those_of_separate_signatures_to_the_last_bit(model):
    options = {"n": 48, "images": 96, "seed": 3}
    several = multiverse(model, "digits", **options)
    for choice in several.choices:
        alone = separate(model, choice, **options)
        expected = alone.scores if choice.coupling == "exact" else alone.summary["paired"].to_numpy()
        np.testing.assert_array_equal(several.scores[choice].to_numpy(), expected)
        np.testing.assert_array_equal(several.signature(*choice).scores, expected)
        if choice.coupling == "exact":
            of_it, own = (one.table.drop(columns="seconds") for one in (several.signature(*choice), alone))
            pd.testing.assert_frame_equal(of_it, own, check_exact=True)


def test_the_network_runs_once():
    network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 4, 3), nn.GELU())
    passes = []
    network.register_forward_hook(lambda *_: passes.append(1))
    samples = torch.randn(64, 3, 8, 8)
    signature(network, samples, n=64, criteria=False)
    once = len(passes)
    multiverse(network, samples, n=64)
    assert len(passes) == 2 * once


def test_the_table_has_a_row_for_each_activation_and_specification(found):
    table = found.table
    names = ["index", "layer", "call", "activation", "kind", "depth", "reduction", "order", "covariance", "coupling"]
    assert list(table.columns) == [*names, "bias", "score"]
    assert len(table) == 17 * 12
    assert not table.duplicated(names).any()
    assert table["score"].between(0, 1).all()
    default = separate("mini:resnet18", DEFAULT, n=64, images=192)
    first = table.head(17)
    np.testing.assert_array_equal(first["score"], default.scores)
    assert first["layer"].tolist() == default.summary["layer"].tolist()


def test_the_summary_has_a_row_for_each_specification(found):
    summary = found.summary
    assert list(map(tuple, summary[list(Specification._fields)].to_numpy())) == found.choices
    scores = found.scores
    for row, choice in zip(summary.itertuples(), found.choices, strict=True):
        own = scores[choice]
        assert row.activations == 17
        assert row.mean == pytest.approx(own.mean())
        assert row.spread == pytest.approx(own.max() - own.min())
        assert row.minimum == own.min()
        ranks = [one.rank() for one in (own, scores[DEFAULT])]
        assert row.rank_correlation == pytest.approx(np.corrcoef(*ranks)[0, 1])
    assert summary.loc[0, "rank_correlation"] == 1


@pytest.mark.slow
def test_further_reductions_and_corrected_scores_are_further_rows():
    more = multiverse("mini:vit_b_16", "digits", n=64, images=128, reductions=("mean", "published", "flatten"))
    ways = dict.fromkeys((choice.reduction, choice.order) for choice in more.choices)
    assert list(ways) == [
        ("mean", "activate-first"), ("mean", "reduce-first"),
        ("published", "activate-first"), ("published", "reduce-first"), ("flatten", "activate-first"),
    ]  # fmt: skip
    corrected = multiverse("mini:alexnet", "digits", n=64, images=128, bias="extrapolated")
    assert corrected.choices == TWELVE + [choice._replace(bias="extrapolated") for choice in TWELVE]
    plain = multiverse("mini:alexnet", "digits", n=64, images=128)
    np.testing.assert_array_equal(corrected.scores[TWELVE], plain.scores[TWELVE])
    wide = corrected.scores[Specification(covariance="empirical", bias="extrapolated")]
    assert wide.mean() < corrected.scores[Specification(covariance="empirical")].mean()  # n = 64 is biased upwards
    assert wide.between(0, 1).all()


class Folded(nn.Module):
    """Takes (N, C, H, W) only."""

    def forward(self, x):
        assert x.ndim == 4, "an image is needed"
        return torch.relu(x)


def test_an_activation_that_cannot_be_applied_to_vectors_has_no_score_there():
    network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 4, 3), Folded())
    samples = torch.randn(64, 3, 8, 8)
    found = multiverse(network, samples, n=32, activations=[Folded])
    counts = found.summary.set_index(["reduction", "order"])["activations"]
    assert set(counts["mean", "reduce-first"]) == {1}
    assert set(counts["mean", "activate-first"]) == set(counts["sample", "activate-first"]) == {2}
    (note,) = [note for note in found.notes if "reduce-first" in note]
    assert note.startswith("1 activation has no score under reduce-first")
    with pytest.raises(AffscoreError, match="activate-first"):
        signature(network, samples, n=32, activations=[Folded], order="reduce-first")
    only = nn.Sequential(nn.Conv2d(3, 4, 3), Folded())
    assert len(multiverse(only, samples, n=32, activations=[Folded]).choices) == 8


def test_notes_are_those_of_all_specifications_and_of_each(found):
    alone = separate("mini:resnet18", Specification(reduction="sample"), n=64, images=192)
    assert found.signature("sample").notes == alone.notes
    assert found.signature().notes == separate("mini:resnet18", DEFAULT, n=64, images=192).notes
    of_each = {choice: found.signature(*choice).notes for choice in found.choices if choice.coupling == "exact"}
    values = {choice: [note.value for note in notes if note.value] for choice, notes in of_each.items()}
    (largest,) = [note for note in found.notes if note.value]
    assert [largest.value] == max(values.values())
    assert all(largest in of_each[choice] for choice, value in values.items() if value == [largest.value])
    said = [note for notes in of_each.values() for note in notes]
    assert found.notes == [*dict.fromkeys(note for note in said if note.value in (None, largest.value))]


def test_what_one_batch_refuses_is_left_out_of_all():
    class Once(nn.Module):
        """Cannot be applied to vectors that are as large as those of the second batch."""

        def forward(self, x):
            if x.ndim == 2 and float(x.max()) > 50:
                raise ValueError("too large")
            return torch.relu(x)

    network, x = nn.Sequential(nn.Identity(), Once(), nn.Tanh()), torch.randn(96, 3, 4, 4)
    x[32:64] += 100
    found = multiverse(network, x, n=32, activations=[Once])
    counts = found.summary.set_index(["reduction", "order"])["activations"]
    assert set(counts["mean", "reduce-first"]) == {1}
    assert set(counts["mean", "activate-first"]) == {2}
    assert found.signature(order="reduce-first").table.groupby("index")["batch"].nunique().tolist() == [3]
    assert sum(note.startswith("1 activation has no score under reduce-first") for note in found.notes) == 1


def test_fewer_reductions_of_a_multiverse_are_one_of_fewer(found):
    narrow, alone = (
        found.narrowed(["sample"]),
        multiverse("mini:resnet18", "digits", n=64, images=192, reductions="sample"),
    )
    assert narrow.choices == alone.choices == TWELVE[8:]
    assert narrow.notes == alone.notes
    pd.testing.assert_frame_equal(narrow.scores, alone.scores, check_exact=True)
    turned = found.narrowed(["sample", "mean"])
    assert turned.choices[0] == DEFAULT
    assert found.narrowed(["mean", "sample"]) == found


def test_what_was_not_measured_is_said(found):
    with pytest.raises(
        AffscoreError, match=r"published, activate-first, .* was not measured; there are: mean, activate"
    ):
        found.signature("published")
    for choice in ({"bias": "extrapolated"}, {"coupling": "pair"}):
        with pytest.raises(AffscoreError, match="was not measured; there are: "):
            found.signature(**choice)
    with pytest.raises(AffscoreError, match=r"there are: .*sample, activate-first, "):
        found.signature("sample", "reduce-first")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"reductions": ()}, "needs one reduction or more"),
        ({"reductions": {"mean", "sample"}}, "in a list or a tuple"),
        ({"reductions": [["mean"]]}, "reduction must be one of"),
        ({"reductions": ("mean", "median")}, "reduction must be one of"),
        ({"bias": "removed"}, "bias must be one of"),
    ],
)
def test_wrong_arguments(wrong, message):
    with pytest.raises(AffscoreError, match=message):
        multiverse("mini:digitsnet", "digits", **wrong)


def test_a_file_holds_all_of_it(found, tmp_path):
    path = found.save(tmp_path / "x.parquet")
    assert load_multiverse(path) == load_result(path) == found
    assert repr(found).startswith("Multiverse of mini:resnet18 (DEFAULT) on digits: 17 activations, 12 specifications")
    assert found != found.signature()
    curve, _ = found.plot().axes
    assert [text.get_text() for text in curve.get_legend().get_texts()] == ["default", "Definition 3.1"]
    plt.close("all")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bias": "extrapolated"}, "a choice of a multiverse"),
        ({"multiverse": ("mean",), "reduction": "sum"}, "omit reduction"),
        ({"multiverse": ("mean",), "covariance": "empirical"}, "omit covariance"),
        ({"multiverse": ("mean",), "criteria": ("cka",)}, "omit criteria"),
    ],
)
def test_options_that_exclude_each_other(options, message):
    with pytest.raises(AffscoreError, match=message):
        checked(Options(**options))
