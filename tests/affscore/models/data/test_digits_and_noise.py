"""Digits and noise."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from affscore import AffscoreError, load_data
from affscore.models import Preprocessing, TextPreprocessing, digits

SMALL = Preprocessing(size=8, resize=8, mean=(0.0,) * 3, std=(1.0,) * 3)


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


def test_noise_is_fixed_by_the_seed_and_the_index():
    data = load_data("random", SMALL, seed=1)
    for index in (0, 7):
        expected = np.random.default_rng([1, index]).standard_normal((3, 8, 8), dtype=np.float32)
        assert np.array_equal(data[index], expected)
    assert load_data("random")[0].shape == (3, 224, 224)
    with pytest.raises(AffscoreError, match=r"how many images 'random' has .* on what you ask"):
        len(data)


def test_random_token_ids_fill_the_vocabulary():
    data = load_data("random", TextPreprocessing(vocabulary=7, length=5), seed=1)
    for index in range(5):
        assert data[index].tolist() == np.random.default_rng([1, index]).integers(0, 7, 5).tolist()
    assert data[3].dtype == torch.int64
