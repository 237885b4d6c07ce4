"""Malformed texts, token ids and tokenizers through the public interface: every case ends in a usable sentence."""

import io

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from safetensors.torch import save as safetensors_bytes

from tests.zoo.malformed import damaged, outcome, text_network, twenty

pytestmark = pytest.mark.filterwarnings("ignore")


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def pt(content, **options):
    buffer = io.BytesIO()
    torch.save(content, buffer, **options)
    return buffer.getvalue()


IDS = torch.arange(24).view(6, 4)
TOKENS = {
    "ids.npy": npy(IDS.numpy()),
    "ids.pt": pt(IDS),
    "old.pt": pt(IDS, _use_new_zipfile_serialization=False),
    "ids.safetensors": safetensors_bytes({"input_ids": IDS}),
}


@given(damaged(TOKENS))
@example(("ids.pt", pt({"input_ids": [1, 2]})))
@example(("ids.pt", pt(IDS.to_sparse())))
@example(("ids.pt", pt(IDS.to(torch.float8_e5m2))))
@example(("ids.pt", pt(torch.zeros(2, 2, dtype=torch.complex64))))
@settings(max_examples=60)
def test_damaged_files_of_token_ids(tmp_path_factory, file):
    name, content = file
    path = tmp_path_factory.mktemp("tokens") / name
    path.write_bytes(content)
    found = outcome(text_network(), f"tokens:{path}")
    assert not isinstance(found, str) or name in found or "vocabulary" in found or "at most" in found


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
@twenty
def test_files_that_may_be_texts(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("texts") / "book.txt"
    path.write_bytes(content)
    found = outcome(text_network(), f"text:{path}")
    assert not isinstance(found, str) or "book.txt" in found or "at least 2" in found


@pytest.fixture(scope="module")
def tokenizer():
    tokenizers = pytest.importorskip("tokenizers")
    made = tokenizers.Tokenizer(tokenizers.models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")]))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return {"tokenizer.json": made.to_str(pretty=True).encode()}


@given(st.data())
@settings(max_examples=60)
def test_damaged_tokenizers(tmp_path_factory, tokenizer, data):
    folder = tmp_path_factory.mktemp("tokenizers")
    _, content = data.draw(damaged(tokenizer))
    (folder / "tokenizer.json").write_bytes(content)
    (folder / "book.txt").write_text("ab ba ab " * 10)
    found = outcome(text_network(), f"text:{folder / 'book.txt'}@{folder}")
    assert not isinstance(found, str) or "token" in found
