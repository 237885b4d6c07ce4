"""Samples in a file of NumPy, texts, and token ids."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save_file as save_numbers
from safetensors.torch import save_file
from torch import nn

from affscore import AffscoreError, load_data, signature
from affscore.models import Preprocessing, TextPreprocessing
from affscore.models.data import identity_of_data
from affscore.models.data.texts_and_arrays import TextFile

RANDOM = np.random.default_rng(0)
PIXELS = RANDOM.integers(0, 256, (6, 5, 4, 3), dtype=np.uint8)
TABLE = RANDOM.standard_normal((40, 7))
PLAIN = Preprocessing(size=4, resize=4, mean=(0.0,) * 3, std=(1.0,) * 3)


@pytest.fixture
def saved(tmp_path):
    def save(how=np.savez, **arrays):
        how(tmp_path / "a.npz", **arrays)
        return f"npz:{tmp_path / 'a.npz'}"

    return save


@pytest.mark.parametrize(
    "array",
    [PIXELS, np.moveaxis(PIXELS, 3, 1), PIXELS / 255, (PIXELS / 255).astype(">f4"), PIXELS[..., :1], PIXELS[..., 0]],
)
def test_images_of_every_layout(saved, array):
    data = load_data(saved(images=array))
    channels = 1 if 3 not in array.shape else 3
    expected = torch.from_numpy(np.moveaxis(PIXELS, 3, 1)[:, :channels].copy()).float() / 255
    assert (data.name, len(data), data.items) == ("npz:a.npz", 6, "images")
    torch.testing.assert_close(torch.stack([*data]), expected)
    assert load_data(saved(images=array), PLAIN)[5].shape == (3, 4, 4)


@pytest.mark.parametrize("array", [TABLE, TABLE.astype("f4"), TABLE.astype("f2"), (10 * TABLE).astype(int), TABLE > 0])
@pytest.mark.parametrize("how", [np.savez, np.savez_compressed])
def test_numbers_are_taken_as_they_are(saved, array, how):
    data = load_data(saved(how, table=array))
    assert (data.items, len(data)) == ("samples", 40)
    torch.testing.assert_close(torch.stack([*data]).numpy(), array.astype("f8"), check_dtype=False)
    assert data.prepared_for(PLAIN).preprocessing is None
    with pytest.raises(AffscoreError, match="holds samples, and the network expects token ids; give tokens:FILE"):
        data.prepared_for(TextPreprocessing())


def test_labels_are_the_numbers_of_the_outputs(saved):
    for labels in (np.array([2, 0, 0, 4, 2, 1]), np.array([[2], [0], [0], [4], [2], [1]], dtype=np.uint8)):
        data = load_data(saved(x=PIXELS, y=labels))
        assert (data.labels, data.classes) == (list("200421"), list("01234"))
        assert load_data(saved(data=TABLE[:6], labels=labels)).classes == list("01234")
    most = load_data(saved(x=PIXELS, y=np.array([255, 0, 0, 4, 2, 1], dtype=np.uint8)))
    assert most.classes == list(map(str, range(256)))


@pytest.mark.parametrize("arrays", [{"x": TABLE.astype("f4"), "y": np.arange(40) % 3}, {"images": PIXELS}])
def test_a_signature_and_its_identity(saved, arrays):
    samples = next(iter(arrays.values()))
    network = nn.Sequential(nn.Flatten(), nn.Linear(7 if samples.ndim == 2 else 48, 3), nn.ReLU())
    if samples.ndim == 4:
        network.preprocessing = PLAIN
    result = signature(network, saved(**arrays), n=6, images=6, criteria=False)
    assert (result.metadata["images"], result.metadata["items"]) == (6, "samples" if samples.ndim == 2 else "images")
    before = identity_of_data(saved(**arrays), 6, 6, 0)
    assert (before["data"], before["of"], before["images"]) == ("npz:a.npz", len(samples), 6)
    assert identity_of_data(saved(**{**arrays, "more": samples}), 6, 6, 0)["content"] != before["content"]


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"a": TABLE, "b": TABLE}, "holds 2 arrays: call the one with the samples x"),
        ({}, "holds 0 arrays"),
        ({"x": TABLE[0]}, r"must hold numbers \(N, ...\) of N samples, and holds float64 of shape \(7,\)"),
        ({"x": TABLE[:0]}, r"and holds float64 of shape \(0, 7\)"),
        ({"x": TABLE.astype(str)}, "and holds <U"),
        ({"x": TABLE * 1j}, "and holds complex128"),
        ({"x": TABLE.astype(object)}, r"no arrays that can be read safely \(ValueError: .*\); write"),
        ({"x": TABLE, "y": np.array([None] * 40)}, r"\(ValueError: .*\); write it with numpy.savez"),
        ({"x": TABLE, "y": np.arange(39)}, "'a.npz' needs 40 labels, integers 0 to 99999, got int64"),
        ({"x": TABLE, "y": np.arange(40) / 2}, "needs 40 labels"),
        ({"x": TABLE, "y": np.arange(40) - 1}, "needs 40 labels"),
        ({"x": TABLE, "y": np.full(40, 2**62)}, "needs 40 labels"),
    ],
)
def test_what_is_refused(saved, arrays, words):
    with pytest.raises(AffscoreError, match=words) as caught:
        load_data(saved(**arrays))
    assert "\n" not in str(caught.value)


LETTERS = TextPreprocessing(lambda text: [ord(letter) for letter in text], length=4)
IDS = np.arange(24).reshape(6, 4)


def test_a_text_is_cut_into_windows_that_do_not_overlap(tmp_path):
    (tmp_path / "book.txt").write_text("abcdefghij", encoding="utf-8")
    data = load_data(f"text:{tmp_path / 'book.txt'}", LETTERS)
    assert (data.name, len(data), data.preprocessing.window) == ("text:book.txt", 2, 4)
    assert ["".join(map(chr, window.tolist())) for window in data] == ["abcd", "efgh"]
    assert data.notes == ["dropped 2 tokens at the end of text:book.txt, too few for a window of 4"]
    exact = load_data(f"text:{tmp_path / 'book.txt'}", TextPreprocessing(LETTERS.tokenizer, length=5))
    assert (len(exact), exact.notes) == (2, [])
    plain = load_data(f"text:{tmp_path / 'book.txt'}")
    with pytest.raises(AffscoreError, match=r"how many windows 'text:book.txt' has depends on the network"):
        len(plain)
    with pytest.raises(AffscoreError, match="a text needs the tokenizer of the network"):
        plain[0]


@given(st.text(min_size=1, max_size=60), st.integers(1, 20))
def test_windows_put_together_are_the_text(text, length):
    words = TextPreprocessing(LETTERS.tokenizer, length)
    if len(text) < length:
        with pytest.raises(AffscoreError, match=f"has {len(text)} tokens, fewer than one window of {length}"):
            TextFile("text:x", None, text).prepared_for(words)
        return
    data = TextFile("text:x", None, text).prepared_for(words)
    assert "".join(map(chr, data.samples.flatten().tolist())) == text[: len(text) // length * length]


def test_the_tokenizer_of_the_spec_comes_first(tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0, "cat": 1}, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    (tmp_path / "a@b").mkdir()
    made.save(str(tmp_path / "a@b" / "words.json"))
    (tmp_path / "a@b" / "my@book.txt").write_text("cat dog dog cat cat cat cat cat")
    book = tmp_path / "a@b" / "my@book.txt"
    data = load_data(f"text:{book}@{tmp_path / 'a@b' / 'words.json'}", LETTERS)
    assert (data.name, data.samples.tolist()) == ("text:my@book.txt", [[1, 0, 0, 1], [1, 1, 1, 1]])
    assert data.preprocessing.as_dict()["tokenizer"] == "words.json"
    assert load_data(f"text:{book}@{tmp_path / 'a@b' / 'words.json'}").hashed == [book, tmp_path / "a@b" / "words.json"]
    assert load_data(f"text:{book}", LETTERS)[0].tolist() == [99, 97, 116, 32]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the text 'text:book.txt' has 0 tokens, fewer than one window of 4"),
        (b"caf\xe9", r"'book.txt' is not a text in UTF-8 \(UnicodeDecodeError: .* position 3: .*\)"),
    ],
)
def test_what_is_no_text(tmp_path, content, message):
    (tmp_path / "book.txt").write_bytes(content)
    with pytest.raises(AffscoreError, match=message):
        load_data(f"text:{tmp_path / 'book.txt'}", LETTERS)


def test_a_mark_at_the_beginning_and_windows_line_ends_are_no_text(tmp_path):
    (tmp_path / "book.txt").write_bytes(b"\xef\xbb\xbfab\r\nc")
    assert load_data(f"text:{tmp_path / 'book.txt'}", LETTERS)[0].tolist() == [97, 98, 10, 99]


@pytest.mark.parametrize("kind", ["text", "tokens"])
@pytest.mark.parametrize(
    ("place", "message"),
    [("", "{}: needs a file, as in {}:path/to/file"), ("{}/no", "file not found: '.*no'"), ("{}", "there is a folder")],
)
def test_files_that_are_not_there(tmp_path, kind, place, message):
    with pytest.raises(AffscoreError, match=message.format(kind, kind)):
        load_data(f"{kind}:{place.format(tmp_path)}")


def save(folder, kind, array):
    file = folder / f"ids.{kind}"
    if kind == "npy":
        np.save(file, array)
    elif kind == "safetensors":
        save_numbers({"input_ids": array.copy()}, file)  # that of PyTorch knows no uint16 in older versions
    else:
        torch.save(torch.from_numpy(array.copy()), file)
    return file


@pytest.mark.parametrize("kind", ["npy", "safetensors", "pt"])
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8, np.uint16])
def test_token_ids_from_a_file(tmp_path, kind, dtype):
    data = load_data(f"tokens:{save(tmp_path, kind, IDS.astype(dtype))}")
    assert (data.name, len(data), data.samples.dtype) == (f"tokens:ids.{kind}", 6, torch.int64)
    assert data.samples.tolist() == IDS.tolist()
    prepared = data.prepared_for(TextPreprocessing(vocabulary=24, maximum=4))
    assert prepared[5].tolist() == [20, 21, 22, 23]
    assert prepared.preprocessing.window == 4


@pytest.mark.parametrize("kind", ["safetensors", "pt"])
def test_of_several_arrays_the_ids_are_taken(tmp_path, kind):
    arrays = {"attention_mask": torch.ones(6, 4), "input_ids": torch.from_numpy(IDS)}
    save_arrays = save_file if kind == "safetensors" else torch.save
    save_arrays(arrays, tmp_path / f"ids.{kind}")
    assert load_data(f"tokens:{tmp_path / f'ids.{kind}'}").samples.tolist() == IDS.tolist()
    save_arrays({"a": arrays["input_ids"], "b": arrays["input_ids"].clone()}, tmp_path / f"ids.{kind}")
    with pytest.raises(AffscoreError, match="and holds no input_ids"):
        load_data(f"tokens:{tmp_path / f'ids.{kind}'}")


@pytest.mark.parametrize("kind", ["npy", "safetensors", "pt"])
@pytest.mark.parametrize(
    ("array", "message"),
    [
        (IDS.astype(float), r"integers \(N, length\), got .*float64 of shape \(6, 4\)"),
        (IDS > 3, r"bool of shape \(6, 4\)"),
        (IDS[0], r"of shape \(4,\)"),
        (IDS[:0], r"of shape \(0, 4\)"),
        (IDS[:, :0], r"of shape \(6, 0\)"),
    ],
)
def test_arrays_that_are_no_token_ids(tmp_path, kind, array, message):
    with pytest.raises(AffscoreError, match=message):
        load_data(f"tokens:{save(tmp_path, kind, array)}")


def test_a_pickle_is_not_executed(tmp_path):
    class Harm:
        def __reduce__(self):
            return (tmp_path.joinpath("harmed").touch, ())

    torch.save([Harm()], tmp_path / "ids.pt")
    np.save(tmp_path / "ids.npy", np.array([Harm()], dtype=object), allow_pickle=True)
    for kind in ("pt", "npy"):
        with pytest.raises(AffscoreError, match="does not hold token ids that can be read safely"):
            load_data(f"tokens:{tmp_path / f'ids.{kind}'}")
    assert not (tmp_path / "harmed").exists()
