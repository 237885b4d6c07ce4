"""The encoder in a file of a self-supervised release, as a file that the library reads."""

from __future__ import annotations

import re
from pathlib import Path

import torch
from torch import Tensor

from affscore.errors import AffscoreError
from affscore.models.naming import split_spec
from affscore.models.sources import load_model
from affscore.models.weight_files import load_state_dict, read_state_dict, read_tensors, tensors_of, without_wrappers

ENCODERS = ("encoder_q.net.", "encoder_q.", "base_encoder.", "teacher.backbone.", "online_net.0.", "trunk.",
            "backbone.", "encoder.", "")  # fmt: skip
"""What releases write before the names of the network that their authors evaluate: ReSSL, MoCo v1 and v2, MoCo v3,
DINO, Truncated Triplet, SCE, VICReg and Barlow Twins, SimSiam, SwAV and t-ReX. solo-learn has one of the last three."""


def with_encoder(checkpoint: str, folder: str | Path) -> str:
    """A self-supervised checkpoint, MODEL@FILE, as one that the library reads: its encoder, in a file of its own.

    A release has no classifier, and beside the encoder a projection head, a queue, or the other network of the
    training. What is written has all weights of MODEL, the last layer being random: its accuracy says nothing.

    Args:
        checkpoint: MODEL@FILE.
        folder: Where to write.

    Returns:
        MODEL@OTHER; or the checkpoint itself where it has no file, or a file with all weights of MODEL.

    Raises:
        AffscoreError: A file of something else, or of another architecture.

    Sources: main_lincls.py (facebookresearch/moco, moco-v3, simsiam); hubconf.py (swav); eval_linear.py (dino);
    evaluate.py (vicreg); main.py (barlowtwins); linear_eval.py (mingkai-zheng/ReSSL); linear_classifier.py (SCE);
    openselfsup/models/triplet.py (wanggrun/triplet); README.md (naver/trex); main_linear.py (vturrisi/solo-learn).
    Their code was read, and no released file.

    >>> with_encoder("resnet50@IMAGENET1K_V1", "encoders")
    'resnet50@IMAGENET1K_V1'
    """
    model, weights = split_spec(checkpoint)
    file = Path(weights)
    if not file.is_file():
        return checkpoint
    network, found = load_model(model if ".py:" in model else f"{model}@random"), _entries(file)
    own = network.state_dict()
    if own.keys() <= found.keys():
        return checkpoint
    head = f"{[*own][-1].rpartition('.')[0]}."
    body = {name for name in own if not name.startswith(head)}
    needed, parts = body & tensors_of(network).keys(), {name.partition(".")[0] for name in body}
    for prefix in ENCODERS:
        inside = {name.removeprefix(prefix): value for name, value in found.items() if name.startswith(prefix)}
        deeper = [name for name in inside if name not in own and name.partition(".")[0] in parts]
        if needed <= inside.keys() and not deeper:
            load_state_dict(network, own | {name: inside[name] for name in body & inside.keys()}, file.name)
            written = Path(folder) / f"{name_of(checkpoint)}.pth"
            written.parent.mkdir(parents=True, exist_ok=True)
            torch.save(network.state_dict(), written)
            return f"{model}@{written}"
    raise AffscoreError(f"the file {file.name!r} holds no encoder of {model}, in none of the layouts that are known")


def _entries(file: Path) -> dict[str, Tensor]:
    """The tensors in a file by name; of the two networks of DINO those of the teacher."""
    content = read_tensors(file)
    teacher = content.get("teacher") if isinstance(content, dict) else None
    named = {f"teacher.{name}": one for name, one in teacher.items()} if teacher else read_state_dict(file)
    return {without_wrappers(name): value for name, value in named.items()}


def name_of(checkpoint: str) -> str:
    """What a training is called, MODEL@FILE: its file without the ending, or the network with the library's weights.

    >>> name_of("resnet50@files/resnet50_moco_800.pth.tar"), name_of("wide_resnet50_2@IMAGENET1K_V1")
    ('resnet50_moco_800', 'wide_resnet50_2')
    """
    model, _, weights = checkpoint.partition("@")
    file = Path(weights).name
    name = re.sub(r"(\.(pth|pt|tar|bin|ckpt|safetensors))+$", "", file)
    return model if name == file else name
