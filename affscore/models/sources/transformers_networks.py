"""Vision and text transformers of the package transformers, as ``hf:NAME``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from PIL import Image
from torch import Tensor, nn

from affscore.errors import AffscoreError, guarded, guarding
from affscore.models.card import ModelCard, seeded
from affscore.models.naming import file_hash, near, needs, switched, user_path, weights_file
from affscore.models.preprocessing import IMAGENET, Expected, Preprocessing, TextPreprocessing
from affscore.models.sources import Source
from affscore.models.weight_files import cached_repositories, check_kinds, from_hub, read_state_dict

WEIGHTS = ["model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json"]

LENGTHS = ("max_position_embeddings", "n_positions", "max_sequence_length", "max_seq_len", "seq_length")
"""Under which names configurations keep the largest number of tokens."""

CODE = {"auto_map", "_attn_implementation", "attn_implementation", "_attn_implementation_internal",
        "experts_implementation", "_experts_implementation", "fusion_config", "custom_pipelines"}  # fmt: skip
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
        """Of a folder its name is that of the folder, without the path."""
        transformers = needs("transformers", name, "transformers")
        file, repository = _configuration(name)
        name = name if repository else f"hf:{file.parent.resolve().name if file.name == 'config.json' else file.name}"
        config_class, settings = _settings(transformers, file)
        files = list[Path]()
        if weights != "random":
            files = _trained(name, file, repository) if weights == "DEFAULT" else [weights_file(name, weights)]
        with _silence(transformers), guarding(f"transformers cannot build {name}"):
            # keys and values are for a text that somebody continues
            config = config_class.from_dict(settings | {"use_cache": False})
            model = _built(_network_class(transformers, config), config, files, seed)
        return model, ModelCard(name, Path(weights).name, *expected_of(model, partial(_beside, file, repository)))

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
        known = getattr(model, "main_input_name", None) in ("input_ids", "pixel_values") and hasattr(model, "config")
        return expected_of(model, lambda filename: None) if known else None


SOURCE = Transformers()


def _configuration(name: str) -> tuple[Path, str | None]:
    """The configuration that ``hf:NAME`` means, and the repository that it is from; None for a file of the user's.

    Raises:
        AffscoreError: There is no such folder, file or repository.
    """
    text = name.removeprefix("hf:")
    path = user_path(text)
    path = path / "config.json" if text and path.is_dir() else path
    if path.is_file():
        return path, None
    if path.name == "config.json" or text.endswith(".json") or text.startswith(("/", ".", "~")) or text.count("/") > 1:
        raise AffscoreError(f"file not found: there is no folder with a config.json, and no configuration, {text!r}")
    advice = f"put config.json and the weights in a folder and give it as hf:FOLDER{near(text, cached_repositories())}"
    return from_hub(text, ["config.json"], name, "transformers", advice), text


def _beside(config: Path, repository: str | None, filename: str) -> Path | None:
    """Another file of the same place, if there is one; to a configuration of another name nothing belongs."""
    file = config.parent / filename
    if repository and not file.is_file():
        with suppress(AffscoreError):
            return from_hub(repository, [filename], repository, "transformers", "")
    return file if config.name == "config.json" and file.is_file() else None


def _trained(name: str, config: Path, repository: str | None) -> list[Path]:
    """The files of the trained weights beside the configuration: one, or all that an index names.

    Raises:
        AffscoreError: There are none, or an index of none.
    """
    advice = f"write {name}@random or {name}@FILE"
    here = next(filter(None, (_beside(config, None, file) for file in WEIGHTS)), None)
    first = from_hub(repository, WEIGHTS, name, "transformers", advice) if repository else here
    if first is None:
        raise AffscoreError(f"there are no trained weights ({WEIGHTS[0]}) beside the configuration of {name}; {advice}")
    if first.suffix != ".json":
        return [first]
    what = f"the file {first.name!r} is no index of weights"
    named = guarded(lambda: json.loads(first.read_text())["weight_map"].values(), what, advice)
    if not (parts := sorted(set(map(str, named)))):
        raise AffscoreError(f"{what}: it names no file; {advice}")
    return [from_hub(repository, [p], name, "transformers", advice) if repository else first.parent / p for p in parts]


def _settings(transformers: ModuleType, file: Path) -> tuple[Any, dict[str, Any]]:
    """The class of a configuration, and what it is made from."""
    what = f"the file {file.name!r} is not the configuration of a network"
    with guarding(what, f"it must be JSON with a model_type of transformers {transformers.__version__}"):
        settings = _without_code(json.loads(file.read_text(encoding="utf-8")))
        kind = settings["model_type"]
        if settings.get("quantization_config"):
            raise AffscoreError(f"this {kind} is quantised, and scores need real numbers; use the original weights")
        return transformers.CONFIG_MAPPING[kind], settings


def _without_code(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings without what names code; the weights of a backbone are those beside it, or random."""
    kept = {key: value for key, value in settings.items() if key not in CODE}
    kept = {key: _without_code(value) if isinstance(value, dict) else value for key, value in kept.items()}
    return kept | dict.fromkeys(kept.keys() & {"use_pretrained_backbone"}, False)


def _network_class(transformers: ModuleType, config: Any) -> Any:
    """The class that the configuration names, or the bare network of its type."""
    for stated in getattr(config, "architectures", None) or []:
        found = getattr(transformers, stated, None) if stated.isidentifier() else None
        if isinstance(found, type) and issubclass(found, transformers.PreTrainedModel):
            return found
    bare = transformers.MODEL_MAPPING[type(config)]
    return bare[0] if isinstance(bare, tuple) else bare


def _built(network_class: Any, config: Any, files: list[Path], seed: int) -> nn.Module:
    """The network with the weights of these files; random ones where there is none."""
    if not files:
        return seeded(lambda: network_class(config), seed)
    state = {key: value for part in files for key, value in read_state_dict(part).items()}
    given = {"config": config, "state_dict": state, "dtype": torch.float32, "output_loading_info": True}
    not_these = f"the weights in {files[0].name!r} are not those of this {network_class.__name__}"
    model, report = guarded(lambda: seeded(lambda: network_class.from_pretrained(None, **given), seed), not_these)
    check_kinds(model, state, files[0].name)
    wrong = [*sorted(report["missing_keys"]), *sorted(map(str, report["mismatched_keys"]))]
    if wrong or report.get("error_msgs"):
        raise AffscoreError(f"{not_these} (missing or of another shape: {(wrong or report['error_msgs'])[0]})")
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


def expected_of(model: nn.Module, beside: Callable[[str], Path | None]) -> tuple[Expected, bool]:
    """What a network expects by its configuration and the files beside it, and whether they say so.

    Args:
        model: The network.
        beside: Where a file is that lies beside the configuration, or None: preprocessor_config.json of a
            network of images, tokenizer.json of one of text.

    Raises:
        AffscoreError: A preprocessor_config.json that cannot be used, or a network that takes neither images nor
            token ids.
    """
    takes = getattr(model, "main_input_name", None)
    if takes == "input_ids":
        return _text(model.config, beside("tokenizer.json")), True
    if takes != "pixel_values":
        raise AffscoreError(f"{type(model).__name__} takes {takes!r}; only networks of images and of text have a score")
    size, channels = _number(model.config, "image_size", IMAGENET.size), _number(model.config, "num_channels", 3)
    if stated := beside("preprocessor_config.json"):
        what = f"the file {stated.name!r} does not say what the network expects of an image"
        return guarded(lambda: Preprocessing.of_transform(_Processor(stated.parent), size, channels), what), True
    if channels == 1:
        return Preprocessing(1, size, size, (sum(IMAGENET.mean) / 3,), (sum(IMAGENET.std) / 3,)), False
    return Preprocessing(3, size, size), False


def _text(config: Any, tokenizer: Path | None) -> TextPreprocessing:
    config = config.get_text_config() if hasattr(config, "get_text_config") else config
    maximum = next((n for key in LENGTHS if isinstance(n := getattr(config, key, None), int) and n > 0), None)
    return TextPreprocessing(tokenizer and str(tokenizer), None, getattr(config, "vocab_size", None) or None, maximum)


def _number(config: Any, key: str, default: int) -> int:
    """A number of the configuration, or of the part of it that is about images; the larger of two."""
    value = getattr(config, key, None) or getattr(getattr(config, "vision_config", None), key, None) or default
    sizes = list(value) if isinstance(value, (list, tuple)) else [value]
    return max(sizes) if sizes and all(isinstance(size, int) and size > 0 for size in sizes) else default


class _Processor:
    """An image processor of transformers, as a transform of one picture."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoImageProcessor

        self.process = AutoImageProcessor.from_pretrained(str(folder), trust_remote_code=False, local_files_only=True)

    def __repr__(self) -> str:
        return repr(self.process)

    def __call__(self, picture: Image.Image) -> Tensor:
        return self.process(picture, return_tensors="pt")["pixel_values"][0]
