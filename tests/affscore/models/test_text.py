"""Texts and tokenizers; the tokenizers are made here, by the packages that the networks' own come from."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from affscore.errors import AffscoreError
from affscore.models import Preprocessing, TextPreprocessing
from affscore.models.preprocessing import check_token_ids

WORDS = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "the": 3, "cat": 4, "sat": 5}


@pytest.fixture(scope="module")
def tokenizer():
    """A tokenizer of words that adds [CLS] and [SEP], cuts after four tokens and pads to eight."""
    tokenizers = pytest.importorskip("tokenizers")
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(WORDS, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.post_processor = tokenizers.processors.TemplateProcessing("[CLS] $A [SEP]", None, [("[CLS]", 1), ("[SEP]", 2)])
    made.enable_truncation(4)
    made.enable_padding(length=8)
    return made


TEXT = "the cat sat the cat sat the dog"
IDS = [3, 4, 5, 3, 4, 5, 3, 0]


def test_a_tokenizer_gives_all_tokens_and_no_special_ones(tokenizer, tmp_path):
    assert TextPreprocessing(tokenizer)(TEXT).tolist() == IDS
    assert len(tokenizer.encode(TEXT).ids) == 8
    assert tokenizer.encode(TEXT).ids != IDS  # it is as it was: it cuts, and pads
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    for path in (tmp_path, tmp_path / "tokenizer.json", str(tmp_path)):
        assert TextPreprocessing(path)(TEXT).tolist() == IDS


def test_a_tokenizer_of_transformers(tokenizer, tmp_path):
    transformers = pytest.importorskip("transformers")
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]", model_max_length=4)
    assert TextPreprocessing(fast)(TEXT).tolist() == IDS
    fast.save_pretrained(tmp_path)
    assert TextPreprocessing(tmp_path)(TEXT).tolist() == IDS


class WithEncode:
    def encode(self, text):
        return [WORDS.get(word, 0) for word in text.split()]


@pytest.mark.parametrize(
    "function",
    [
        WithEncode(),
        WithEncode().encode,
        lambda text: {"input_ids": WithEncode().encode(text), "attention_mask": None},
        lambda text: torch.tensor(WithEncode().encode(text)),
        lambda text: np.array(WithEncode().encode(text), dtype=np.uint16),
    ],
)
def test_any_function_may_be_a_tokenizer(function):
    ids = TextPreprocessing(function)(TEXT)
    assert (ids.tolist(), ids.dtype) == (IDS, torch.int64)
    assert TextPreprocessing(function)("").tolist() == []


def broken(text):
    raise KeyError(text)


@pytest.mark.parametrize(
    ("tokenizer", "message"),
    [
        (None, "a text needs the tokenizer of the network, and none is known; write text:FILE@TOKENIZER"),
        (broken, "the tokenizer fails: KeyError: 'a'"),
        (lambda text: ["a"], "must turn a text into a list of integers, got <U1"),
        (lambda text: [0.5], "got float64"),
        (lambda text: [[1, 2], [3]], "the tokenizer fails"),
        (lambda text: [[1, 2]], r"got int64 of shape \(1, 2\)"),
        (lambda text: None, "got object"),
        (lambda text: sys.exit(3), "the tokenizer fails: SystemExit: 3"),
        ("nowhere/tokenizer.json", "file not found: 'nowhere/tokenizer.json'"),
        (str(Path(__file__).parent), "file not found: .*tokenizer.json'; give a tokenizer.json"),
    ],
)
def test_what_is_no_tokenizer(tokenizer, message):
    with pytest.raises(AffscoreError, match=message):
        TextPreprocessing(tokenizer)("a")


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"model": 3}', "\x00", json.dumps({"version": "1.0"})])
def test_a_file_that_is_no_tokenizer(tmp_path, content):
    pytest.importorskip("tokenizers")
    (tmp_path / "tokenizer.json").write_text(content)
    with pytest.raises(AffscoreError, match=r"'tokenizer.json' is not a tokenizer.json: "):
        TextPreprocessing(tmp_path)("a")


def test_metadata_hold_no_path(tokenizer, tmp_path):
    words = TextPreprocessing(tmp_path / "deep" / "gpt", 16, 100, 32)
    assert words.as_dict() == {"tokenizer": "gpt", "length": 16, "vocabulary": 100, "maximum": 32}
    assert TextPreprocessing(str(tmp_path / "tokenizer.json")).as_dict()["tokenizer"] == "tokenizer.json"
    assert TextPreprocessing(tokenizer).as_dict()["tokenizer"] == "Tokenizer"
    assert TextPreprocessing(broken).as_dict()["tokenizer"] == "broken"
    for made in (words, TextPreprocessing(tokenizer), TextPreprocessing(), Preprocessing()):
        assert json.loads(json.dumps(made.as_dict())) == made.as_dict()


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (torch.zeros(2, 3), "token ids, integers .* got torch.float32"),
        (torch.zeros(2, 3, dtype=torch.bool), "got torch.bool"),
        (torch.zeros(3, dtype=torch.int64), r"got torch.int64 of shape \(3,\)"),
        (torch.zeros(2, 0, dtype=torch.int64), r"of shape \(2, 0\)"),
        (torch.zeros(2, 9, dtype=torch.int64), "takes at most 8 tokens, these windows have 9"),
        (torch.tensor([[0, 10]]), "from 0 to 9; these go from 0 to 10"),
        (torch.tensor([[-100, 3]], dtype=torch.int32), "these go from -100 to 3"),
    ],
)
def test_what_are_no_token_ids(ids, message):
    with pytest.raises(AffscoreError, match=message):
        check_token_ids(ids, TextPreprocessing(vocabulary=10, maximum=8))


def test_a_tokenizer_that_panics(tokenizer, tmp_path):
    """The panics of packages that are written in Rust are no Exception."""
    settings = json.loads(tokenizer.to_str())
    settings["pre_tokenizer"] = {"type": "FixedLength", "length": 0}
    (tmp_path / "tokenizer.json").write_text(json.dumps(settings))
    with pytest.raises(AffscoreError, match="the tokenizer fails: PanicException: chunk size must be non-zero"):
        TextPreprocessing(tmp_path)(TEXT)


@pytest.mark.parametrize("value", [0, -3, 1.5, "a"])
def test_a_number_that_cannot_be(value):
    for name in ("length", "vocabulary", "maximum"):
        with pytest.raises(AffscoreError, match=f"{name} must be an integer of at least 1, got"):
            TextPreprocessing(**{name: value})
