"""When a job is another one or the same: images that cannot be read, weights beside a configuration; and reports."""

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file

from affscore import load_signature, signature
from affscore.models.naming import switched
from affscore.models.sources import identity_of_model
from affscore.survey import Store, survey

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
    return survey("mini:digitsnet", f"folder:{folder}", store, **{**OPTIONS, **options})


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
    assert (f"{photos.name}/00.png" in str(report)) == (kind != "folder")


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


def test_no_more_threads_than_pytorch_may_have(tmp_path):
    with switched(torch.get_num_threads, torch.set_num_threads, 1):
        survey("mini:digitsnet", "digits", tmp_path, **OPTIONS)
    (file,) = Store(tmp_path).files()
    assert load_signature(file).metadata["threads"] == 1
