import numpy as np
import torch
from sklearn.datasets import load_digits

from affscore.models import digits


def test_the_parts_are_all_the_scans_and_have_none_in_common():
    (train, train_labels), (test, test_labels) = digits("train"), digits("test")
    assert (tuple(train.shape), tuple(test.shape)) == ((1200, 1, 8, 8), (597, 1, 8, 8))
    both = torch.cat([train, test]).reshape(1797, 64).mul(16).numpy().astype(int)
    labelled = np.column_stack([both, torch.cat([train_labels, test_labels]).numpy()])
    bunch = load_digits()
    original = np.column_stack([bunch.data.astype(int), bunch.target])
    # every scan is there as often as in the original, and no scan is in both parts
    assert sorted(map(tuple, labelled)) == sorted(map(tuple, original))
    assert not {tuple(row) for row in labelled[:1200]} & {tuple(row) for row in labelled[1200:]}


def test_the_values_are_grey_values_between_zero_and_one():
    images, labels = digits("train")
    assert images.dtype == torch.float32
    assert labels.dtype == torch.int64
    assert (float(images.min()), float(images.max())) == (0.0, 1.0)


def test_every_digit_has_its_share_in_both_parts():
    counts = [torch.bincount(digits(part)[1], minlength=10) for part in ("train", "test")]
    shares = counts[0] / (counts[0] + counts[1])
    assert (shares - 1200 / 1797).abs().max() < 0.005


def test_the_split_is_the_same_every_time():
    digits.cache_clear()
    first = digits("test")
    digits.cache_clear()
    assert all(torch.equal(a, b) for a, b in zip(first, digits("test"), strict=True))
    # the published accuracy refers to these images: a new version of scikit-learn must not move them
    assert first[1][:12].tolist() == [1, 5, 4, 5, 9, 1, 8, 2, 9, 0, 6, 6]
