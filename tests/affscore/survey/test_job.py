import json
import shutil

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from torch import nn

from affscore import load_model
from affscore.models.sources import identity_of_model
from affscore.network.signature import named_options
from affscore.options import Options, checked
from affscore.survey.job import Job, changed, describe, is_of_job

OWN = "from torch import nn\ndef make():\n    return nn.Sequential(nn.Conv2d(3, 2, 9), nn.ReLU())\n"


def key(model="mini:digitsnet", dataset="digits", **options):
    return describe(Job(model, dataset, named_options({"n": 32, "images": 64, **options}))).key


@pytest.fixture
def photos(tmp_path):
    folder = tmp_path / "photos"
    for name in ("cats", "dogs"):
        (folder / name).mkdir(parents=True)
    generator = np.random.default_rng(0)
    for index in range(12):
        pixels = generator.integers(0, 256, (8, 8, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / ("cats" if index % 2 else "dogs") / f"{index}.png")
    return folder


def test_the_same_job_has_the_same_key():
    assert key() == key()
    assert key("mini:digitsnet@DEFAULT") == key()
    assert key(reduction="sample", order="reduce-first") == key(reduction="sample")  # these commute
    assert key(criteria=["cka", "norm", "sparsity", "entropy", "r2"]) == key(criteria=True)


@pytest.mark.parametrize(
    "options",
    [
        {"n": 16}, {"images": 32}, {"images": None}, {"reduction": "sum"}, {"order": "reduce-first"},
        {"covariance": "empirical"}, {"criteria": False}, {"criteria": ["cka"]}, {"seed": 1},
    ],
    ids=str,
)  # fmt: skip
def test_another_option_is_another_job(options):
    assert key(**options) != key()


def test_the_defaults_are_those_that_keys_leave_out():
    """Whoever changes a default makes old keys stand for other numbers: raise _FORMAT with it."""
    assert vars(Options()) == {
        "n": 512, "images": None, "reduction": "mean", "order": "activate-first", "covariance": "ledoit-wolf",
        "criteria": ("cka", "norm", "sparsity", "entropy", "r2"), "seed": 0,
        "positions": 4, "multiverse": (), "bias": "none", "coupling": "exact", "units": "activations",
        "size": None, "mask": "attention_mask",
    }  # fmt: skip
    # where the other options leave no choice of the coupling, it is no option of the key
    assert changed(checked(Options(n=1024, reduction="positions"))) == {"n": 1024, "reduction": "positions"}
    assert changed(Options(coupling="paired")) == {"coupling": "paired"}
    assert changed(named_options({"units": "blocks"})) == {
        "units": "blocks"
    }  # and the criteria that blocks have by default
    assert describe(Job("mini:digitsnet", "random", Options(images=64))).description["options"] == {"images": 64}


def test_results_of_older_versions_which_name_every_option_are_found():
    wanted = describe(Job("mini:digitsnet", "random", Options(n=16, images=64, seed=3)))
    assert wanted.description["options"] == {"n": 16, "images": 64, "seed": 3}
    every = {**vars(Options(n=16, images=64, seed=3)), "criteria": ["cka", "norm"], "whole": False}  # as 0.1 did
    stated = {**wanted.description, "options": every}
    metadata = {"job": stated, "criteria": ["cka", "norm", "sparsity", "entropy", "r2", "nlc"]}
    assert is_of_job(metadata, wanted)
    assert not is_of_job({**metadata, "criteria": ["cka"]}, wanted)
    assert not is_of_job({}, wanted)  # a signature that was saved into the folder
    for other in ({"seed": 4}, {"order": "reduce-first"}, {"later": 1}, {"whole": True}):
        assert not is_of_job({**metadata, "job": {**stated, "options": {**every, **other}}}, wanted)


def test_a_further_criterion_makes_nobody_measure_all_again():
    everything = describe(Job("mini:digitsnet", "random", named_options({"images": 64, "criteria": "all"})))
    assert everything.description["options"]["criteria"] == "all"
    assert everything.file_name[:-17].endswith("all-criteria")
    named = describe(Job("mini:digitsnet", "random", named_options({"images": 64, "criteria": ["cka", "nlc"]})))
    of_then = {"job": everything.description, "criteria": ["cka", "norm"]}
    assert is_of_job(of_then, everything)
    assert not is_of_job(of_then, named)
    assert is_of_job({**of_then, "criteria": ["cka", "norm", "nlc"]}, named)


def test_the_contents_of_a_file_of_weights_count_and_its_folder_does_not(tmp_path):
    torch.manual_seed(0)
    file, elsewhere = tmp_path / "w.pth", tmp_path / "elsewhere"
    torch.save(load_model("mini:digitsnet@random").state_dict(), file)
    first = key(f"mini:digitsnet@{file}")
    elsewhere.mkdir()
    shutil.copy(file, elsewhere)
    assert key(f"mini:digitsnet@{elsewhere / 'w.pth'}") == first
    shutil.copy(file, tmp_path / "v.pth")
    assert key(f"mini:digitsnet@{tmp_path / 'v.pth'}") != first  # results carry the name
    torch.save(load_model("mini:digitsnet").state_dict(), file)
    assert key(f"mini:digitsnet@{file}") != first


def test_the_source_of_ones_own_network_counts(tmp_path):
    file = tmp_path / "net.py"
    file.write_text(OWN)
    first = key(f"{file}:make")
    assert key(f"{file}:make") == first
    file.write_text(OWN.replace("ReLU", "GELU"))
    assert key(f"{file}:make") != first
    file.write_text(OWN)
    assert key(f"{file}:make") == first


def test_downloaded_weights_count_by_the_hash_in_their_name():
    assert key("resnet18") == key("resnet18@IMAGENET1K_V1") != key("resnet18@random")
    assert key("resnet50@IMAGENET1K_V1") != key("resnet50@IMAGENET1K_V2") == key("resnet50")


def test_the_images_that_are_used_count_and_nothing_else(photos, tmp_path):
    spec = f"folder:{photos}"
    first = key(dataset=spec, n=4, images=6)
    (tmp_path / "elsewhere").mkdir()
    copy = shutil.copytree(photos, tmp_path / "elsewhere" / "photos")
    assert key(dataset=f"folder:{copy}", n=4, images=6) == first
    renamed = shutil.copytree(photos, tmp_path / "elsewhere" / "pictures")
    assert key(dataset=f"folder:{renamed}", n=4, images=6) != first  # results carry the name
    changed = 0
    for file in sorted(copy.rglob("*.png")):
        content = file.read_bytes()
        file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        changed += key(dataset=f"folder:{copy}", n=4, images=6) != first
        file.write_bytes(content)
    assert changed == 6
    assert key(dataset=spec, n=4, images=None) != first
    assert key(dataset=spec, n=4, images=6, seed=1) != first
    (photos / "cats" / "new.png").write_bytes(next(photos.rglob("*.png")).read_bytes())
    assert key(dataset=spec, n=4, images=6) != first  # another shuffle


def test_a_description_has_no_path_in_it(photos, tmp_path):
    (tmp_path / "net.py").write_text(OWN)
    torch.save(nn.Sequential(nn.Conv2d(3, 2, 9), nn.ReLU()).state_dict(), tmp_path / "w.pth")
    job = Job(f"{tmp_path / 'net.py'}:make@{tmp_path / 'w.pth'}", f"folder:{photos}", Options(n=4))
    described = describe(job)
    assert str(tmp_path) not in str(described.description)
    assert described.file_name[:-17] == "net.py_make-w.pth-folder_photos-n4-mean"


@pytest.mark.parametrize(
    ("model", "dataset", "options", "name"),
    [
        ("mini:digitsnet", "digits", {}, "mini_digitsnet-DEFAULT-digits-n64-mean-"),
        ("resnet18@random", "random", {"images": 128, "seed": 3}, "resnet18-random-random-n64-mean-images128-seed3-"),
        (
            "mini:digitsnet", "random",
            {"multiverse": ("mean", "positions"), "images": 64, "positions": 3, "bias": "extrapolated"},
            "mini_digitsnet-DEFAULT-random-n64-multiverse+mean+positions-images64-positions3-extrapolated-",
        ),
        (
            "mini:digitsnet", "digits",
            {"order": "reduce-first", "covariance": "empirical", "criteria": False},
            "mini_digitsnet-DEFAULT-digits-n64-mean-reduce-first-empirical-no-criteria-",
        ),
        ("mini:digitsnet", "digits", {"criteria": ["cka", "nlc"]}, "mini_digitsnet-DEFAULT-digits-n64-mean-cka+nlc-"),
    ],
)  # fmt: skip
def test_names_of_files(model, dataset, options, name):
    described = describe(Job(model, dataset, named_options({"n": 64, **options})))
    assert described.file_name[:-17] == name.removesuffix("-")


def test_names_of_files_are_safe_and_short(tmp_path):
    folder = tmp_path / ("a b'c\"d;e\n" + "ü" * 60)
    folder.mkdir()
    Image.new("L", (8, 8)).save(folder / "1.png")
    Image.new("L", (8, 8), 200).save(folder / "2.png")
    described = describe(Job("mini:digitsnet", f"folder:{folder}", Options(n=2)))
    assert described.file_name[:-17] == "mini_digitsnet-DEFAULT-folder_a_b_c_d_e-n2-mean"


def test_a_multiverse_with_more_reductions_serves_and_a_signature_does_not():
    def job(*reductions, **options):
        return describe(Job("mini:digitsnet", "random", Options(images=64, multiverse=reductions, **options)))

    def metadata(described):
        return {"job": json.loads(json.dumps(described.description)), "criteria": list(described.options.criteria)}

    both, mean, plain = job("mean", "sample"), job("mean"), job(criteria=())
    assert is_of_job(metadata(both), mean)
    assert is_of_job(metadata(both), both)
    assert not is_of_job(metadata(mean), both)
    assert not is_of_job(metadata(both), plain)
    assert not is_of_job(metadata(plain), mean)
    assert not is_of_job(metadata(both), job("mean", bias="extrapolated"))


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
