"""Samples in a file of NumPy: images and numbers, labels, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from affscore import AffscoreError, load_data, signature
from affscore.models import Preprocessing, TextPreprocessing
from affscore.models.datasets import identity_of_data

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
        ({"a": TABLE, "b": TABLE}, r"holds 2 arrays \(a, b\); call the one with the samples x, data or images"),
        ({}, "holds 0 arrays"),
        ({"x": TABLE[0]}, r"must hold numbers \(N, ...\), .* and holds float64 of shape \(7,\)"),
        ({"x": TABLE[:0]}, r"and holds float64 of shape \(0, 7\)"),
        ({"x": TABLE.astype(str)}, "and holds <U"),
        ({"x": TABLE * 1j}, "and holds complex128"),
        ({"x": TABLE.astype(object)}, r"no arrays that can be read safely \(ValueError\); write"),
        ({"x": TABLE, "y": np.array([None] * 40)}, r"\(ValueError\); write it with numpy.savez"),
        ({"x": TABLE, "y": np.arange(39)}, "the labels in 'a.npz' must be 40 integers from 0 to 99999, got int64"),
        ({"x": TABLE, "y": np.arange(40) / 2}, "must be 40 integers"),
        ({"x": TABLE, "y": np.arange(40) - 1}, "must be 40 integers"),
        ({"x": TABLE, "y": np.full(40, 2**62)}, "must be 40 integers"),
    ],
)
def test_what_is_refused(saved, arrays, words):
    with pytest.raises(AffscoreError, match=words) as caught:
        load_data(saved(**arrays))
    assert "\n" not in str(caught.value)


def test_a_file_that_was_cut_off(saved):
    spec = saved(x=PIXELS, y=np.arange(6))
    file = Path(spec.removeprefix("npz:"))
    file.write_bytes(file.read_bytes()[:200])
    with pytest.raises(AffscoreError, match=r"'a.npz' .*no arrays that can be read safely"):
        load_data(spec)
