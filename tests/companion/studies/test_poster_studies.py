"""The networks of the poster on linear regions, trained on a CIFAR of the tests, and their rows in the ledger."""

import math
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from affscore import load_model
from affscore.errors import AffscoreError
from affscore.models import Preprocessing
from affscore.models.weight_files import read_state_dict
from affscore.network.parquet import write_parquet
from companion.all_results import AllResults
from companion.chapter_15 import claims as poster
from companion.mini_zoo.training import accuracy
from companion.studies import __main__ as make_studies
from companion.studies import cifar, stored_studies
from companion.studies.cifar import CifarTraining, PosterRecipe, augmented
from companion.studies.measuring import follow
from companion.studies.plans import STUDIES_OF_PAPERS
from companion.studies.ways import wrong_labels
from tests.small_cifar import ramps

pytestmark = pytest.mark.slow  # trains


NETWORKS = "examples/region_networks.py"


@pytest.fixture
def short(monkeypatch):
    """Four epochs of a few images."""
    monkeypatch.setattr(cifar, "PosterRecipe", lambda seed: PosterRecipe(seed=seed, epochs=4, batch_size=8, images=18))


@pytest.mark.parametrize(
    ("name", "parameters", "classes"),
    [("vgg8_cifar10", 174_116, 10), ("vgg8_cifar100", 185_006, 100), ("resnet18_cifar10", None, 10)],
)
def test_the_networks(name, parameters, classes):
    """Counts by hand: convolutions 168, 330, 880, 2,320, 9,280 and 36,928; linear layers 123,000 and 121 a class."""
    model = load_model(f"{NETWORKS}:{name}", 0)
    convolutions = 9 * (64 * 3 + 4 * 64 * 64 + 64 * 128 + 3 * 128**2 + 128 * 256 + 3 * 256**2 + 256 * 512 + 3 * 512**2)
    shortcuts, biases = 64 * 128 + 128 * 256 + 256 * 512, 5 * 64 + 4 * (128 + 256 + 512)
    wanted = parameters or convolutions + shortcuts + biases + 513 * classes
    assert sum(values.numel() for values in model.parameters()) == wanted
    assert not [module for module in model.modules() if isinstance(module, nn.BatchNorm2d | nn.MaxPool2d)]
    with torch.no_grad():
        assert model(torch.zeros(2, 3, 32, 32)).shape == (2, classes)


def test_how_the_networks_begin():
    def deviation(layer):
        return float(layer.weight.detach().std())

    model = load_model(f"{NETWORKS}:resnet18_cifar10", 0)
    for block in model.blocks:
        assert deviation(block.conv1) == pytest.approx(math.sqrt(2 / (9 * block.conv1.out_channels) / 8), rel=0.02)
        assert deviation(block.conv2) == pytest.approx(1e-6, rel=0.02)
    assert deviation(model.head) == pytest.approx(1e-6, rel=0.05)
    x = torch.rand(2, 64, 8, 8)
    with torch.no_grad():
        assert torch.allclose(model.blocks[0](x), x, atol=1e-3)  # a new block passes its input on


def test_wrong_labels_of_any_number_of_classes():
    """The labels for ten classes are those of before, on which the studies of the package depend."""
    assert wrong_labels(torch.arange(10), 0.4, 1).tolist() == [0, 5, 4, 3, 4, 6, 9, 7, 8, 9]
    wrong = wrong_labels(torch.arange(100).repeat(50), 1.0, 0, classes=100).view(50, 100)
    assert min(len(set(labels)) for labels in wrong.T.tolist()) > 25  # 39 on average
    assert not (wrong == torch.arange(100)).any()


def test_images_are_moved_and_mirrored():
    image = torch.rand(1, 3, 5, 6, generator=torch.Generator().manual_seed(0))
    black = torch.tensor([-1.0, -2.0, -3.0])[:, None, None]
    padded = black.expand(3, 9, 10).clone()
    padded[:, 2:7, 2:8] = image[0]
    windows = [padded[:, top : top + 5, left : left + 6] for top in range(5) for left in range(5)]
    possible = torch.stack([*windows, *(window.flip(2) for window in windows)]).flatten(1)
    found = augmented(image.expand(1000, -1, -1, -1), black, 2, torch.Generator().manual_seed(1)).flatten(1)
    distances = torch.cdist(found, possible, compute_mode="donot_use_mm_for_euclid_dist")
    assert float(distances.min(dim=1).values.max()) < 1e-3
    assert len(distances.argmin(dim=1).unique()) == 50


class Small(nn.Module):
    """A linear layer on images of 32 x 32 pixels."""

    preprocessing = Preprocessing(size=32, resize=32, mean=(0.5,) * 3, std=(0.25,) * 3)

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(3 * 32 * 32, 10)

    def forward(self, x):
        return self.head(x.flatten(1))


def test_steps_have_momentum_and_two_cuts_of_the_rate(short):
    """Against the update written out: v <- 0.9 v + gradient, w <- w - rate v; rates 0.1, 0.1, 0.02 and 0.004."""
    torch.manual_seed(0)
    model, reference = Small(), Small()
    reference.load_state_dict(model.state_dict())
    images, labels = torch.randn(18, 3, 32, 32) / 50, torch.randint(0, 10, (18,))
    steps = []
    trained = CifarTraining(f"{NETWORKS}:vgg8_cifar10", "noise-0.4", 5).fit(
        model, images, labels, lambda: steps.append(1)
    )
    given, generator = wrong_labels(labels, 0.4, 5), torch.Generator().manual_seed(5)
    speeds = [torch.zeros_like(values) for values in reference.parameters()]
    for rate in (0.1, 0.1, 0.02, 0.004):
        for chosen in torch.randperm(18, generator=generator).split(8):
            loss = F.cross_entropy(reference(images[chosen]), given[chosen])
            slopes = torch.autograd.grad(loss, [*reference.parameters()])
            with torch.no_grad():
                for values, speed, slope in zip(reference.parameters(), speeds, slopes, strict=True):
                    speed.mul_(0.9).add_(slope)
                    values.sub_(rate * speed)
    assert len(steps) == 12
    assert not trained.training
    torch.testing.assert_close(trained.head.weight.cpu(), reference.head.weight, rtol=1e-4, atol=1e-5)


@pytest.mark.usefixtures("small_cifar", "short")
def test_images_and_labels():
    training = CifarTraining(f"{NETWORKS}:vgg8_cifar10", "vanilla", 1)
    model = training.build()
    images, labels = training.images(model, "train")
    assert images.shape == (18, 3, 32, 32)
    again, _ = replace(training, seed=2, way="augmented").images(model, "train")
    assert torch.equal(images, again)  # the same choice for all
    test, _ = training.images(model, "test")
    assert len(test) == 32
    first = torch.from_numpy(ramps(32, 5)[0] / 255).float()  # the sixth file, after five of training images
    mean, std = (torch.tensor(values)[:, None, None] for values in (model.preprocessing.mean, model.preprocessing.std))
    torch.testing.assert_close(test[0], (first - mean) / std)
    every = np.concatenate([np.random.default_rng(number).integers(0, 10, 20) for number in range(5)])
    chosen = torch.randperm(100, generator=torch.Generator().manual_seed(cifar.SPLIT_SEED))[:18]
    assert labels.tolist() == every[chosen].tolist()


@pytest.mark.usefixtures("small_cifar", "short")
def test_a_training_is_reproducible(tmp_path):
    training = CifarTraining(f"{NETWORKS}:vgg8_cifar10", "augmented", 1)
    record = training.run(tmp_path / "one")
    training.run(tmp_path / "two")
    one, two = (read_state_dict(training.weights(tmp_path / folder)) for folder in ("one", "two"))
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert training.is_done(tmp_path / "one")
    assert not replace(training, seed=2).is_done(tmp_path / "one")
    model = load_model(f"{training.model}@{training.weights(tmp_path / 'one')}")
    assert record["accuracy"] == round(accuracy(model, *training.images(model, "test")), 4)


@pytest.fixture
def small_plans(monkeypatch):
    """Both studies with VGG8 alone, two ways, and two paths for each network."""
    for name, study in STUDIES_OF_PAPERS.items():
        some = [one for one in study.trainings if "vgg8" in one.model and one.way in ("vanilla", "augmented")]
        monkeypatch.setitem(STUDIES_OF_PAPERS, name, replace(study, trainings=some[:4], n=(32,), paths=2))


@pytest.mark.usefixtures("small_cifar", "short", "small_plans")
def test_from_training_to_the_ledger(tmp_path, monkeypatch):
    work, store = tmp_path / "work", tmp_path / "results"
    words = ["make_studies.py", "--only", "regions-cifar10,regions-cifar100", "--jobs", "1"]
    monkeypatch.setattr(sys, "argv", [*words, "--work", str(work), "--out", str(store / "studies")])
    make_studies.main()
    results = AllResults.gather(store)
    assert set(stored_studies(store)) == {f"regions-cifar{k}{end}" for k in (10, 100) for end in ("", "-paths")}
    study, paths = (results.poster.tables[name] for name in ("regions", "regions-paths"))
    assert len(paths) == 8 * 2 * 8  # networks, paths, segments
    assert (paths["crossings"] > 0).any()
    assert paths.groupby("network")["seed"].count().to_dict() == {"vgg8_cifar10": 64, "vgg8_cifar100": 64}
    assert set(study["dataset"]) == {"cifar10", "cifar100"}
    assert study.groupby(["network", "way", "seed"])["index"].nunique().tolist() == [7] * 8
    assert str(tmp_path) not in str(study.astype(str).to_dict("list"))
    again = follow(STUDIES_OF_PAPERS["regions-cifar10"].trainings[0], 1, work)  # one path alone, computed anew
    assert again["crossings"].tolist() == paths["crossings"].tolist()[:8]


def paths_of(correlations):
    """A study of paths of networks with these rank correlations over ten segments, each -1 or 1."""
    rows = [
        {"network": network, "way": way, "seed": seed, "crossings": k, "absolute_deviation": k * sign}
        for (network, way), signs in correlations.items()
        for seed, sign in enumerate(signs)
        for k in range(10)
    ]
    return pd.DataFrame(rows)


def test_rows_of_the_poster():
    """Correlations -1, 1 and 1: mean 1/3, deviation sqrt(8/9) with n, standard error sqrt(4/3 / 3)."""
    own = {
        "regions-cifar10-paths": paths_of({("vgg8_cifar10", "vanilla"): [-1, 1, 1]}),
        "regions-cifar10-resnet18-paths": paths_of({("resnet18_cifar10", "noise-0.2"): [1, 1, 1]}),
        "regions-cifar100-paths": paths_of({("vgg8_cifar100", "augmented"): [-1, -1, -1]}),
    }
    rows = {(one.printed.row, one.printed.column): one for one in poster.rows(AllResults([], studies=own))}
    assert len(rows) == 32
    ours = {key: one.our_number for key, one in rows.items() if one.our_number.value is not None}
    mean, spread = ours["vanilla", "cifar10_vgg8"], ours["vanilla", "cifar10_vgg8_std"]
    assert (mean.value, mean.error, mean.sampled) == (pytest.approx(1 / 3), pytest.approx(2 / 3), "trainings")
    assert (spread.value, spread.error) == (pytest.approx(8**0.5 / 3), pytest.approx((4 / 3) ** 0.5 / 2))
    assert rows["vanilla", "cifar10_vgg8"].verdict == "needs data"
    certain = rows["noise_0.2", "cifar10_resnet18"]
    assert (certain.verdict, certain.ours, certain.printed.text) == ("differs", 1.0, "0.21")
    assert rows["augmentation", "cifar100_vgg8"].ours == -1.0
    assert len(ours) == 6


def test_what_is_no_study_is_refused(tmp_path):
    folder = tmp_path / "studies"
    folder.mkdir()
    (folder / "mine.parquet").write_bytes(b"something else")
    with pytest.raises(AffscoreError, match=r"the file 'mine.parquet' is not a Parquet file"):
        AllResults.gather(tmp_path)
    write_parquet(pd.DataFrame({"score": [0.5]}), {"study": "mine"}, [], folder / "mine.parquet")
    assert AllResults.gather(tmp_path).unused_studies == ["mine"]
