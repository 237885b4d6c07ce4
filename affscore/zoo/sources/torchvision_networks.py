"""The classification networks of torchvision, and their weights."""

from __future__ import annotations

import urllib.request
from pathlib import Path
from typing import Any

import torch
from torch import nn

from affscore.errors import AffscoreError, first_line
from affscore.zoo.architectures import architecture_of
from affscore.zoo.card import ModelCard, parameter_count, seeded
from affscore.zoo.downloads import SECONDS_OF_SILENCE, SECONDS_TO_ANSWER, patience
from affscore.zoo.preprocessing import Preprocessing
from affscore.zoo.sources.naming import weights_file, weights_label
from affscore.zoo.state_dicts import load_weights, read_state_dict

__all__ = ["fetch", "knows", "load", "names", "weights_of"]

ACCURACY_ON = "ImageNet-1K"


def names() -> list[str]:
    """The names of all classification networks.

    >>> "resnet18" in names(), "fasterrcnn_resnet50_fpn" in names()
    (True, False)
    """
    return _models().list_models(module=_models())


def knows(name: str) -> bool:
    """Whether torchvision has this classification network."""
    return name in names()


def weights_of(name: str) -> Any:
    """The enumeration of the weights that torchvision has of a network."""
    return _models().get_model_weights(name)


def _models() -> Any:
    import torchvision  # takes seconds, and networks from elsewhere need none of it

    return torchvision.models


def load(name: str, weights: str, seed: int) -> tuple[nn.Module, ModelCard]:
    """A network of torchvision.

    Args:
        name: One of :func:`names`.
        weights: "DEFAULT", "random", a member of the enum of its weights, or a file.
        seed: Fixes random weights.

    Raises:
        AffscoreError: Unknown weights, or weights that cannot be had.
    """
    enum = weights_of(name)
    if weights == "DEFAULT" or weights in enum.__members__:
        chosen = enum[weights]
        model = _pretrained(name, chosen)
        metrics = chosen.meta["_metrics"].get(ACCURACY_ON, {})
        accuracy = metrics.get("acc@1")
        return model, _card(name, chosen.name, chosen, model, accuracy)
    file = None if weights == "random" else weights_file(name, weights, enum.__members__)
    # these two initialise themselves only when asked to, and warn when not asked
    options: dict[str, Any] = {"init_weights": True} if name in ("googlenet", "inception_v3") else {}
    if file is not None and options:
        options["transform_input"] = True  # their weights come from TensorFlow, with its normalisation of the input
    builder = _models().get_model_builder(name)
    model = seeded(lambda: builder(weights=None, **options), seed)
    if file is not None:
        load_weights(model, file)
    return model, _card(name, weights_label(weights), next(iter(enum)), model, None)


def _card(name: str, label: str, weight: Any, model: nn.Module, accuracy: float | None) -> ModelCard:
    """The card of a network whose input, and so whose number of operations, is that of this weight."""
    architecture = architecture_of(name)
    return ModelCard(
        name,
        label,
        Preprocessing.from_torchvision(weight.transforms()),
        family=architecture.family if architecture else None,
        year=architecture.year if architecture else None,
        accuracy=accuracy,
        accuracy_on=None if accuracy is None else ACCURACY_ON,
        parameters=parameter_count(model),
        gflops=weight.meta["_ops"],
        classes=tuple(weight.meta["categories"]),
    )


def _pretrained(name: str, weight: Any) -> nn.Module:
    file = fetch(weight.url, f"the weights {weight.name} of {name}", name)
    broken = f"the weights of {name} in the file {file.name} of {file.parent} cannot be used"
    advice = "remove the file so that it is downloaded again"
    try:
        read_state_dict(file)  # torchvision would run what a pickle says; after this it is known to hold only tensors
    except AffscoreError as error:
        raise AffscoreError(f"{broken} (it holds nothing that can be read safely as weights); {advice}") from error
    try:
        return _models().get_model_builder(name)(weights=weight)
    except Exception as error:
        raise AffscoreError(f"{broken} ({first_line(error)}); {advice}") from error


def fetch(url: str, what: str, name: str) -> Path:
    """The file behind an address, downloaded to where torchvision looks for it unless it is there.

    Args:
        url: Its address; a hash at the end of the name is checked.
        what: What the file holds, for the message.
        name: MODEL, for the message.

    Raises:
        AffscoreError: It is not there and cannot be downloaded; the message says where to put it.
    """
    file = Path(torch.hub.get_dir()) / "checkpoints" / url.rsplit("/", 1)[-1]
    if file.exists():
        return file
    expected = torch.hub.HASH_REGEX.search(file.name)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with patience(SECONDS_OF_SILENCE):
            # one question first, so that a dead line costs seconds
            urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=SECONDS_TO_ANSWER).close()
            torch.hub.download_url_to_file(url, str(file), expected.group(1) if expected else None)
    except Exception as error:  # no network, no space, no permission, another hash
        raise AffscoreError(
            f"{what} are not on this machine and could not be downloaded ({' '.join(str(error).split())}); "
            f"get {url} elsewhere and put it into {file.parent}, or give it as {name}@FILE"
        ) from error
    return file
