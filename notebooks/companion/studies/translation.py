"""Sentences and their translations as tokens: French numbers, or the files of WMT14."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import torch
from torch import Tensor

from affscore import AffscoreError
from affscore.errors import guarded
from affscore.models.naming import needs

PAD, BEGIN, END = 0, 1, 2
"""As in translation_networks.py."""

SMALL = (
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix+sept dix+huit "
    "dix+neuf"
).split()
TENS = {20: "vingt", 30: "trente", 40: "quarante", 50: "cinquante", 60: "soixante", 80: "quatre vingt"}

NUMBERS = 10_000
"""From 0 on; most of them are held out."""

WORDS = sorted({word for text in [*SMALL, *TENS.values(), "et cent mille"] for word in text.replace("+", " ").split()})
TOKENS = {word: number for number, word in enumerate([*WORDS, *"0123456789"], start=END + 1)}

IGNORED = -100
"""The label of what does not count."""


def in_french(number: int) -> str:
    """A number below 10,000 in French words, without hyphens and the s of the plural.

    >>> [in_french(number) for number in (71, 80, 97, 200, 1981)]
    ['soixante et onze', 'quatre vingt', 'quatre vingt dix sept', 'deux cent', 'mille neuf cent quatre vingt un']
    """
    if number < 20:
        return SMALL[number].replace("+", " ")
    if number < 100:
        ten = max(one for one in TENS if one <= number)
        joint = " et " if number - ten in (1, 11) and ten < 80 else " "
        return TENS[ten] + (joint + in_french(number - ten) if number > ten else "")
    size, word = (1000, "mille") if number >= 1000 else (100, "cent")
    many, rest = divmod(number, size)
    return " ".join([*([in_french(many)] if many > 1 else []), word, *([in_french(rest)] if rest else [])])


def numbers(count: int, held_out: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Numbers in French words, to be written in digits: inputs and labels of training, and of held-out numbers.

    Args:
        count: How many numbers are for training.
        held_out: And how many others for testing.
    """
    drawn = torch.randperm(NUMBERS, generator=torch.Generator().manual_seed(0))[: count + held_out].tolist()
    sentences = [[TOKENS[word] for word in in_french(number).split()] for number in drawn]
    translations = [[TOKENS[digit] for digit in str(number)] for number in drawn]
    inputs, labels = as_tensors(sentences, translations, 12, 5)
    return inputs[:count], labels[:count], inputs[count:], labels[count:]


def wmt14(folder: Path, size: int = 37_000, length: int = 64) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """English sentences and their German translations from files, in tokens of a byte-pair encoding of both.

    Hardly any sentence is translated word for word as it was by others. So each token of the test part is a sample of
    its own (:func:`one_label_each`), and accuracy is the share of tokens that are right after the true ones before.

    Args:
        folder: With ``train.en``, ``train.de``, ``test.en`` and ``test.de``: a sentence a line.
        size: Of the vocabulary.
        length: Of the tensors. Pairs in which either has as many tokens, or none, are left out. In 32 bits the 4.5
            million pairs of WMT14 take 3 GB.

    Raises:
        AffscoreError: A file is missing or is not UTF-8, two do not have the same number of lines, no pair is left, or
            the package tokenizers is not installed.
    """
    package = needs("tokenizers", "WMT14", "transformers")
    pairs = {}
    for part in ("train", "test"):
        english, german = (_lines(folder / f"{part}.{language}") for language in ("en", "de"))
        if len(english) != len(german):
            raise AffscoreError(
                f"{part}.en and {part}.de must have a sentence a line, and as many as each other; they have "
                f"{len(english)} and {len(german)} lines"
            )
        pairs[part] = english, german
    encoding, alphabet = package.Tokenizer(package.models.BPE()), package.pre_tokenizers.ByteLevel.alphabet()
    encoding.pre_tokenizer = package.pre_tokenizers.ByteLevel()
    trainer = package.trainers.BpeTrainer(
        vocab_size=size, special_tokens=["<pad>", "<begin>", "<end>"], initial_alphabet=alphabet, show_progress=False
    )
    encoding.train_from_iterator(chain(*pairs["train"]), trainer)

    def encoded(part: str) -> tuple[Tensor, Tensor]:
        found = []
        for some in zip(*(batched(lines) for lines in pairs[part]), strict=True):
            both = ([one.ids for one in encoding.encode_batch(lines)] for lines in some)
            fitting = [pair for pair in zip(*both, strict=True) if all(pair) and max(map(len, pair)) < length]
            if fitting:
                sentences, translations = zip(*fitting, strict=True)
                found.append([one.int() for one in as_tensors(sentences, translations, length, length)])
        if not found:
            raise AffscoreError(f"no pair of {part}.en and {part}.de has 1 to {length - 1} tokens in both languages")
        inputs, labels = (torch.cat(list(parts)) for parts in zip(*found, strict=True))
        return inputs, labels

    return *encoded("train"), *one_label_each(*encoded("test"))


def _lines(file: Path) -> list[str]:
    """The lines of a text. Other line separators of Unicode, and carriage returns, may stand within a sentence."""
    if not file.is_file():
        raise AffscoreError(f"{file.name!r} is missing in {file.parent.name!r}, which must hold WMT14 as text files")
    text = guarded(lambda: file.read_bytes().decode(), f"{file.name!r} cannot be read", "it must be a text in UTF-8")
    return text.removesuffix("\n").split("\n")


def batched(lines: Sequence[str], size: int = 10_000) -> Iterator[Sequence[str]]:
    """Some after the other: what a tokeniser returns takes much memory.

    >>> list(batched("abcde", 2))
    ['ab', 'cd', 'e']
    """
    return (lines[first : first + size] for first in range(0, len(lines), size))


def one_label_each(inputs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Each sample as often as it has labels that count, and of these one each time.

    >>> inputs, labels = one_label_each(torch.tensor([[7], [8]]), torch.tensor([[4, 5], [6, IGNORED]]))
    >>> inputs.tolist(), labels.tolist()
    ([[7], [7], [8]], [[4, -100], [-100, 5], [6, -100]])
    """
    row, place = (labels != IGNORED).nonzero().T
    alone = torch.full_like(labels[row], IGNORED)
    alone[torch.arange(len(row)), place] = labels[row, place]
    return inputs[row], alone


def as_tensors(
    sentences: Iterable[Sequence[int]], translations: Iterable[Sequence[int]], source: int, target: int
) -> tuple[Tensor, Tensor]:
    """Inputs (N, source + target) of a translator, and labels (N, target).

    >>> inputs, labels = as_tensors([[7, 8]], [[9]], 3, 2)
    >>> inputs.tolist(), labels.tolist()
    ([[7, 8, 0, 1, 9]], [[9, 2]])
    """
    inputs, labels = [], []
    for sentence, translation in zip(sentences, translations, strict=True):
        known, named = [BEGIN, *translation], [*translation, END]
        rest = target - len(known)
        inputs.append([*sentence, *[PAD] * (source - len(sentence)), *known, *[PAD] * rest])
        labels.append([*named, *[IGNORED] * rest])
    return torch.tensor(inputs), torch.tensor(labels)
