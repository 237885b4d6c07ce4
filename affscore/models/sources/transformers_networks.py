"""Vision and text transformers of the package transformers, as ``hf:NAME``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from affscore.errors import AffscoreError, first_line, guarded
from affscore.models.card import ModelCard, seeded
from affscore.models.downloads import cached_repositories
from affscore.models.naming import near, needs, switched, weights_file, weights_label
from affscore.models.paths import file_hash, user_path
from affscore.models.sources import Source
from affscore.models.sources.transformers_files import Place
from affscore.models.sources.transformers_input import expected_of
from affscore.models.text import Expected
from affscore.models.weight_files import check_kinds, read_state_dict

CODE = ("auto_map", "_attn_implementation", "attn_implementation", "_attn_implementation_internal",
        "experts_implementation", "_experts_implementation", "fusion_config", "custom_pipelines")  # fmt: skip
"""Entries of a configuration that can name code of somebody else; they are left out."""


class Transformers(Source):
    """Vision and text transformers, in single precision.

    NAME is a folder with config.json, a configuration file, or a repository on the Hugging Face hub; WEIGHTS is
    "DEFAULT" for those of the folder or repository, "random", or a file. The class is the one that the configuration
    names (``architectures``), or else the bare one of the model type. Code that a repository brings is never run.
    """

    form = "hf:NAME"
    prefix = "hf"
    package = "transformers"

    def names(self) -> list[str]:
        """The networks of the hub that are on this machine, as in ``hf:google/vit-base-patch16-224``."""
        return [f"hf:{name}" for name in cached_repositories()] if find_spec("huggingface_hub") else []

    def knows(self, name: str) -> bool:
        """Loading says whether there is such a folder or repository."""
        return True

    def load(self, name: str, weights: str, seed: int) -> tuple[nn.Module, ModelCard]:
        """The family is the type of the configuration."""
        transformers = needs("transformers", name, "transformers")
        place = Place.find(name)
        config_class, settings = _settings(transformers, place.config)
        files, fails = list[Path](), f"transformers cannot build {place.name}"
        with _silence(transformers):
            config = guarded(lambda: config_class.from_dict(settings), fails)
            network_class = guarded(lambda: _network_class(transformers, config, place.name), fails)
        if weights != "random":
            files = place.weights() if weights == "DEFAULT" else [weights_file(place.name, weights, [])]
        state = {key: value for file in files for key, value in read_state_dict(file).items()}
        with _silence(transformers):
            if files:
                model = _with_weights(network_class, config, state, files[0].name, seed)
            else:
                model = guarded(lambda: seeded(lambda: network_class(config), seed), fails)
        if hasattr(model.config, "use_cache"):
            model.config.use_cache = False  # keys and values of a text that nobody continues
        preprocessing, known = expected_of(model, place.beside)
        family = getattr(config, "model_type", None)
        return model, ModelCard(place.name, weights_label(weights), preprocessing, known, family=family)

    def identity(self, name: str, weights: str) -> dict[str, Any]:
        """All files of a folder, too; config.json stands for its folder, whose weights are taken."""
        about, place = super().identity(name, weights), user_path(name.removeprefix("hf:"))
        place = place.parent if place.name == "config.json" else place
        if not place.exists():
            return about
        files = sorted(file for file in place.rglob("*") if file.is_file()) if place.is_dir() else [place]
        hashes = {file.relative_to(place.parent).as_posix(): file_hash(file) for file in files}
        return about | {"model": f"hf:{place.resolve().name}", "files": hashes | about["files"]}

    def expected_by(self, model: nn.Module) -> tuple[Expected, bool] | None:
        """What the configuration says; how images are normalised a file beside it would say."""
        takes = getattr(model, "main_input_name", None)
        known = takes in ("input_ids", "pixel_values") and hasattr(model, "config")
        return expected_of(model, lambda filename: None) if known else None


SOURCE = Transformers()


def _settings(transformers: ModuleType, file: Path) -> tuple[Any, dict[str, Any]]:
    """The class of a configuration, and what it is made from."""
    what = f"the file {file.name!r} is not the configuration of a network"
    advice = "it must be JSON with an entry model_type"
    stated = guarded(lambda: json.loads(file.read_text(encoding="utf-8")), what, advice)
    model_type = guarded(lambda: stated["model_type"], what, advice)
    known = transformers.CONFIG_MAPPING
    if not isinstance(model_type, str) or model_type not in known:
        raise AffscoreError(
            f"transformers {transformers.__version__} has no network of the type {model_type!r}"
            f"{near(str(model_type), list(known.keys()))}; code that a repository brings is not run"
        )
    settings = _without_code(stated)
    if settings.get("quantization_config"):
        raise AffscoreError(
            f"the weights of this {model_type} are quantised, and scores need real numbers; use the original weights"
        )
    return known[model_type], settings


def _without_code(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings without what names code; the weights of a backbone are those beside it, or random."""
    kept = {key: _without_code(value) if isinstance(value, dict) else value for key, value in settings.items()}
    kept = {key: value for key, value in kept.items() if key not in CODE}
    return kept | dict.fromkeys(kept.keys() & {"use_pretrained_backbone"}, False)


def _network_class(transformers: ModuleType, config: Any, name: str) -> Any:
    """The class that the configuration names, or the bare network of its type."""
    for stated in getattr(config, "architectures", None) or []:
        found = getattr(transformers, stated, None) if stated.isidentifier() else None
        if isinstance(found, type) and issubclass(found, transformers.PreTrainedModel):
            return found
    bare = guarded(lambda: transformers.MODEL_MAPPING[type(config)], f"transformers has no network for {name}")
    return bare[0] if isinstance(bare, tuple) else bare


def _with_weights(network_class: Any, config: Any, state: dict[str, Tensor], file: str, seed: int) -> nn.Module:
    def build() -> Any:
        return network_class.from_pretrained(
            None, config=config, state_dict=state, dtype=torch.float32, output_loading_info=True
        )

    not_these = f"the weights in {file!r} are not those of this {network_class.__name__}"
    loaded: Any = guarded(lambda: seeded(build, seed), not_these)
    model, report = loaded
    missing, shapes = sorted(report["missing_keys"]), sorted(map(str, report["mismatched_keys"]))
    check_kinds(model, state, file)
    if missing or shapes or report.get("error_msgs"):
        wrong = f"{missing[0]!r} is missing" if missing else f"{(shapes or report['error_msgs'])[0]}"
        raise AffscoreError(
            f"{not_these} ({len(missing)} missing, {len(report['unexpected_keys'])} unknown, {len(shapes)} of another "
            f"shape: {first_line(ValueError(wrong))})"
        )
    return model


@contextmanager
def _silence(transformers: ModuleType) -> Iterator[None]:
    """Without progress bars and reports, which errors say shortly, and without the hub: all files are here."""
    from huggingface_hub import constants

    log = transformers.utils.logging

    def show(bars: bool) -> None:
        (log.enable_progress_bar if bars else log.disable_progress_bar)()

    with (
        switched(log.get_verbosity, log.set_verbosity, log.ERROR),
        switched(log.is_progress_bar_enabled, show, False),
        switched(lambda: constants.HF_HUB_OFFLINE, partial(setattr, constants, "HF_HUB_OFFLINE"), True),
    ):
        yield
