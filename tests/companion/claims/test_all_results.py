"""What counts as the papers' own measurement, and to which kind results belong."""

import pandas as pd
import pytest

from affscore.options import Specification
from companion import all_results
from companion.all_results import AllResults, measure_as_printed, not_as_printed, routes
from companion.studies import COLUMNS
from tests.synthetic_signatures import synthetic


@pytest.mark.parametrize(
    ("about", "reasons"),
    [
        ({}, []),
        ({"model": "vit_b_16", "reduction": "published"}, []),
        ({"model": "mini:resnet18"}, ["mini:resnet18 is not torchvision's network"]),
        ({"model": "resnet50"}, ["the weights are IMAGENET1K_V1 and not IMAGENET1K_V2"]),
        (
            {"dataset": "folder:photos", "n": 64},
            ["the images are folder:photos and not imagenet:DIR", "n is 64 and not 512"],
        ),
        ({"model": "vit_b_16"}, ["the reduction is mean and not published"]),
        ({"bias": "extrapolated"}, ["bias is extrapolated and not none"]),
        ({"covariance": "empirical"}, ["covariance is empirical and not ledoit-wolf"]),
        ({"batches": 1}, ["there is 1 batch and not at least two"]),
    ],
    ids=str,
)
def test_each_difference_is_told(about, reasons):
    assert not_as_printed(synthetic([0.5, 0.7], **about)) == reasons
    on_cifar = synthetic([0.5, 0.7], **about | {"dataset": "cifar10"})
    assert [one for one in not_as_printed(on_cifar, "cifar10") if "images" in one] == []  # of figure 15


def test_a_reader_is_told_which_results_are_not_taken():
    few, many = (synthetic([0.5], "alexnet", images=images) for images in (1024, 2048))
    checkpoint = synthetic([0.5], "resnet50", "resnet50_moco.pth")
    own = [few, many, synthetic([0.5], "vgg11", n=64), checkpoint]
    assert AllResults(own, own=own).unused == {
        "alexnet@IMAGENET1K_V1 on imagenet:imagenet": "another result of it has more images",
        "vgg11@IMAGENET1K_V1 on imagenet:imagenet": "n is 64 and not 512",
        "resnet50@resnet50_moco.pth on imagenet:imagenet": "the weights are resnet50_moco.pth and not IMAGENET1K_V2",
    }
    assert AllResults(own[2:3]).unused == {}


def test_results_go_to_the_kind_of_their_networks():
    mini = synthetic([0.58, 0.93], "mini:googlenet", "DEFAULT", "digits")
    cifar = synthetic([0.5, 0.7], "cifar_networks.py:resnet20", "resnet20.pt", "folder:cifar10-test")
    untrained = synthetic([0.5], "mini:vgg16", "random", "digits")
    older = synthetic([0.4, 0.93], "resnet50", "IMAGENET1K_V1")
    found = AllResults([mini, cifar, untrained, older, synthetic([0.4, 0.93], "googlenet")])
    named = {one.about: list(one.signatures) for one in found.kinds if one.signatures}
    assert named == {
        "the papers' networks on ImageNet": ["googlenet"],
        "the small networks on digits": ["googlenet"],
        "networks with and without shortcuts, on digits and on CIFAR-10": ["resnet20 on CIFAR-10"],
        "networks with other weights or reductions, on photographs": ["resnet50"],
    }
    assert [one.material for one in found.of_signatures] == ["the papers' networks", *["other networks"] * 4]
    assert found.mini.prefix == "mini:"


def test_studies_are_routed_by_a_column_and_a_design_is_the_mean_of_its_trainings():
    choices = pd.DataFrame([Specification(), Specification(order="reduce-first")])
    row = dict.fromkeys(COLUMNS, 0) | {"model": "mini:residual14", "network": "residual14", "batches": 1, "score": 0.5}
    seeds = [
        choices.assign(**row | {"weights": f"{n}.pt", "score": 0.5 + n / 10, "seed": n})[[*row, "seed"]] for n in (1, 3)
    ]
    study = pd.concat(seeds).assign(**{name: [*choices[name]] * 2 for name in choices})
    found = AllResults(
        [], studies={"shortcuts": study, "batch-size-cifar": study, "batch-size": study[:0], "mine": study}
    )
    assert list(found.pairs.signatures) == ["resnet14 on digits"]
    assert found.pairs.scores("resnet14 on digits") == pytest.approx([0.7])
    assert list(found.cifar.tables) == ["batch-size"]
    assert len(found.cifar.tables["batch-size"]) == 2  # under one specification
    assert found.mini.tables == found.other_weights.tables == {}
    assert set(routes()["networks"]) == {"digits", "pairs", "cifar", "photographs", "poster", "advantage"}


def test_each_network_is_measured_with_its_reduction_and_in_the_order_asked_for(monkeypatch):
    def kept(models, dataset, store, also, **options):
        return dict.fromkeys(models, (dataset, store, options))

    monkeypatch.setattr(all_results, "load_or_measure", kept)
    models = ["resnet18@DEFAULT", "swin_t@DEFAULT", "alexnet@DEFAULT"]
    found = measure_as_printed(iter(models), "digits", "results", images=512)
    assert list(found) == models
    for model, reduction in zip(models, ["mean", "published", "mean"], strict=True):
        assert found[model] == ("digits", "results", {"reduction": reduction, "images": 512})
