"""When a job is another one or the same: files that cannot be read, networks that cannot run, what a report says."""

import json

import numpy as np
import pytest
import torch
from joblib.parallel import get_active_backend
from PIL import Image
from safetensors.torch import load_file, save_file

from affscore import load_signature, signature
from affscore.survey import Store, survey
from affscore.zoo.models import identity_of_model

OPTIONS = {"n": 16, "images": 16, "criteria": False, "progress": False}


@pytest.fixture
def photos(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    pixels = np.random.default_rng(0)
    for number in range(20):
        Image.fromarray(pixels.integers(0, 255, (40, 40, 3), dtype=np.uint8)).save(folder / f"{number:02}.png")
    return folder


def run(folder, store, **options):
    return survey("mini:digitsnet", f"folder:{folder}", store, only=0, **{**OPTIONS, **options})


@pytest.mark.parametrize("kind", ["broken link", "folder", "text"])
@pytest.mark.slow
def test_what_is_no_image_is_named_and_stops_no_job(photos, tmp_path, kind):
    place = photos / "00.png"
    place.unlink()
    if kind == "broken link":
        place.symlink_to("nowhere")
    elif kind == "folder":
        place.mkdir()
    else:
        place.write_text("no image")
    count = 20 if kind != "folder" else 19  # a folder is no file that should have been an image
    report = run(photos, tmp_path / "store", n=count, images=count)
    assert report.complete, str(report)
    assert signature("mini:digitsnet", f"folder:{photos}", **{**OPTIONS, "n": count, "images": count}).notes == list(
        report.notes
    )
    assert ("'00.png'" in str(report)) == (kind != "folder")


def test_the_weights_beside_a_configuration_are_part_of_the_job(tmp_path):
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(
        hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8, vocab_size=11
    )
    folder = tmp_path / "bert"
    transformers.BertModel(config).save_pretrained(folder)
    spec = f"hf:{folder}/config.json"
    before = identity_of_model(spec)
    assert before == identity_of_model(f"hf:{folder}")
    weights = load_file(folder / "model.safetensors")
    save_file({name: value + 1 for name, value in weights.items()}, folder / "model.safetensors", {"format": "pt"})
    assert identity_of_model(spec) != before


@pytest.mark.parametrize("text", ["", "[]", "{}", "[" * 5000])
def test_a_configuration_of_nothing_that_is_known(tmp_path, text):
    pytest.importorskip("transformers")
    from affscore import AffscoreError, load_model

    (tmp_path / "config.json").write_text(text)
    with pytest.raises(AffscoreError, match=r"config\.json"):
        load_model(f"hf:{tmp_path}@random")


def test_no_more_processes_than_jobs(tmp_path, monkeypatch):
    import affscore.survey.work as work

    asked = []

    def counting(**options):
        asked.append(get_active_backend()[1])
        return lambda calls: (function(*arguments) for function, arguments, _ in calls)

    monkeypatch.setattr(work, "Parallel", counting)
    names = ["mini:digitsnet", "mini:digitsnet@random"]
    assert survey(names, "digits", tmp_path, jobs=50, threads=1, **OPTIONS).complete
    assert asked == [2]


@pytest.mark.slow
def test_the_notes_of_results_are_told_now_and_when_they_are_there(photos, tmp_path):
    for state in ("measured", "there"):
        report = run(photos, tmp_path / "store", n=16, images=20)
        assert report.outcomes[0][1].state == state
        assert "note: the last 4 images were dropped" in str(report)
    two = survey(["mini:digitsnet"], f"folder:{photos}", tmp_path / "store", orders=["activate-first", "reduce-first"],
                 threads=1, **{**OPTIONS, "images": 20})  # fmt: skip
    assert "note on jobs 0, 1: the last 4" in str(two)


SOURCE = """
import torch
from torch import nn
from neighbour import WIDTH

network = nn.Sequential(nn.Flatten(), nn.Linear(3072, WIDTH), nn.ReLU())


def lazy():
    return nn.Sequential(nn.Flatten(), nn.LazyLinear(4), nn.ReLU())


def nowhere():
    with torch.device("meta"):
        return nn.Sequential(nn.Flatten(), nn.Linear(3072, 4), nn.ReLU())


def dead():
    made = nn.Sequential(nn.Flatten(), nn.Linear(3072, 4), nn.ReLU())
    nn.init.constant_(made[1].bias, -1e6)
    return made


def scripted():
    class Scripted(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(3072, 4)
            self.activate = function

        def forward(self, x):
            return self.activate(self.inner(x.flatten(1)))

    return Scripted()


@torch.jit.script
def function(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x)


def operators():
    class Operators(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(3072, 4)

        def forward(self, x):
            return torch.ops.aten.relu(self.inner(x.flatten(1)))

    return Operators()


def behind():
    class Behind(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(3072, 4)
            self.before = function

        def forward(self, x):
            return torch.nn.functional.silu(self.before(self.inner(x.flatten(1))))

    return Behind()
"""


@pytest.fixture
def own(tmp_path):
    (tmp_path / "own.py").write_text(SOURCE)
    (tmp_path / "neighbour.py").write_text("WIDTH = 5\n")
    return lambda name: f"{tmp_path}/own.py:{name}"


def measured(spec):
    options = {**OPTIONS, "progress": False}
    images = torch.randn(16, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    from affscore import load_model

    return signature(load_model(spec, seed=0), images, **options)


def test_a_network_that_the_file_itself_makes_is_fixed_by_the_seed_and_imports_its_neighbour(own):
    import sys

    path = list(sys.path)
    torch.manual_seed(1)
    first = measured(own("network"))
    torch.manual_seed(2)  # which the network does not see
    again = measured(own("network"))
    assert first.scores.tolist() == again.scores.tolist()
    assert sys.path == path


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("lazy", "is lazy.*send one image"),
        ("nowhere", "device meta"),
        ("scripted", "cannot be seen.*TorchScript"),
        ("behind", "cannot be seen.*TorchScript"),
    ],
)
def test_networks_that_cannot_be_measured_say_why(own, name, words):
    from affscore import AffscoreError

    with pytest.raises(AffscoreError, match=words):
        measured(own(name))


def test_operators_of_torch_ops_are_measured(own):
    assert measured(own("operators")).summary["activation"].tolist() == ["relu"]


def test_an_object_with_lazy_layers(own):
    from affscore import AffscoreError

    with pytest.raises(AffscoreError, match="is lazy"):
        signature(torch.nn.Sequential(torch.nn.LazyLinear(3), torch.nn.ReLU()), torch.randn(8, 4))


def test_dead_activations_are_noted(own):
    result = measured(own("dead"))
    assert result.scores.tolist() == [1.0]
    assert any("1 of 1 activations have a constant output" in note for note in result.notes)
    assert result.metadata["depth"] == 1


@pytest.mark.parametrize(
    "options", [{"n": 10**12}, {"images": 10**12}, {"criteria": 5}, {"criteria": [5]}, {"criteria": [["cka"]]}]
)
def test_options_that_no_machine_can_follow(options):
    from affscore import AffscoreError

    with pytest.raises(AffscoreError, match="must be"):
        signature("mini:digitsnet", "random", **{**OPTIONS, **options})


def test_numbers_of_threads_and_stores_without_a_name(tmp_path):
    from affscore import AffscoreError

    with pytest.raises(AffscoreError, match="threads must be at most"):
        survey("mini:digitsnet", "digits", tmp_path, threads=100_000, **OPTIONS)
    with pytest.raises(AffscoreError, match="empty"):
        Store("")


def test_metadata_can_be_read_as_json(photos, tmp_path):
    run(photos, tmp_path / "store")
    (file,) = Store(tmp_path / "store").files()
    assert json.loads(json.dumps(load_signature(file).metadata))["depth"] == 9
