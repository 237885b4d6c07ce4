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
from companion.networks import study_models

REPOSITORY = Path(__file__).resolve().parents[2]
CHAPTERS = {int(path.name[:2]): path for path in (REPOSITORY / "notebooks").glob("[0-9]*.ipynb")}
PAPER = read_profile(REPOSITORY / "notebooks" / "params" / "paper.yml")
NAMES = """googlenet resnet18 resnet34 resnet50 densenet121 densenet169 mnasnet0_5 mnasnet0_75 mnasnet1_0 mnasnet1_3
           efficientnet_b1 swin_t convnext_tiny"""
SMALL = [spec for spec in PAPER["models"] if spec.partition("@")[0] in NAMES.split()]
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
    for spec in {*SMALL, PAPER["model"]}:
        name, _, weights = spec.partition("@")
        enum = torchvision.models.get_model_weights(name)
        torch.manual_seed(0)
        options = {"init_weights": False} if name == "googlenet" else {}  # its own takes a minute
        network = torchvision.models.get_model(name, weights=None, **options)
        torch.save(network.state_dict(), home / "hub" / "checkpoints" / enum[weights].url.rsplit("/", 1)[-1])
    return home


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("results")


@pytest.fixture
def executed(imagenet, downloads, store, tmp_path, monkeypatch):
    """Runs a chapter with the profile; how many figures it has, all of its text, and what its code shows."""
    monkeypatch.setenv("TORCH_HOME", str(downloads))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")

    def run(number, store=store, **more):
        smaller = {"device": "cpu", "n": N, "images": IMAGES, "models": SMALL, "permutations": 200}
        smaller |= {"dataset": f"imagenet:{imagenet}", "store": str(store)}
        chapter, given = CHAPTERS[number], tmp_path / "parameters.yml"
        declared = declared_parameters(chapter)
        parameters = {name: value for name, value in {**PAPER, **smaller, **more}.items() if name in declared}
        given.write_text(yaml.safe_dump(parameters))
        output = tmp_path / chapter.name
        words = ["-m", "papermill", chapter.name, str(output), "-f", str(given), "--log-level", "ERROR"]
        command = [sys.executable, *words, "--no-progress-bar"]
        finished = subprocess.run(command, cwd=chapter.parent, capture_output=True, text=True, check=False)
        assert finished.returncode == 0, finished.stderr[-3000:]
        cells = nbformat.read(output, as_version=4).cells
        outputs = [output for cell in cells if cell.cell_type == "code" for output in cell.outputs]
        figures = sum("image/png" in output.get("data", {}) for output in outputs)
        return figures, "".join(cell.get("source", "") for cell in cells) + str(outputs), str(outputs)

    return run


def of_networks(store):
    """The networks whose results are in a store."""
    return {path.name.split("-")[0] for path in store.glob("*.parquet")}


@pytest.mark.slow
def test_the_profile_names_the_networks_of_the_study_and_weights_that_torchvision_has():
    assert [spec.partition("@")[0] for spec in PAPER["models"]] == study_models("")
    for spec in PAPER["models"]:
        name, _, weights = spec.partition("@")
        assert torchvision.models.get_model_weights(name)[weights]
    assert len(SMALL) == 13


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "more", "said"),
    [
        *((number, {}, "resnet50") for number in (4, 6, 7, 8, 9)),
        (3, {"sizes": [4, 8]}, "mean"),
        # with ResNet-18 in the place of VGG16, whose file is large
        (11, {"before": "resnet18@random", "after": "resnet18@IMAGENET1K_V1"}, "resnet18@IMAGENET1K_V1 ('after-sum', "),
    ],
    ids=lambda value: str(value) if isinstance(value, int) else "",
)
def test_a_chapter_with_the_profile_of_the_papers(executed, store, number, more, said):
    assert all("vgg16" in str(PAPER[name]) for name in more if name != "sizes")
    figures, text, _ = executed(number, **more)
    assert figures >= 1
    assert said in text
    if "models" in declared_parameters(CHAPTERS[number]) and not more:
        assert {spec.partition("@")[0] for spec in SMALL} <= of_networks(store)


@pytest.mark.notebook
@pytest.mark.slow
def test_a_network_of_ones_own_on_other_data_with_the_profile_of_the_papers(executed, imagenet):
    """A folder in the place of CIFAR; and the same network with fewer channels."""
    data = [f"folder:{imagenet}/val", "random"]
    figures, _, shown = executed(12, model="resnet18@IMAGENET1K_V1", others=data)
    assert figures == 2
    assert all(f"{name} " in shown for name in data)
    figures, _, shown = executed(16, model="resnet18@IMAGENET1K_V1")
    assert figures == 4
    assert "resnet18@IMAGENET1K_V1" in shown


@pytest.mark.notebook
@pytest.mark.slow
def test_the_ledger_with_the_profile_of_the_papers(executed, store):
    """It measures what the chapters do not: the networks whose printed numbers are of the published code's averages."""
    executed(18)
    metadata = [affscore.load_signature(path).metadata for path in store.glob("*.parquet")]
    published = {found["model"] for found in metadata if found["reduction"] == "published"}
    assert published == {"swin_t", "convnext_tiny"}
    assert of_networks(store) >= {spec.partition("@")[0] for spec in SMALL}
