"""Sentences and their translations as tokens: French numbers, or the files of WMT14."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from affscore import AffscoreError

PAD, BEGIN, END = 0, 1, 2
"""As in examples/translation_networks.py."""

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


def wmt14(folder: Path, size: int = 37_000, length: int = 128) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """English sentences and their German translations from files, in tokens of a byte-pair encoding of both.

    Args:
        folder: With ``train.en``, ``train.de``, ``test.en`` and ``test.de``: a sentence a line.
        size: Of the vocabulary.
        length: Pairs in which either has more tokens than fit are left out.

    Raises:
        AffscoreError: A file is missing, or two do not have the same number of lines.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers  # of affscore[transformers]

    lines = {}
    for part in ("train", "test"):
        for language in ("en", "de"):
            file = folder / f"{part}.{language}"
            if not file.is_file():
                raise AffscoreError(f"{file.name!r} is missing in {folder.name!r}, which must hold WMT14 as text files")
            lines[part, language] = file.read_text(encoding="utf-8").splitlines()
        if len(lines[part, "en"]) != len(lines[part, "de"]):
            raise AffscoreError(f"{part}.en and {part}.de must have as many lines as each other: a sentence each")
    encoding = Tokenizer(models.BPE())
    encoding.pre_tokenizer, encoding.decoder = pre_tokenizers.ByteLevel(), decoders.ByteLevel()
    special = ["<pad>", "<begin>", "<end>"]
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=special, show_progress=False)
    encoding.train_from_iterator([*lines["train", "en"], *lines["train", "de"]], trainer)

    def encoded(part: str) -> tuple[Tensor, Tensor]:
        both = ([one.ids for one in encoding.encode_batch(lines[part, language])] for language in ("en", "de"))
        fitting = [pair for pair in zip(*both, strict=True) if len(pair[0]) <= length and len(pair[1]) < length]
        return as_tensors([one for one, _ in fitting], [other for _, other in fitting], length, length)

    return *encoded("train"), *encoded("test")


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
