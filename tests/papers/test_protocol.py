"""What counts as the papers' own measurement, and the reasons where something does not."""

import pytest

from affscore.papers import protocol
from affscore.papers.all_results import AllResults
from affscore.papers.protocol import by_printed_reduction, measure_as_printed, not_as_printed
from affscore.survey import stored_signatures
from tests.synthetic_signatures import synthetic


@pytest.mark.parametrize(
    ("about", "reason"),
    [
        ({}, None),
        ({"model": "vit_b_16", "reduction": "published"}, None),
        ({"model": "mini:resnet18"}, "mini:resnet18 is not torchvision's network"),
        ({"model": "cifar_networks.py:resnet20"}, "cifar_networks.py:resnet20 is not torchvision's network"),
        ({"weights": "random"}, "the weights are random and not IMAGENET1K_V1"),
        ({"model": "resnet50"}, "the weights are IMAGENET1K_V1 and not IMAGENET1K_V2"),
        ({"dataset": "folder:photos"}, "the images are folder:photos and not imagenet:DIR"),
        ({"dataset": "cifar10"}, "the images are cifar10 and not imagenet:DIR"),
        ({"model": "vit_b_16"}, "the reduction is mean and not published"),
        ({"reduction": "published"}, "the reduction is published and not mean"),
        ({"n": 64}, "n is 64 and not 512"),
        ({"order": "reduce-first"}, "order is reduce-first and not activate-first"),
        ({"covariance": "empirical"}, "covariance is empirical and not ledoit-wolf"),
        ({"coupling": "paired"}, "coupling is paired and not exact"),
        ({"bias": "extrapolated"}, "bias is extrapolated and not none"),
        ({"batches": 1}, "there is 1 batch and not at least two"),
    ],
    ids=str,
)
def test_each_difference_is_told(about, reason):
    assert not_as_printed(synthetic([0.5, 0.7], **about)) == ([] if reason is None else [reason])


def test_all_differences_are_told():
    reasons = not_as_printed(synthetic([0.5], weights="random", n=64, batches=1))
    assert [words.split()[1] for words in reasons] == ["weights", "is", "is"]


def test_another_data_set_of_figure_15():
    one = synthetic([0.5], dataset="cifar10")
    assert not_as_printed(one, "cifar10") == []
    assert not_as_printed(one, "cifar100") == ["the images are cifar10 and not cifar100"]


def test_a_reader_is_told_which_results_are_not_taken():
    few = synthetic([0.5], "alexnet", images=1024)
    many = synthetic([0.5], "alexnet", images=2048)
    small = synthetic([0.5], "vgg11", n=64)
    elsewhere = synthetic([0.5], "vgg13", dataset="cifar100")
    checkpoint = synthetic([0.5], "resnet50", "resnet50_moco.pth")
    results = AllResults([few, many, small, elsewhere, checkpoint], own=[few, many, small, elsewhere, checkpoint])
    assert results.unused == {
        "alexnet@IMAGENET1K_V1 on imagenet:imagenet": "another result of it has more images",
        "vgg11@IMAGENET1K_V1 on imagenet:imagenet": "n is 64 and not 512",
        "resnet50@resnet50_moco.pth on imagenet:imagenet": "the weights are resnet50_moco.pth and not IMAGENET1K_V2",
    }
    assert AllResults([small]).unused == {}


def test_networks_are_measured_with_the_reduction_of_their_printed_numbers(tmp_path):
    file = tmp_path / "vit_of_mine.py"
    file.write_text(
        "import torch\n"
        "def swin_of_mine():\n"
        "    torch.manual_seed(0)\n"
        "    return torch.nn.Sequential(torch.nn.Conv2d(3, 4, 16, 16), torch.nn.ReLU())\n"
        "def plain():\n"
        "    return swin_of_mine()\n"
    )
    models = [f"{file}:plain", f"{file}:swin_of_mine"]
    assert by_printed_reduction(models) == {"mean": models[:1], "published": models[1:]}
    options = {"n": 32, "images": 32, "criteria": False, "progress": False}
    found = measure_as_printed(models, "random", tmp_path / "store", **options)
    assert list(found) == models
    assert [one.metadata["reduction"] for one in found.values()] == ["mean", "published"]
    assert len(stored_signatures(tmp_path / "store")) == 2


@pytest.mark.parametrize("name", ["vit_h_14", "swin_v2_t", "convnext_large", "maxvit_t"])
def test_networks_with_their_channels_last_were_averaged_in_another_way(name):
    assert protocol.printed_reduction(name) == "published"
    assert protocol.by_printed_reduction([f"{name}@DEFAULT"]) == {"published": [f"{name}@DEFAULT"]}


@pytest.mark.parametrize("name", ["densenet121", "efficientnet_b1", "my_vit_file"])
def test_all_others_were_averaged_over_positions(name):
    assert protocol.printed_reduction(name) == "mean"


def test_each_network_is_measured_with_its_reduction_and_in_the_order_asked_for(monkeypatch):
    def kept(models, dataset, store, **options):
        return dict.fromkeys(models, (dataset, store, options))

    monkeypatch.setattr(protocol, "load_or_measure", kept)
    models = ["resnet18@DEFAULT", "swin_t@DEFAULT", "alexnet@DEFAULT"]
    found = protocol.measure_as_printed(iter(models), "digits", "results", images=512)
    assert list(found) == models
    for model, reduction in zip(models, ["mean", "published", "mean"], strict=True):
        assert found[model] == ("digits", "results", {"reduction": reduction, "images": 512})
