"""Characteristics by name: torchvision's metadata, and depths that can be counted again."""

import re

import count_depths
import pandas as pd
import pytest
import torch
import torchvision

from affscore import AffscoreError
from affscore.recorder import recording
from companion.characteristics import DEPTHS, architecture_of, characteristics, torchvision_names, weight_versions
from companion.mini_zoo import list_models
from tests.affscore.recorder.torchvision_networks import input_of, without_numbers


def depths():
    return pd.read_csv(DEPTHS, comment="#", index_col="name")


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


@pytest.mark.slow
@pytest.mark.parametrize("name", depths().index)
def test_a_depth_is_what_the_recorder_counts(name):
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


def test_the_numbers_are_those_of_the_metadata_and_of_the_counted_depths():
    names = ["resnet50", "resnet50@IMAGENET1K_V1", "vit_b_16@IMAGENET1K_SWAG_E2E_V1", "resnet18@random", "googlenet",
             "regnet_y_400mf"]  # fmt: skip
    table = characteristics(names)
    assert list(table.index) == names
    meta = torchvision.models.ViT_B_16_Weights.IMAGENET1K_SWAG_E2E_V1.meta
    row = table.loc[names[2]]
    assert (row["parameters"], row["gflops"]) == (meta["num_params"], meta["_ops"])
    assert row["accuracy"] == meta["_metrics"]["ImageNet-1K"]["acc@1"]
    assert row[["name", "family", "year"]].tolist() == ["vit_b_16", "ViTs", 2020]
    assert table["weights"].tolist()[:4] == ["IMAGENET1K_V2", "IMAGENET1K_V1", "IMAGENET1K_SWAG_E2E_V1", "random"]
    assert table["accuracy_standard_error"].isna().all()
    assert table["accuracy"].isna().tolist() == [False] * 3 + [True] + [False] * 2  # random weights have none
    assert table.loc["googlenet", ["depth", "activations"]].tolist() == [21, 57]  # modules of four branches
    assert table["depth"].isna().tolist() == [False] * 5 + [True]  # which was not counted
    assert weight_versions("vgg16") == ["IMAGENET1K_V1"]  # others have no accuracy that is stated
    assert len(characteristics([])) == 0


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("resnet19", "not known"),
        ("resnet50@best", "IMAGENET1K_V1, IMAGENET1K_V2"),
        ("mini:vgg11@best", "DEFAULT and random"),
    ],
)
def test_unknown_networks_and_weights_are_refused(name, complaint):
    with pytest.raises(AffscoreError, match=complaint):
        characteristics([name])


def test_small_networks_have_the_numbers_of_their_table():
    listed = list_models().set_index("name")
    table = characteristics(["mini:resnet18", "mini:vgg11@random", "alexnet"])
    row, known = table.loc["mini:resnet18"], listed.loc["resnet18"]
    for name in ("family", "year", "accuracy", "accuracy_standard_error", "parameters", "depth"):
        assert row[name] == known[name]
    assert row["gflops"] == known["flops"] / 1e9
    assert table.loc["mini:vgg11@random", ["accuracy", "accuracy_standard_error"]].isna().all()
    assert table.loc["mini:vgg11@random", "depth"] == listed.loc["vgg11", "depth"]


def test_of_networks_and_files_that_nobody_describes_only_the_names_are_known():
    own = {
        "../mine/net.py:small@best.pth": ("net.py:small", "best.pth"),
        "resnet18@../weights/mine.pth": ("resnet18", "mine.pth"),
        "resnet50@moco.pth.tar": ("resnet50", "moco.pth.tar"),
    }
    table = characteristics([*own])
    assert list(table[["name", "weights"]].itertuples(index=False, name=None)) == [*own.values()]
    assert table["accuracy"].isna().all()
    assert table["parameters"].isna().tolist() == [True, False, False]
    assert table["depth"].tolist()[1] == 17


@pytest.mark.parametrize("name", torchvision_names())
def test_every_network_of_torchvision_has_a_family_and_a_publication(name):
    """The publication is the one that torchvision's documentation cites, where it cites one on arXiv."""
    architecture = architecture_of(name)
    document = torchvision.models.get_model_builder(name).__doc__
    cited = re.findall(r"arxiv\.org/(?:abs|pdf)/(\d{4}\.\d{4,5})", document)
    ours = re.search(r"arXiv:(\d{4}\.\d{4,5})$", architecture.publication)[1]
    assert not cited or ours in cited, (architecture, cited)
    assert architecture.year == (2012 if architecture.begins == "alexnet" else 2000 + int(ours[:2]))
