"""Tensors and arrays that do not keep their numbers one by one: refused as data, and taken apart for a fingerprint."""

import hashlib

import numpy as np
import pytest
import torch
from torch import nn
from torch.masked import masked_tensor
from torch.utils.data import Dataset

from affscore import AffscoreError, affinity_score, signature
from affscore.models.card import fingerprint
from affscore.transport.samples import kind_of

pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

KINDS = {
    "coo": lambda x: x.to_sparse(), "hybrid": lambda x: x.to_sparse(1), "csr": lambda x: x.to_sparse_csr(),
    "csc": lambda x: x.to_sparse_csc(), "bsr": lambda x: x.to_sparse_bsr((2, 2)),
    "bsc": lambda x: x.to_sparse_bsc((2, 2)), "mkldnn": lambda x: x.to_mkldnn(),
    "nested": lambda x: torch.nested.nested_tensor([x[0], x[1, :2]]),
    "jagged": lambda x: torch.nested.nested_tensor([x[0], x[1, :2]], layout=torch.jagged),
    "quantised": lambda x: torch.quantize_per_tensor(x, 0.1, 0, torch.qint8),
    "of 4 bits": lambda x: torch.quantize_per_tensor(x, 0.1, 0, torch.quint4x2),
    "by channel": lambda x: torch.quantize_per_channel(x, torch.full((4,), 0.1), torch.zeros(4), 0, torch.qint8),
    "masked": lambda x: masked_tensor(x, torch.ones(4, 4, dtype=torch.bool)),
    "meta": lambda x: x.to("meta"),
    "complex": lambda x: torch.complex(x, x), "conjugate": lambda x: torch.complex(x, x).conj(),
    "negative": lambda x: torch.complex(x, x).conj().imag, "float8": lambda x: x.to(torch.float8_e4m3fn),
    "plain": lambda x: x,
}  # fmt: skip
WORDS = {
    "masked": "masked", "meta": "meta", "nested": "nested", "jagged": "nested", "quantised": "quantised",
    "of 4 bits": "quantised", "by channel": "quantised",
    **dict.fromkeys(("coo", "hybrid", "csr", "csc", "bsr", "bsc", "mkldnn"), "sparse"),
}  # fmt: skip


def numbers(one=1.0):
    """A matrix (4, 4), of which one entry is chosen."""
    matrix = torch.diag(torch.tensor([1.0, 0.5, 0.25, 0.75]))
    matrix[1, 1] = one
    return matrix


class Holding(nn.Module):
    def __init__(self, tensor):
        super().__init__()
        self.layer = nn.Linear(4, 8)
        self.register_buffer("held", tensor)
        nn.init.normal_(self.layer.weight, generator=torch.Generator().manual_seed(0))
        nn.init.zeros_(self.layer.bias)

    def forward(self, x):
        return torch.relu(self.layer(x))


@pytest.mark.parametrize("kind", KINDS)
def test_a_fingerprint_is_of_the_numbers(kind):
    same, again, other = (fingerprint(Holding(KINDS[kind](numbers(one)))) for one in (1.0, 1.0, 0.5))
    assert same == again
    assert (same == other) == (kind == "meta")
    larger = nn.functional.pad(numbers(), (0, 2, 0, 2))
    if kind not in ("by channel", "masked", "nested", "jagged"):  # whose makers here are for four rows
        assert fingerprint(Holding(KINDS[kind](larger))) != same


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16, torch.int64, torch.bool])
def test_fingerprints_of_plain_networks_stay(kind):
    """Results that were stored know their networks by these."""
    network = Holding(torch.arange(6.0).reshape(2, 3).T.to(kind))
    digest = hashlib.sha256(repr(network).encode())
    for name, value in sorted(network.state_dict().items()):
        digest.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
        digest.update(bytes(value.contiguous().view(torch.uint8).numpy()))
    assert fingerprint(network) == digest.hexdigest()[:16]


@pytest.mark.parametrize("kind", WORDS)
def test_no_score_is_computed_of_one(kind):
    odd = KINDS[kind](numbers())
    assert kind_of(odd) == WORDS[kind]
    for given_to in (lambda: affinity_score(odd, odd), lambda: affinity_score(numbers(), odd)):
        with pytest.raises(
            AffscoreError, match=rf"[xy] must be plain numbers in memory, got a {WORDS[kind]} tensor; \w"
        ):
            given_to()
    for data in (odd, {"x": odd}, [odd, odd]):
        with pytest.raises(
            AffscoreError, match=rf"the data must be plain numbers in memory, got a {WORDS[kind]} tensor"
        ):
            signature(Holding(None), data, n=4)


MASKED = np.ma.masked_greater(np.random.default_rng(0).standard_normal((32, 4)), 1.5)
NO_NUMBERS = "must be plain numbers in memory, got a masked array; the mask would be lost: drop its rows"


@pytest.mark.parametrize("form", [lambda x: x, list, tuple, lambda x: x.astype(np.float32)])
def test_masked_arrays_have_no_score(form):
    for pair in ((form(MASKED), MASKED.data), (MASKED.data, form(MASKED))):
        with pytest.raises(AffscoreError, match=f"^[xy] {NO_NUMBERS}"):
            affinity_score(*pair)


class Items(Dataset):
    def __len__(self):
        return len(MASKED)

    def __getitem__(self, index):
        return {"x": MASKED[index], "label": 3}


@pytest.mark.parametrize("data", [MASKED, (MASKED,), {"x": MASKED}, list(MASKED), Items()])
def test_masked_arrays_are_no_data(data):
    with pytest.raises(AffscoreError, match=f"^the data {NO_NUMBERS}"):
        signature(Holding(None).double(), data, n=32)
