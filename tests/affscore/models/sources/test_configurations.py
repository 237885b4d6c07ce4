"""Configurations of networks that name other networks, or hold something else than they should."""

import contextlib
import json
import socket
import time

import pytest

from affscore import AffscoreError, load_model
from affscore.models import card_of

pytest.importorskip("transformers")

BERT = {"model_type": "bert", "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
        "intermediate_size": 16, "vocab_size": 30}  # fmt: skip


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


def test_a_backbone_by_the_name_of_a_network_asks_no_repository(tmp_path, asked):
    pytest.importorskip("timm")
    settings = {"model_type": "dpt", "backbone": "test_resnet", "use_pretrained_backbone": True}
    (tmp_path / "config.json").write_text(json.dumps(settings))
    with contextlib.suppress(AffscoreError):  # not all versions can build it
        load_model(f"hf:{tmp_path}@random")
    assert not asked


def test_a_size_of_images_that_is_no_number(tmp_path):
    resnet = {"model_type": "resnet", "embedding_size": 8, "hidden_sizes": [8], "depths": [1]}
    (tmp_path / "config.json").write_text(json.dumps({**resnet, "image_size": [32, "32"]}))
    assert card_of(load_model(f"hf:{tmp_path}@random")).preprocessing.size == 224


def test_a_configuration_that_cannot_be_used_is_named_before_weights_are_asked_for(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({**BERT, "num_labels": "x"}))
    with pytest.raises(AffscoreError, match="transformers cannot build"):
        load_model(f"hf:{tmp_path}")
