"""Figures 16 and 17: a ResNet-50 that was trained in many ways, as without labels."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from scipy import stats
from torch import Tensor

from affscore.analysis import distance_matrix, nearest_neighbour_accuracy, p_value_text
from affscore.errors import AffscoreError
from affscore.papers.alexnet_to_transformers import PAPER
from affscore.papers.alexnet_to_transformers.figure_08 import small_share
from affscore.papers.claim import Verdict, claim
from affscore.papers.estimate import if_significant, not_significant, require
from affscore.papers.evidence import counted, measured, signatures_tested
from affscore.papers.printed import printed_table
from affscore.papers.results import Results
from affscore.zoo.models import load_model
from affscore.zoo.naming import split_spec
from affscore.zoo.weight_files import load_state_dict, read_state_dict, read_weights, tensors_of, without_wrappers


def checkpoints() -> list[str]:
    """The checkpoints that figure 16 names.

    >>> len(checkpoints()), checkpoints()[0]
    (17, 'resnet50')
    """
    return [str(name) for name in printed_table("figure16_checkpoints").index]


@claim(
    37,
    f"{PAPER}, appendix I, figures 16 and 17 and table 3",
    "the checkpoints of figure 16 and the study's networks on ImageNet",
)
def other_training_changes_little(results: Results) -> Verdict:
    """Training in another way, as without labels, hardly changes a signature.

    Test: The standard deviation of the mean score over ways of training one architecture is less than half of that over
    networks, with the interval of their ratio. Other seeds are not another way: checkpoints of one method are averaged.
    """
    means = pd.Series({name: np.nanmean(one.scores) for name, one in results.checkpoints.items()}, dtype=float)
    within = means.groupby(method_of).mean()
    require(len(within) > 2 and len(results.study) > 9)
    between = np.array([results.scores(name).mean() for name in results.study.index])
    what = f"{len(within)} methods"
    checkpoints = signatures_tested(results.checkpoints.values())
    tested_on = f"{checkpoints}, by {what}, and {measured(results, len(between))}"
    return small_share(float(within.var()), len(within) - 1, between.var(ddof=1), len(between) - 1, what, tested_on)


@claim(53, f"{PAPER}, appendix I and figure 16", "checkpoints of figure 16, several of them of one method")
def methods_are_found(results: Results) -> Verdict:
    """Networks of one architecture that were trained by the same method have signatures near each other.

    Test: The nearest neighbour of a network by dynamic time warping was trained by the same method more often than
    under permuted methods, and for more than half of the networks, with an interval over these.
    """
    methods = pd.Series([method_of(name) for name in results.checkpoints], dtype=str)
    require(1 < len(set(methods)) < len(methods))
    scores = {name: one.scores[np.isfinite(one.scores)] for name, one in results.checkpoints.items()}
    share = nearest_neighbour_accuracy(distance_matrix(scores), list(methods), permutations=4999)
    able = int(methods.duplicated(keep=False).sum())  # the others have no network of their method to be next to
    half = stats.binomtest(round(able * share.value), able).proportion_ci()
    found = (
        f"The nearest neighbour is of the same method for {100 * share.value:.0f} % "
        f"[{100 * half.low:.0f}, {100 * half.high:.0f}] of {able} networks, of {len(set(methods))} methods; with "
        f"permuted methods for {100 * share.permuted:.0f} % ({p_value_text(share.p_value)})."
    )
    most = True if half.low > 0.5 else False if half.high < 0.5 else None
    parts = {
        f"the interval of the share over {counted(able, 'network')} contains a half": most,
        not_significant(share.p_value, "the permutation test"): if_significant(share.p_value, True),
    }
    tested_on = f"{signatures_tested(results.checkpoints.values())}, by {len(set(methods))} methods"
    return Verdict.of_parts(parts, found, len(methods), tested_on)


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
    content = read_weights(file)
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


def method_of(name: str) -> str:
    """How a checkpoint was trained: as figure 16 says, else its name without a number at the end, the seed.

    >>> method_of("resnet50_swav_400"), method_of("label-noise-2"), method_of("dino")
    ('SwAV', 'label-noise', 'dino')
    """
    table = printed_table("figure16_checkpoints")
    return str(table.loc[name, "method"]) if name in table.index else re.sub(r"(?<=.)-\d+$", "", name)
