"""First paragraphs of docstrings for encoders of text: as a tokenizer makes them, with its marks and with padding."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from affscore import load_model, multiverse
from affscore.models import card_of
from affscore.models.naming import needs
from affscore.models.sources import identity_of_model
from affscore.models.text import TextPreprocessing, tokenizer_file
from affscore.network.multiverse import REDUCTIONS
from affscore.network.parquet import write_parquet
from affscore.transport.covariance import CovarianceName
from companion.docstrings import all_docstrings, fingerprint_of_docstrings, is_held_out
from companion.experiments import scores_by_position
from companion.studies import study_of

SHORTEST = 40
"""Characters of a sentence, at least."""

COVARIANCES: tuple[CovarianceName, ...] = ("ledoit-wolf", "empirical")


def sentences() -> list[str]:
    """The first paragraph of each docstring, in one line and each once, those that are held out first."""
    texts = sorted(all_docstrings(), key=is_held_out, reverse=True)
    first = (" ".join(re.split(r"\n\s*\n", text)[0].split()) for text in texts)
    return list(dict.fromkeys(text for text in first if len(text) >= SHORTEST))


def encoded(folder: Path, count: int, length: int) -> dict[str, Tensor]:
    """So many of :func:`sentences` as token ids (N, length) with marks at both ends, cut or padded, and their mask.

    Args:
        folder: Of the network, with a tokenizer.json.
        count: How many sentences.
        length: Tokens of each.
    """
    package = needs("tokenizers", "reading a tokenizer", "transformers")
    tokenizer = package.Tokenizer.from_file(str(tokenizer_file(str(folder))))
    padding = tokenizer.padding or {"pad_id": 0, "pad_token": "[PAD]"}
    tokenizer.enable_truncation(length)
    tokenizer.enable_padding(length=length, pad_id=padding["pad_id"], pad_token=padding["pad_token"])
    found = tokenizer.encode_batch(sentences()[:count])
    return {
        "input_ids": torch.tensor([one.ids for one in found]),
        "attention_mask": torch.tensor([one.attention_mask for one in found]),
    }


def of_sentences(models: Sequence[str], n: int, images: int, length: int) -> pd.DataFrame:
    """Networks ``hf:FOLDER`` on sentences, under every specification: as a study."""
    return study_of(
        multiverse(
            model, encoded(_folder(model), images, length), n=n, images=images, reductions=REDUCTIONS,
            data_name="docstrings", progress=False,
        )
        for model in models
    ).assign(text=fingerprint_of_docstrings())  # fmt: skip


def at_positions(
    folder: Path, model: str, data: str, at: Sequence[int], n: int, length: int = 0, **about: Any
) -> pd.DataFrame:
    """The scores of a network at single positions, under both covariances, unless they are there.

    Args:
        folder: Where they are kept.
        model: MODEL.
        data: SPEC; of sentences what they are called.
        at: Which positions.
        n: How many windows, or sentences.
        length: Of sentences; 0 for windows of running text.
        about: Further columns.
    """
    asked = {"data": data, "text": fingerprint_of_docstrings(), "at": list(at), "n": n, "length": length, **about}
    job = identity_of_model(model) | asked
    key = hashlib.sha256(json.dumps(job, sort_keys=True).encode()).hexdigest()[:16]
    if (file := folder / f"{key}.parquet").is_file():
        return pd.read_parquet(file)
    network = load_model(model)
    samples: Any = encoded(_folder(model), n, length) if length else data
    tables = [
        scores_by_position(network, samples, at, n, covariance=covariance).assign(covariance=covariance)
        for covariance in COVARIANCES
    ]
    card = card_of(network)
    longest = length or (card.preprocessing.window if isinstance(card.preprocessing, TextPreprocessing) else 0)
    found = pd.concat(tables, ignore_index=True).assign(model=card.name, length=longest, dataset=data, **about)
    folder.mkdir(parents=True, exist_ok=True)
    write_parquet(found, {"job": job}, [], file)
    return found


def _folder(model: str) -> Path:
    return Path(model.removeprefix("hf:").partition("@")[0])
