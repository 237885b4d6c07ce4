"""Characteristics by name: torchvision's metadata, and depths that can be counted again."""

import re

import count_depths
import numpy as np
import pandas as pd
import pytest
import torch
import torchvision

from affscore import AffscoreError
from affscore.recorder import recording
from companion.characteristics import (
    DEPTHS,
    _architectures,
    architecture_of,
    characteristics,
    torchvision_names,
    weight_versions,
)
from companion.mini_zoo import list_models
from tests.affscore.recorder.torchvision_networks import input_of, without_numbers

QUICK = ("alexnet", "vgg19", "googlenet", "inception_v3", "resnet50", "densenet121", "mnasnet1_0", "swin_t")


class Counter:
    def __init__(self):
        self.depths = []

    def before(self, call, x, apply):
        self.depths.append(call.depth)

    def after(self, call, y):
        pass


def counted(name):
    model, counter, images = without_numbers(name), Counter(), input_of(name)
    with torch.no_grad(), recording(model, counter) as recorder:
        recorder.start(images)
        model(images)
    return [max(counter.depths), len(counter.depths)]


def depths():
    return pd.read_csv(DEPTHS, comment="#", index_col="name")


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.slow
def test_a_depth_is_what_the_recorder_counts(name):
    assert depths().loc[name, ["depth", "activations"]].tolist() == counted(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in depths().index if name not in QUICK])
def test_the_other_depths_are_what_the_recorder_counts(name):
    assert depths().loc[name, ["depth", "activations"]].tolist() == counted(name)


@pytest.mark.slow
def test_the_script_writes_the_table(tmp_path):
    file = tmp_path / "depths.csv"
    few = [line for line in DEPTHS.read_text().splitlines() if line.split(",")[0] in ("name", "vgg11", "swin_t")]
    file.write_text("\n".join([*few, "alexnet,0,0"]))
    count_depths.main(file, added=("mobilenet_v3_small", "vgg11"))
    written = pd.read_csv(file, comment="#", index_col="name")
    assert list(written.index) == ["vgg11", "swin_t", "alexnet", "mobilenet_v3_small"]
    pd.testing.assert_frame_equal(written.iloc[:3], depths().loc[["vgg11", "swin_t", "alexnet"]])
    assert written.loc["mobilenet_v3_small"].tolist() == counted("mobilenet_v3_small")  # its gates are a chain of parts


def test_the_numbers_are_those_of_the_metadata():
    names = ["resnet50", "resnet50@IMAGENET1K_V1", "vit_b_16@IMAGENET1K_SWAG_E2E_V1"]
    table = characteristics(names)
    assert list(table.index) == names
    meta = torchvision.models.ViT_B_16_Weights.IMAGENET1K_SWAG_E2E_V1.meta
    row = table.loc[names[2]]
    assert (row["parameters"], row["gflops"]) == (meta["num_params"], meta["_ops"])
    assert row["accuracy"] == meta["_metrics"]["ImageNet-1K"]["acc@1"]
    assert (row["name"], row["weights"], row["family"], row["year"]) == (
        "vit_b_16",
        "IMAGENET1K_SWAG_E2E_V1",
        "ViTs",
        2020,
    )
    assert table["weights"].tolist()[:2] == ["IMAGENET1K_V2", "IMAGENET1K_V1"]
    assert table["accuracy_standard_error"].isna().all()


def test_random_weights_have_no_accuracy():
    table = characteristics(["resnet18@random"])
    assert np.isnan(table.loc["resnet18@random", "accuracy"])
    assert table.loc["resnet18@random", ["weights", "depth"]].tolist() == ["random", 17]


def test_depth_and_number_of_activations_are_two_numbers():
    row = characteristics(["googlenet"]).loc["googlenet"]
    assert (row["depth"], row["activations"]) == (21, 57)  # modules of four branches


def test_a_depth_that_was_not_counted_is_missing():
    assert np.isnan(characteristics(["regnet_y_400mf"]).loc["regnet_y_400mf", "depth"])


def test_no_network_is_an_empty_table():
    assert len(characteristics([])) == 0


def test_weights_without_a_stated_accuracy_are_no_version():
    assert weight_versions("vgg16") == ["IMAGENET1K_V1"]


@pytest.mark.parametrize("name", ["resnet19", "fasterrcnn_resnet50_fpn"])
def test_an_unknown_network_is_refused(name):
    with pytest.raises(AffscoreError, match="not known"):
        characteristics([name])


def test_unknown_weights_are_refused_with_the_known_ones():
    with pytest.raises(AffscoreError, match="IMAGENET1K_V1, IMAGENET1K_V2"):
        characteristics(["resnet50@best"])


def test_small_networks_have_the_numbers_of_their_table():
    listed = list_models().set_index("name")
    table = characteristics(["mini:resnet18", "mini:vgg11@random", "alexnet"])
    row, known = table.loc["mini:resnet18"], listed.loc["resnet18"]
    for name in ("family", "year", "accuracy", "accuracy_standard_error", "parameters", "depth"):
        assert row[name] == known[name]
    assert row["gflops"] == known["flops"] / 1e9
    assert table.loc["mini:vgg11@random", ["accuracy", "accuracy_standard_error"]].isna().all()
    assert table.loc["mini:vgg11@random", "depth"] == listed.loc["vgg11", "depth"]


@pytest.mark.parametrize(
    ("name", "complaint"), [("mini:net", "nothing is stated of 'mini:net"), ("mini:vgg11@best", "DEFAULT and random")]
)
def test_an_unknown_small_network_is_refused(name, complaint):
    with pytest.raises(AffscoreError, match=complaint):
        characteristics([name])


def test_of_networks_that_nobody_describes_only_the_names_are_known():
    table = characteristics(["../mine/net.py:small@best.pth", "timm:resnet26@random", "resnet18@../weights/mine.pth"])
    assert table["name"].tolist() == ["net.py:small", "timm:resnet26", "resnet18"]
    assert table["weights"].tolist() == ["best.pth", "random", "mine.pth"]
    assert table["accuracy"].isna().all()
    assert table["parameters"].isna().tolist() == [True, True, False]
    assert table["depth"].tolist()[-1] == 17


def test_no_accuracy_is_stated_of_a_file_however_it_ends():
    table = characteristics(["resnet50@moco_v2_800ep.pth.tar", "resnet50@sce.ckpt"])
    assert table["accuracy"].isna().all()
    assert table["weights"].tolist() == ["moco_v2_800ep.pth.tar", "sce.ckpt"]


@pytest.mark.parametrize("name", torchvision_names())
def test_every_network_of_torchvision_has_a_family_and_a_publication(name):
    """The publication is the one that torchvision's documentation cites, where it cites one on arXiv."""
    architecture = architecture_of(name)
    document = torchvision.models.get_model_builder(name).__doc__
    cited = re.findall(r"arxiv\.org/(?:abs|pdf)/(\d{4}\.\d{4,5})", document)
    ours = re.search(r"arXiv:(\d{4}\.\d{4,5})$", architecture.publication)[1]
    assert not cited or ours in cited, (architecture, cited)


def test_the_year_is_that_in_which_the_publication_appeared():
    for architecture in _architectures():
        year = 2000 + int(re.search(r"arXiv:(\d\d)", architecture.publication)[1])
        assert architecture.year == (2012 if architecture.begins == "alexnet" else year)


def test_every_line_of_the_table_is_needed():
    used = {architecture_of(name).begins for name in torchvision_names()}
    assert used == {architecture.begins for architecture in _architectures()}
