"""The networks of timm, as ``timm:NAME``, and their weights."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from torch import Tensor, nn

from affscore.errors import AffscoreError, guarded
from affscore.models.card import ModelCard, fingerprint, seeded
from affscore.models.naming import needs, weights_file
from affscore.models.preprocessing import IMAGENET, Preprocessing
from affscore.models.sources import Source
from affscore.models.weight_files import check_kinds, fetch, from_hub, load_state_dict, misfit, read_state_dict

FILES = ["model.safetensors", "pytorch_model.bin"]


class Timm(Source):
    """The networks of timm; a pretrained tag may stand in the name, as timm writes it, or as WEIGHTS.

    WEIGHTS is "DEFAULT" for the tag that timm puts first, "random", a pretrained tag, or a file, whose names may be
    those of timm or of its own source, which timm translates.
    """

    form = "timm:NAME"
    prefix = package = "timm"

    def names(self) -> list[str]:
        """The names of all networks of timm, as in ``timm:resnet26``."""
        return [f"timm:{name}" for name in _timm("timm:NAME").list_models()] if find_spec("timm") else []

    def knows(self, name: str) -> bool:
        """Whether timm has this network: ``timm:resnet26``, or with a tag, ``timm:resnet26.bt_in1k``."""
        architecture, _, tag = name.removeprefix("timm:").partition(".")
        timm = _timm(name)
        return timm.is_model(architecture) and (not tag or tag in _tags(timm, architecture))

    def load(self, name: str, weights: str, seed: int) -> tuple[nn.Module, ModelCard]:
        """With the weights of a pretrained tag, random ones, or those of a file."""
        timm = _timm(name)
        architecture, _, tag = name.removeprefix("timm:").partition(".")
        name, tags = f"timm:{architecture}", _tags(timm, architecture)
        if weights == "DEFAULT" and not tags:
            raise AffscoreError(f"timm has no trained weights of {name}; write {name}@random or {name}@FILE")
        tag = weights if weights in tags else tag or timm.get_pretrained_cfg(architecture).tag
        pretrained = weights == "DEFAULT" or weights in tags
        file = None if pretrained or weights == "random" else weights_file(name, weights, tags)
        variant = f"{architecture}.{tag}" if tag in tags else architecture
        model = guarded(lambda: seeded(lambda: timm.create_model(variant), seed), f"timm cannot build {name}")
        if weights != "random":
            file = file or _fetched(timm.get_pretrained_cfg(variant), tag, name)
            _put(read_state_dict(file), file.name, model, variant, seed)
        label = tag if pretrained else Path(weights).name
        return model, ModelCard(name, label, *(self.expected_by(model) or (IMAGENET, False)))

    def expected_by(self, model: nn.Module) -> tuple[Preprocessing, bool] | None:
        """What a network of timm expects of an image; None for another network, and where that is not square."""
        if not type(model).__module__.startswith("timm.") or not hasattr(model, "pretrained_cfg"):
            return None
        from timm.data import create_transform, resolve_model_data_config

        config = resolve_model_data_config(model)
        channels, high, wide = config["input_size"]
        return (Preprocessing.of_transform(create_transform(**config), high, channels), True) if high == wide else None


SOURCE = Timm()


_timm = partial(needs, "timm", extra="timm")


def _tags(timm: ModuleType, architecture: str) -> list[str]:
    """The pretrained tags of an architecture."""
    return [full.partition(".")[2] for full in timm.list_models(f"{architecture}.*", pretrained=True)]


def _fetched(config: Any, tag: str, name: str) -> Path:
    """The file of a pretrained tag."""
    if not config.hf_hub_id:
        return fetch(config.url, f"the weights {tag} of {name}", name)
    address = f"https://huggingface.co/{config.hf_hub_id}/resolve/main/{FILES[0]}"
    return from_hub(config.hf_hub_id, FILES, name, "timm", f"get {address} elsewhere and give it as {name}@FILE")


def _put(state: dict[str, Tensor], file: str, model: nn.Module, variant: str, seed: int) -> None:
    """Put these weights into the network; timm translates their names where they are not its own."""
    import timm

    def translated() -> nn.Module:
        return timm.create_model(variant, pretrained=True, pretrained_cfg_overlay={"state_dict": dict(state)})

    check_kinds(model, state, file)
    if misfit(model, state):
        with suppress(Exception):
            one, other = seeded(translated, seed), seeded(translated, seed + 1)
            # some architectures do not insist on all weights; what is left random differs from seed to seed
            if fingerprint(one) == fingerprint(other):
                state = one.state_dict()
    load_state_dict(model, state, file)
