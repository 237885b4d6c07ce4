"""The profile of the papers, rehearsed: all of it but the images and the trained weights, which the reader brings.

The chapters run with ``params/paper.yml`` as it stands, on a folder in ImageNet's layout, and the networks find files
of weights where torchvision keeps what it has downloaded. Only sizes are smaller: a few images, networks whose files
are small, and the CPU.
"""

import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np
import pytest
import torch
import torchvision
import yaml
from notebook_files import declared_parameters, read_profile
from PIL import Image

import affscore
from affscore.network.parquet import write_parquet
from companion.studies import load_study

REPOSITORY = Path(__file__).resolve().parents[2]
CHAPTERS = sorted((REPOSITORY / "notebooks").glob("0[46-9]_*.ipynb"))
BATCH_SIZE = REPOSITORY / "notebooks" / "03_estimating_it_well.ipynb"
TRAINING = REPOSITORY / "notebooks" / "11_what_training_does.ipynb"
OTHER_DATA = REPOSITORY / "notebooks" / "12_other_data_other_training.ipynb"
ADVANTAGE = REPOSITORY / "notebooks" / "16_nonlinear_advantage.ipynb"
REGIONS = REPOSITORY / "notebooks" / "15_linear_regions.ipynb"
LEDGER = REPOSITORY / "notebooks" / "18_what_is_reproduced.ipynb"
PAPER = read_profile(REPOSITORY / "notebooks" / "params" / "paper.yml")
STUDY = set(PAPER["models"])
SMALL = [
    "googlenet@IMAGENET1K_V1",
    "resnet18@IMAGENET1K_V1",
    "resnet34@IMAGENET1K_V1",
    "resnet50@IMAGENET1K_V2",
    "densenet121@IMAGENET1K_V1",
    "densenet169@IMAGENET1K_V1",
    "mnasnet0_5@IMAGENET1K_V1",
    "mnasnet0_75@IMAGENET1K_V1",
    "mnasnet1_0@IMAGENET1K_V1",
    "mnasnet1_3@IMAGENET1K_V1",
    "efficientnet_b1@IMAGENET1K_V2",
    "swin_t@IMAGENET1K_V1",
    "convnext_tiny@IMAGENET1K_V1",
]
"""Members of all groups of figure 4 but the ViTs, of which the smallest has 350 MB; five and more in two of them."""

IMAGES, N = 16, 8


@pytest.fixture(scope="module")
def imagenet(tmp_path_factory):
    """A folder in ImageNet's layout: photographs of several sizes in val/CLASS/."""
    root = tmp_path_factory.mktemp("imagenet")
    draw = np.random.default_rng(0)
    for number in range(IMAGES + 2):
        folder = root / "val" / f"n{number % 4:08}"
        folder.mkdir(parents=True, exist_ok=True)
        height, width = draw.integers(180, 400, 2)
        coarse = Image.fromarray(draw.integers(0, 255, (9, 9, 3), dtype=np.uint8))
        coarse.resize((int(width), int(height)), Image.Resampling.BICUBIC).save(folder / f"val_{number:08}.JPEG")
    return root


@pytest.fixture(scope="module")
def downloads(tmp_path_factory):
    """What torchvision would have downloaded: a file with the right name and shapes for each network."""
    home = tmp_path_factory.mktemp("torch")
    (home / "hub" / "checkpoints").mkdir(parents=True)
    for spec in {*SMALL, *PAPER["efficient"], PAPER["model"]}:
        name, _, weights = spec.partition("@")
        enum = torchvision.models.get_model_weights(name)
        torch.manual_seed(0)
        options = {"init_weights": False} if name == "googlenet" else {}  # its own takes a minute
        network = torchvision.models.get_model(name, weights=None, **options)
        torch.save(network.state_dict(), home / "hub" / "checkpoints" / enum[weights].url.rsplit("/", 1)[-1])
    return home


@pytest.mark.slow
def test_the_profile_names_the_networks_of_the_study_and_weights_that_torchvision_has():
    from companion.networks import study_models

    assert [spec.partition("@")[0] for spec in PAPER["models"]] == study_models("")
    for spec in [*PAPER["models"], *PAPER["efficient"]]:
        name, _, weights = spec.partition("@")
        assert torchvision.models.get_model_weights(name)[weights]
    assert set(SMALL) <= STUDY
    assert len(CHAPTERS) == 5


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("results")


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_with_the_profile_of_the_papers(chapter, imagenet, downloads, store, tmp_path, monkeypatch):
    outputs, text, declared = executed(chapter, imagenet, downloads, store, tmp_path, monkeypatch)
    assert sum("image/png" in output.get("data", {}) for output in outputs) >= 2
    assert "resnet50" in text
    if "models" in declared:
        kept = {path.name.split("-")[0] for path in store.glob("*.parquet")}
        assert {spec.partition("@")[0] for spec in SMALL} <= kept


def few_others(imagenet):
    """Four networks, and a folder of images in the place of CIFAR, which would be downloaded."""
    few = ["resnet18", "densenet121", "mnasnet0_5", "mnasnet0_75"]
    models = [spec for spec in SMALL if spec.partition("@")[0] in few]
    return {"models": models, "others": [f"folder:{imagenet}/val", "random"], "other_images": IMAGES}


@pytest.mark.notebook
@pytest.mark.slow
def test_other_data_with_the_profile_of_the_papers(imagenet, downloads, store, tmp_path, monkeypatch):
    outputs, text, _ = executed(OTHER_DATA, imagenet, downloads, store, tmp_path, monkeypatch, **few_others(imagenet))
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 4
    assert "Fewer than three are there: these are the trainings of the study." in text


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.parametrize(
    ("chapter", "more", "said"),
    [
        (BATCH_SIZE, {"repeated": "resnet18@IMAGENET1K_V1", "sizes": [4, 8]}, "resnet18@IMAGENET1K_V1"),
        (
            TRAINING,
            {"before": ["resnet18@random"], "after": ["resnet18@IMAGENET1K_V1"]},
            "1 network of 17 activations on imagenet",
        ),
    ],
    ids=["batch size", "training"],
)
def test_an_appendix_with_the_profile_of_the_papers(
    chapter, more, said, imagenet, downloads, store, tmp_path, monkeypatch
):
    """With ResNet-18 in the place of VGG16, whose file is large."""
    assert all("vgg16" in str(PAPER[name]) for name in more if name != "sizes")
    outputs, text, _ = executed(chapter, imagenet, downloads, store, tmp_path, monkeypatch, **more)
    assert said in text
    assert sum("image/png" in output.get("data", {}) for output in outputs) >= 2


@pytest.mark.notebook
@pytest.mark.slow
def test_checkpoints_with_the_profile_of_the_papers(imagenet, downloads, store, tmp_path, monkeypatch):
    """Three of the files that it names are there, of a smaller network; what is not found is said."""
    names = ["resnet50_moco_200", "resnet50_moco_800", "resnet50_dino", "resnet50_swav_400"]
    assert set(PAPER["checkpoints"]) >= {f"resnet50@../checkpoints/{name}.pth" for name in names}
    for seed, name in enumerate(names[:3]):
        torch.manual_seed(seed)
        torch.save(torchvision.models.resnet18().state_dict(), tmp_path / f"{name}.pth")
    more = few_others(imagenet) | {"checkpoints": [f"resnet18@{tmp_path}/{name}.pth" for name in names]}
    outputs, text, _ = executed(OTHER_DATA, imagenet, downloads, store, tmp_path, monkeypatch, **more)
    assert "3 trainings of one architecture by 2 methods" in text
    assert "Not found: 1 of 4 checkpoints: " in text
    assert "Fewer than three are there" not in str(outputs)


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.parametrize("made", [True, False], ids=["made", "not made"])
def test_linear_regions_with_the_profile_of_the_papers(made, imagenet, downloads, tmp_path, monkeypatch):
    """The study of the poster's networks, for which tables of smaller ones stand in; and where it is not made."""
    assert PAPER["study"] == "regions-cifar10"
    folder = tmp_path / "results" / "studies"
    folder.mkdir(parents=True)
    for end in ("", "-paths") if made else ():
        table = load_study(f"regions{end}").query("seed < 3")
        write_parquet(table, {"study": "regions-cifar10"}, [], folder / f"regions-cifar10{end}.parquet")
    outputs, text, _ = executed(REGIONS, imagenet, downloads, tmp_path / "results", tmp_path, monkeypatch, points=8)
    assert f"{28 if made else 42} trainings: 2 architectures, 7 ways, {2 if made else 3} seeds" in text
    assert ("/studies: regions-cifar10, with its paths. There are regions, regions-width" in text) is not made
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 5


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.parametrize("made", [True, False], ids=["made", "not made"])
def test_nonlinear_advantage_with_the_profile_of_the_papers(made, imagenet, downloads, tmp_path, monkeypatch):
    """The study of the paper's networks, for which one of smaller ones stands in; and where it is not made."""
    assert PAPER["slopes_study"] == "advantage-cifar10"
    folder = tmp_path / "results" / "studies"
    folder.mkdir(parents=True)
    for end in ("", "-scores") if made else ():
        table = load_study(f"advantage{end}").query("seed < 4 and task == 'sum'").assign(task="cifar10")
        write_parquet(table, {"study": "advantage-cifar10"}, [], folder / f"advantage-cifar10{end}.parquet")
    more = {"model": "resnet18@IMAGENET1K_V1"}
    outputs, text, _ = executed(ADVANTAGE, imagenet, downloads, tmp_path / "results", tmp_path, monkeypatch, **more)
    assert f"% of the images (imagenet:{imagenet})" in text
    assert ("13 ReLUs, 1 task, 3 seeds" in text) is made
    assert ("/studies: advantage-cifar10. There are advantage" in text) is not made
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 3


@pytest.mark.notebook
@pytest.mark.slow
def test_the_ledger_with_the_profile_of_the_papers(imagenet, downloads, store, tmp_path, monkeypatch):
    """It measures what the chapters do not: the networks whose printed numbers are of the published code's averages."""
    executed(LEDGER, imagenet, downloads, store, tmp_path, monkeypatch)
    metadata = [affscore.load_signature(path).metadata for path in store.glob("*.parquet")]
    published = {found["model"] for found in metadata if found["reduction"] == "published"}
    assert published == {"swin_t", "convnext_tiny"}
    assert {found["model"] for found in metadata} >= {spec.partition("@")[0] for spec in SMALL}


def executed(chapter, imagenet, downloads, store, tmp_path, monkeypatch, **more):
    """Its outputs, all of its text, and the parameters that it declares."""
    smaller = {"device": "cpu", "n": N, "images": IMAGES, "models": SMALL, "store": str(store), "permutations": 200}
    smaller["dataset"] = f"imagenet:{imagenet}"
    declared = declared_parameters(chapter)
    parameters = {name: value for name, value in {**PAPER, **smaller, **more}.items() if name in declared}
    given = tmp_path / "parameters.yml"
    given.write_text(yaml.safe_dump(parameters))
    output = tmp_path / chapter.name
    monkeypatch.setenv("TORCH_HOME", str(downloads))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    words = ["-m", "papermill", chapter.name, str(output), "-f", str(given), "--log-level", "ERROR"]
    finished = subprocess.run(
        [sys.executable, *words, "--no-progress-bar"], cwd=chapter.parent, capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, finished.stderr[-3000:]
    cells = nbformat.read(output, as_version=4).cells
    outputs = [output for cell in cells if cell.cell_type == "code" for output in cell.outputs]
    return outputs, "".join(cell.get("source", "") for cell in cells) + str(outputs), declared
