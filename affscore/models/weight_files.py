"""Files of weights: found or downloaded, read without running code, put into a network whose architecture they fit."""

from __future__ import annotations

import argparse
import pickle
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from affscore.errors import AffscoreError, guarding
from affscore.models.naming import needs, readable_file
from affscore.transport.samples import check_plain

ENTRIES = ("state_dict", "model_state_dict", "model", "state_dict_ema", "model_ema")
"""Under which names training scripts keep the weights in a checkpoint."""

WRAPPERS = {"module", "_orig_mod"}
"""What DataParallel and torch.compile write in front of every name."""

SECONDS_TO_ANSWER = 5.0
"""PyTorch sets no limit, and the client of the Hugging Face hub asks six times and waits half a minute in all."""

ADVICE = "save them with torch.save(model.state_dict(), FILE) or as safetensors"


def without_wrappers(name: str) -> str:
    """The name of a weight or a layer, as it is where no part of the network is wrapped.

    >>> without_wrappers("module.blocks.0._orig_mod.weight")
    'blocks.0.weight'
    """
    return ".".join(part for part in name.split(".") if part not in WRAPPERS)


def read_tensors(file: Path, what: str = "weights", advice: str = ADVICE) -> Any:
    """The contents of a .safetensors or .npy file, or of any that ``torch.load(weights_only=True)`` reads, on the CPU.

    These readers run no code that a file holds. Nothing else guards against a file that was made to do harm, such as
    one that unpacks to more than the memory holds.

    Args:
        file: The file. It may hold an ``argparse.Namespace``, the options that training scripts like to keep.
        what: What the file should hold, for the message.
        advice: How to write such a file, for the message.

    Raises:
        AffscoreError: No file, not such a file, or a broken one.
    """
    readable_file(file, "weights are read from a .safetensors, .pth or .pt file")
    with guarding(f"the file {file.name!r} does not hold {what} that can be read safely", advice):
        if file.suffix == ".safetensors":
            return needs("safetensors.torch", file.name, "safetensors").load_file(file)
        if file.suffix == ".npy":
            return torch.from_numpy(np.load(file, allow_pickle=False))
        try:
            with torch.serialization.safe_globals([argparse.Namespace]):
                return torch.load(file, map_location="cpu", weights_only=True)
        except pickle.UnpicklingError as error:  # PyTorch's advice is to run what the file holds
            raise ValueError("it is broken, or holds more than tensors") from error


def read_state_dict(file: Path) -> dict[str, Tensor]:
    """The tensors in a file of weights, by name.

    Args:
        file: A state dictionary (:func:`read_tensors`). It may be the value of an entry ``state_dict``,
            ``model_state_dict``, ``model``, ``state_dict_ema`` or ``model_ema``, if there is one of them only, and
            its names may begin with ``module.`` or ``_orig_mod.``.

    Raises:
        AffscoreError: No such file, not weights, or tensors without plain numbers (sparse, quantised).
    """
    content = read_tensors(file)
    if isinstance(content, dict):
        inner = [name for name in ENTRIES if isinstance(content.get(name), dict)]
        if len(inner) > 1:
            raise AffscoreError(f"{file.name!r} holds several state dictionaries ({', '.join(inner)}); save one alone")
        content = content[inner[0]] if inner else content
    if not isinstance(content, dict) or not content or not all(isinstance(v, Tensor) for v in content.values()):
        raise AffscoreError(f"the file {file.name!r} holds no state dictionary (names and tensors); {ADVICE}")
    check_plain([*content.values()], f"the weights in {file.name!r}")
    state = {str(name): value for name, value in content.items() if name != "n_averaged"}  # of an average of weights
    while len(first := {name.partition(".")[0] for name in state}) == 1 and first <= WRAPPERS:
        state = {name.partition(".")[2]: value for name, value in state.items()}
    return state


def load_weights(model: nn.Module, file: Path) -> None:
    """Put the weights of a file (:func:`read_state_dict`) into a model, as :func:`load_state_dict` does."""
    load_state_dict(model, read_state_dict(file), file.name)


def load_state_dict(model: nn.Module, state: Mapping[str, Tensor], name: str) -> None:
    """Put weights into a model, if they are those of its architecture.

    Args:
        model: The architecture.
        state: Names and tensors. All names may begin with one further word, as those of a ``LightningModule`` that
            holds the network do.
        name: The name of the file that they are from, for the message.

    Raises:
        AffscoreError: Names, shapes or kinds of numbers do not fit; the model is as it was.
    """
    inner = {key.partition(".")[2]: value for key, value in state.items()}
    if len({key.partition(".")[0] for key in state}) == 1 and not misfit(model, inner):
        state = inner
    if wrong := misfit(model, state):
        raise AffscoreError(f"the weights in {name!r} are not those of this architecture ({wrong})")
    check_kinds(model, state, name)
    whole = model.state_dict()  # with its metadata: MNASNet wants to see its version there
    whole.update(state)
    model.load_state_dict(whole)


def tensors_of(model: nn.Module) -> dict[str, Tensor]:
    """The tensors that a file must have for a model; older ones do not count the batches that a batch norm has seen.

    >>> list(tensors_of(nn.BatchNorm1d(3)))
    ['weight', 'bias', 'running_mean', 'running_var']
    """
    state = {key: value for key, value in model.state_dict().items() if not key.endswith("num_batches_tracked")}
    return {key: value for key, value in state.items() if isinstance(value, Tensor)}


def misfit(model: nn.Module, state: Mapping[str, Tensor]) -> str:
    """What makes weights those of another architecture; empty where names and shapes are those of this one.

    >>> misfit(nn.Linear(3, 2), {"weight": torch.zeros(2, 3)})
    "1 missing, unknown or of another shape, such as 'bias'"
    >>> misfit(nn.Linear(3, 2), nn.Linear(3, 2).state_dict())
    ''
    """
    ours = {key: value for key, value in model.state_dict().items() if isinstance(value, Tensor)}
    other = {key for key in ours.keys() & state.keys() if ours[key].shape != state[key].shape}
    wrong = sorted((tensors_of(model).keys() - state.keys()) | (state.keys() - ours.keys()) | other)
    return f"{len(wrong)} missing, unknown or of another shape, such as {wrong[0]!r}" if wrong else ""


def check_kinds(model: nn.Module, state: Mapping[str, Tensor], name: str) -> None:
    """Whether weights are real numbers where the network's are: codes of a quantised file would be taken for weights.

    Tensors are compared by shape and not by name, since timm and transformers may rename them.

    Args:
        model: The architecture.
        state: Names and tensors.
        name: The name of the file that they are from, for the message.

    Raises:
        AffscoreError: Integers, booleans or complex numbers, of a shape that only real numbers of the network have.
    """
    ours = [value for value in model.state_dict().values() if isinstance(value, Tensor) and value.ndim]
    real, others = ({value.shape for value in ours if value.is_floating_point() == kind} for kind in (True, False))
    for key, value in state.items():
        if not value.is_floating_point() and value.shape in real - others:
            raise AffscoreError(f"{key!r} in {name!r} holds {value.dtype}, not real numbers as the network; undo that")


def check_answer(url: str) -> None:
    """Ask a server whether it has a file.

    Raises:
        OSError: It has not, or does not answer in :data:`SECONDS_TO_ANSWER`.
    """
    urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=SECONDS_TO_ANSWER).close()


def fetch(url: str, what: str, name: str) -> Path:
    """The file behind an address, downloaded to where torchvision looks for it unless it is there.

    Args:
        url: Its address; a hash at the end of the name is checked.
        what: What the file holds, for the message.
        name: MODEL, for the message.

    Raises:
        AffscoreError: It is not there and cannot be downloaded; the message says where to put it.
    """
    file = Path(torch.hub.get_dir()) / "checkpoints" / url.rpartition("/")[2]
    expected = torch.hub.HASH_REGEX.search(file.name)
    if not file.exists():
        advice = f"get {url} elsewhere and put it into {file.parent}, or give it as {name}@FILE"
        with guarding(f"{what} are not on this machine and could not be downloaded", advice):
            file.parent.mkdir(parents=True, exist_ok=True)
            check_answer(url)
            torch.hub.download_url_to_file(url, str(file), expected.group(1) if expected else None)
    return file


def from_hub(repository: str, filenames: list[str], name: str, extra: str, advice: str) -> Path:
    """The first of these files that a repository of the Hugging Face hub has, on this machine.

    The cache is asked for all of them before the hub is asked for any, so that what is there is found
    without a network. (Where the cache is, $HF_HOME or $HF_HUB_CACHE says.)

    Args:
        repository: As in ``google/vit-base-patch16-224``.
        filenames: Names of files, the preferred first.
        name: MODEL, for messages.
        extra: The extra of affscore that brings the hub's client.
        advice: What to do where none can be had.

    Raises:
        AffscoreError: The repository has none of them, or the hub does not answer.
    """
    client = needs("huggingface_hub", name, extra)
    what = f"{name}: {filenames[0]} of {repository!r} is not on this machine and could not be downloaded"
    with guarding(what, advice):
        for filename in filenames:
            if isinstance(found := client.try_to_load_from_cache(repository, filename), str):
                return Path(found)
        for filename in filenames:
            with suppress(client.utils.EntryNotFoundError):
                # one question without repetition tells whether there is a hub, and whether it has the file
                client.get_hf_file_metadata(client.hf_hub_url(repository, filename), timeout=SECONDS_TO_ANSWER)
                return Path(client.hf_hub_download(repository, filename))
        raise FileNotFoundError("the repository has no such file")


def cached_repositories() -> list[str]:
    """The names of the repositories of networks that the cache on this machine holds."""
    from huggingface_hub import constants

    folders = sorted(Path(constants.HF_HUB_CACHE).glob("models--*"))
    return [folder.name.removeprefix("models--").replace("--", "/") for folder in folders]
