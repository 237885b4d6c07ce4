"""Weights from a file into a network, also from the checkpoint of a self-supervised training.

Such a file has no classifier, prefixes in front of its names, and often a second network. The layouts of releases, as
their authors' code reads them for evaluation (without the ``module.`` of DataParallel):

=========================== ================================ =======================================================
release                     the network                      beside it
=========================== ================================ =======================================================
SwAV                        no prefix                        ``projection_head``, ``prototypes``
MoCo v1, v2                 ``encoder_q.``                   ``encoder_q.fc``, ``encoder_k``, ``queue``
MoCo v3                     ``base_encoder.``                ``base_encoder.fc``, ``momentum_encoder``, ``predictor``
SimSiam                     ``encoder.``                     ``encoder.fc``, ``predictor``
DINO, full checkpoint       ``teacher.backbone.``            ``teacher.head``, ``student``
ReSSL                       ``encoder_q.net.``               ``encoder_q.head``, ``encoder_k``, ``queue``
SCE                         ``trunk.``                       ``momentum_trunk``, ``projector``
VICReg, Barlow Twins, full  ``backbone.``                    ``projector``
Truncated Triplet, full     ``backbone.``, ``online_net.0.`` ``target_net``, ``head``
solo-learn                  ``encoder.``, or ``backbone.``   ``momentum_encoder``, or ``momentum_backbone``
the ResNet-50 of DINO, VICReg, Barlow Twins, Truncated Triplet and t-ReX: no prefix, and nothing beside it
====================================================================================================================

Sources: main_lincls.py (facebookresearch/moco, moco-v3, simsiam); hubconf.py and issue 6 (swav); eval_linear.py and
main_dino.py (dino); evaluate.py (vicreg); main.py (barlowtwins); linear_eval.py (mingkai-zheng/ReSSL);
sce/evaluation/linear_classifier.py (CEA-LIST/SCE); openselfsup/models/triplet.py and tools (wanggrun/triplet);
README.md (naver/trex); main_linear.py (vturrisi/solo-learn; ``backbone`` is the name in its later versions, from
memory). The layouts are those of the code: no released file was read.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.modules.conv import _ConvNd

from affscore.errors import AffscoreError
from affscore.zoo.weight_files import load_state_dict, misfit, read_state_dict, tensors_of, without_wrappers

PAIRS = {
    "encoder_q": "encoder_k",
    "base_encoder": "momentum_encoder",
    "teacher": "student",
    "trunk": "momentum_trunk",
    "online_net": "target_net",
    "backbone": "momentum_backbone",
    "encoder": "momentum_encoder",
}
"""What the two networks of a training are called: the one that its authors evaluate, and the other one."""

LISTED = 6
"""How many prefixes or groups of entries a message names."""

LONGEST = 60
"""How many letters of a name it shows."""


class Loaded(NamedTuple):
    """What a file of weights left open; the attributes of :class:`affscore.zoo.ModelCard` of the same names.

    Attributes:
        headless: Whether it has no weights for the last layer.
        notes: What was taken from it and what was not, in sentences; none where it was all.
    """

    headless: bool = False
    notes: tuple[str, ...] = ()


def load_weights(model: nn.Module, file: Path) -> Loaded:
    """Put the weights of a file into a model.

    Args:
        model: The architecture.
        file: See :func:`affscore.zoo.weight_files.read_state_dict`.

    Raises:
        AffscoreError: No such file, not weights, or as :func:`load_entries`; the model is as it was.
    """
    return load_entries(model, read_state_dict(file), file.name)


def load_entries(model: nn.Module, state: Mapping[str, Tensor], file: str) -> Loaded:
    """Put the entries of a file into a model, if they hold its weights under exactly one prefix.

    Under the prefix there must be all weights of the model, and nothing else; or all but those of its last layer, if
    that is linear or a convolution, and beside them only other modules (a projection head; not further blocks of a
    deeper network, nor parameters outside modules). What is under other prefixes is left out. Of two networks that both
    fit, the one that the authors of the release evaluate is taken (:data:`PAIRS`).

    Args:
        model: The architecture.
        state: Names and tensors.
        file: The name of the file that they are from, for messages and notes.

    Raises:
        AffscoreError: Another architecture, several networks that fit, or numbers of another sort; the model is as it
            was.

    >>> network = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1))
    >>> load_entries(network, {"net.0.weight": torch.ones(2, 3), "net.0.bias": torch.ones(2)}, "a.pth").headless
    True
    >>> network[0].weight[0]
    tensor([1., 1., 1.], grad_fn=<SelectBackward0>)
    """
    entries = _Entries(model, state)
    fitting = [prefix for prefix in entries.prefixes if entries.complete(prefix) or entries.headless(prefix)]
    if not fitting:
        raise AffscoreError(f"the weights in {file!r} are not those of this architecture ({entries.nearest_misfit()})")
    chosen = (p for p in fitting if all(_evaluated(p, q) or entries.same(p, q) for q in fitting))
    if (prefix := next(chosen, None)) is None:
        raise AffscoreError(
            f"the file {file!r} holds several networks of this architecture, under {_listed(map(_shown, fitting))}, "
            "and which one is meant is not known; save the entries of one, without the prefix, with torch.save"
        )
    headless = not entries.complete(prefix)
    kept = entries.own_head if headless else {}
    load_state_dict(model, entries.under(prefix, model.state_dict().keys() - kept.keys()) | kept, file)
    others = [other for other in fitting if not entries.same(prefix, other)]
    left = entries.left_out(prefix, kept.keys())
    notes = [_on_entries(file, prefix, others, left)] if prefix or left else []
    if headless:
        notes.append(
            f"the file {file!r} has no weights for the last layer, {entries.head!r}, which stays as it was built, "
            "untrained: there is no accuracy, and an activation after this layer, if there is one, sees its outputs"
        )
    return Loaded(headless, tuple(notes))


class _Entries:
    """The entries of a file beside the weights of a model: body and head, the last layer with weights."""

    def __init__(self, model: nn.Module, state: Mapping[str, Tensor]) -> None:
        self.model, self.state, self.names = model, state, sorted(state)
        ours = tensors_of(model)
        layers = [(name, part) for name, part in model.named_modules() if [*part.parameters(recurse=False)]]
        name, last = layers[-1] if layers else ("", model)
        self.head = name if isinstance(last, (nn.Linear, _ConvNd)) and name else None
        self.own_head = {key: value for key, value in ours.items() if self._in_head(key)}
        self.body = {key: value for key, value in ours.items() if key not in self.own_head}
        self.known = {*model.state_dict()}
        # the longest prefixes of a foreign file are not looked at: its names may have millions of dots
        dots, found = max((key.count(".") for key in ours), default=0), Counter[str]()
        for entry in self.names:
            parts = entry.rsplit(".", dots + 1)
            ends = (".".join(parts[start:]) for start in range(len(parts)))
            found.update(entry.removesuffix(end) for end in ends if end in ours)
        self.prefixes = sorted(found, key=lambda prefix: (-found[prefix], prefix))

    def complete(self, prefix: str) -> bool:
        """Whether all weights, and nothing else, are under a prefix."""
        return self._has(prefix, self.body | self.own_head) and next(self._unknown(prefix), None) is None

    def headless(self, prefix: str) -> bool:
        """Whether all weights but those of the last layer are under a prefix, and beside them other modules only."""
        if not self.own_head or not self.body or not self._has(prefix, self.body):
            return False
        # the encoders of MoCo v1 end in an embedding that has the name of the classifier
        embedding = {*prefix.split(".")} & {*PAIRS, *PAIRS.values()} and not self._has(prefix, self.own_head)
        if not embedding and any(prefix + key in self.state for key in self.own_head):
            return False
        tops = {key.partition(".")[0] for key in self.body}
        beside = (key.partition(".") for key in self._unknown(prefix) if not self._in_head(key))
        # a part of one of our modules, a further module of a sequence, or a parameter of the network itself
        return not any(top in tops or top.isdecimal() or not dot for top, dot, _ in beside)

    def same(self, one: str, other: str) -> bool:
        """Whether the same numbers are under two prefixes."""
        pairs = ((self.state[one + key], self.state[other + key]) for key in self.body)
        return one == other or all(a.dtype == b.dtype and torch.equal(a, b) for a, b in pairs)

    def under(self, prefix: str, keys: Set[str]) -> dict[str, Tensor]:
        """The entries of these names under a prefix, without it."""
        return {key: self.state[prefix + key] for key in sorted(keys) if prefix + key in self.state}

    def left_out(self, prefix: str, kept: Set[str]) -> Counter[str]:
        """How many entries the model does not have, by the module that they belong to."""
        taken, above, groups = {prefix + key for key in self.known - kept}, prefix.split(".")[:-1], Counter[str]()
        for entry in self.names:
            if entry not in taken:
                parts = entry.split(".")
                shared = (level for level, (a, b) in enumerate(zip(above, parts, strict=False)) if a != b)
                groups[".".join(parts[: next(shared, len(above)) + 1])] += 1
        return groups

    def nearest_misfit(self) -> str:
        """What is missing under the prefix that has most of the names."""
        prefix = self.prefixes[0] if self.prefixes else ""
        there = {key.removeprefix(prefix): self.state[key] for key in self._under(prefix)}
        absent = there.keys() & self.body.keys() and not there.keys() & self.own_head.keys()
        wrong = misfit(self.model, there | (self.own_head if absent else {}))
        return f"under the nearest prefix, {_shown(prefix)}: {wrong}" if prefix else wrong

    def _in_head(self, key: str) -> bool:
        return self.head is not None and key.startswith(f"{self.head}.")

    def _has(self, prefix: str, ours: Mapping[str, Tensor]) -> bool:
        return all(prefix + key in self.state and self.state[prefix + key].shape == ours[key].shape for key in ours)

    def _under(self, prefix: str) -> Iterator[str]:
        for place in range(bisect_left(self.names, prefix), len(self.names)):
            if not self.names[place].startswith(prefix):
                return
            yield self.names[place]

    def _unknown(self, prefix: str) -> Iterator[str]:
        keys = (entry.removeprefix(prefix) for entry in self._under(prefix))
        return (key for key in keys if key not in self.known)


def _evaluated(one: str, other: str) -> bool:
    """Whether two prefixes differ in a pair of names only, of which the first is evaluated.

    >>> _evaluated("teacher.backbone.", "student.module.backbone."), _evaluated("student.", "teacher.")
    (True, False)
    """
    parts = [without_wrappers(prefix).split(".") for prefix in (one, other)]
    differ = [(a, b) for a, b in zip(*parts, strict=False) if a != b]
    return len(parts[0]) == len(parts[1]) and len(differ) == 1 and PAIRS.get(differ[0][0]) == differ[0][1]


def _on_entries(file: str, prefix: str, others: list[str], left: Counter[str]) -> str:
    """Which entries of a file were taken, and which were not."""
    evaluated = f", which its authors evaluate, and not those under {_listed(map(_shown, others))}" if others else ""
    parts = [f"the weights are those under {_shown(prefix)}{evaluated}"] if prefix else []
    if left:
        groups = _listed(f"{_shown(group)} ({count})" for group, count in sorted(left.items()))
        parts.append(f"{left.total()} entries are not of this network and were left out: {groups}")
    return f"of the file {file!r} {'; '.join(parts)}"


def _shown(name: str) -> str:
    return repr(name if len(name) <= LONGEST else f"...{name[-LONGEST:]}") if name else "no prefix"


def _listed(names: Iterable[str]) -> str:
    first = [*names]
    more = [f"{len(first) - LISTED} more"] if len(first) > LISTED else []
    return ", ".join(first[:LISTED] + more)
