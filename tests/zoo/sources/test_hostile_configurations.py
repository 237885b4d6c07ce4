"""Configurations of networks that speak of other places, or hold something else than they should."""

import contextlib
import json
import socket
import time

import pytest
import torch

from affscore import AffscoreError, load_model
from affscore.zoo import card_of

pytest.importorskip("transformers")

BERT = {"model_type": "bert", "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
        "intermediate_size": 16, "vocab_size": 30}  # fmt: skip
TIMM, BACKBONE = {"model_type": "timm_wrapper"}, {"model_type": "timm_backbone", "backbone": "local-dir:FOLDER"}
ELSEWHERE = {
    "a folder": {**TIMM, "architecture": "local-dir:FOLDER"},
    "a file": {**TIMM, "architecture": "resnet18", "model_args": {"checkpoint_path": "FOLDER/w.pth"}},
    "a folder of a backbone": BACKBONE,
    "a folder in a part": {"model_type": "detr", "use_timm_backbone": False, "backbone_config": BACKBONE},
    "a repository": {**TIMM, "architecture": "hf-hub:somebody/network"},
    "a repository of a backbone": {"model_type": "dpt", "backbone": "somebody/net", "use_pretrained_backbone": True},
}


@pytest.fixture
def asked(monkeypatch):
    """The machines that were asked for; there is none."""
    asked = []

    def unreachable(host, *args, **kwargs):
        asked.append(host)
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unreachable)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    return asked


@pytest.mark.parametrize("kind", ELSEWHERE)
def test_no_other_place_is_read(kind, tmp_path, asked):
    timm = pytest.importorskip("timm")
    other, place = tmp_path / "other", tmp_path / "place"
    other.mkdir()
    place.mkdir()
    (other / "config.json").write_text(json.dumps({"architecture": "test_resnet", "num_classes": 10}))
    torch.save(timm.create_model("resnet18").state_dict(), other / "w.pth")
    (place / "config.json").write_text(json.dumps(ELSEWHERE[kind]).replace("FOLDER", str(other)))
    with pytest.raises(AffscoreError, match=r"the configuration names another place, \w+ = '.*', and only its own"):
        load_model(f"hf:{place}@random")
    assert not asked


def test_a_backbone_by_the_name_of_a_network_asks_no_repository(tmp_path, asked):
    pytest.importorskip("timm")
    settings = {"model_type": "dpt", "backbone": "test_resnet", "use_pretrained_backbone": True}
    (tmp_path / "config.json").write_text(json.dumps(settings))
    with contextlib.suppress(AffscoreError):  # not all versions can build it
        load_model(f"hf:{tmp_path}@random")
    assert not asked


@pytest.mark.parametrize("stated", [5, True, "BertModel", {"BertModel": 1}, [["BertModel"]]])
def test_architectures_are_a_list_of_names(stated, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({**BERT, "architectures": stated}))
    with pytest.raises(AffscoreError, match=r"'config.json' must name its architectures in a list of texts, got"):
        load_model(f"hf:{tmp_path}@random")


def test_a_size_of_images_that_is_no_number(tmp_path):
    resnet = {"model_type": "resnet", "embedding_size": 8, "hidden_sizes": [8], "depths": [1]}
    (tmp_path / "config.json").write_text(json.dumps({**resnet, "image_size": [32, "32"]}))
    assert card_of(load_model(f"hf:{tmp_path}@random")).preprocessing.size == 224


def test_a_network_of_timm_that_expects_enormous_images():
    timm = pytest.importorskip("timm")
    network = timm.create_model("test_resnet", pretrained_cfg_overlay={"input_size": (3, 20_000, 20_000)})
    with pytest.raises(AffscoreError, match="resize at least as large and at most 2048, got 20000"):
        card_of(network)


@pytest.mark.parametrize("name", ["", "x" * 300, "b\0c", "x.safetensors"])
def test_an_index_that_names_what_is_no_file(name, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(BERT))
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": name}}))
    with pytest.raises(AffscoreError) as caught:
        load_model(f"hf:{tmp_path}")
    assert "\0" not in str(caught.value)


def test_a_configuration_that_cannot_be_used_is_named_before_weights_are_asked_for(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({**BERT, "num_labels": "x"}))
    with pytest.raises(AffscoreError, match="transformers cannot build"):
        load_model(f"hf:{tmp_path}")
