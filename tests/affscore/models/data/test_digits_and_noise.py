"""Digits, as they are and changed, and noise."""

import numpy as np
import pytest
import torch
from scipy.stats import truncnorm
from sklearn.datasets import load_digits

from affscore import AffscoreError, load_data
from affscore.models import Preprocessing, TextPreprocessing, digits
from affscore.models.data import identity_of_data
from affscore.models.data.images import CHANGES, NOISE, shuffled

SMALL = Preprocessing(size=8, resize=8, mean=(0.0,) * 3, std=(1.0,) * 3)
# shipped results are of these images: a new version of NumPy must not change their mean
CHANGED = {"digits-inverted": 0.6949, "digits-shuffled": 0.3051, "digits-noisy": 0.3459}


def images_of(spec):
    return torch.stack(list(load_data(spec)))


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


@pytest.mark.parametrize("name", CHANGED)
def test_they_are_the_held_out_scans_in_the_same_order_with_the_same_labels(name):
    changed, plain = load_data(name), load_data("digits")
    assert torch.equal(images_of("digits"), digits("test")[0])
    assert CHANGED.keys() == CHANGES.keys() - {"digits"}
    assert (changed.name, len(changed), changed.labels) == (name, 597, plain.labels)
    assert changed.classes == plain.classes
    assert (load_data(f"{name}:3").name, len(load_data(f"{name}:3"))) == (f"{name}:3", 61)
    assert identity_of_data(name, 64, 64, 0)["content"] != identity_of_data("digits", 64, 64, 0)["content"]
    assert torch.equal(torch.stack(list(load_data(name, seed=1))), images_of(name))
    assert float(images_of(name).mean()) == pytest.approx(CHANGED[name], abs=1e-4)


def test_shuffled_digits_have_the_grey_values_of_the_digit_in_one_order_for_all():
    plain, found = digits("test")[0], images_of("digits-shuffled")
    assert torch.equal(found.flatten(1).sort().values, plain.flatten(1).sort().values)
    places = shuffled(torch.arange(64.0).reshape(1, 8, 8)).flatten().long()
    assert sorted(places.tolist()) == list(range(64))
    assert (places != torch.arange(64)).sum() > 56  # hardly a pixel is where it was
    assert torch.equal(found.flatten(1), plain.flatten(1)[:, places])


def test_noise_has_the_stated_deviation_where_nothing_is_cut_and_every_image_its_own():
    plain, found = digits("test")[0], images_of("digits-noisy")
    assert (float(found.min()), float(found.max())) == (0.0, 1.0)
    noise = found - plain
    grey = noise[(plain == 0.5) & (found > 0) & (found < 1)]
    # a normal deviate that is known to lie within two standard deviations of zero
    assert float(grey.std()) == pytest.approx(truncnorm.std(-2, 2) * NOISE, rel=0.1)
    assert abs(float(grey.mean())) < 0.02
    assert not torch.equal(noise[0], noise[1])


def test_noise_is_fixed_by_the_seed_and_the_index():
    data = load_data("random", SMALL, seed=1)
    for index in (0, 7):
        expected = np.random.default_rng([1, index]).standard_normal((3, 8, 8), dtype=np.float32)
        assert np.array_equal(data[index], expected)
    assert load_data("random")[0].shape == (3, 224, 224)
    with pytest.raises(AffscoreError, match="'random' has no end: say how many images you want"):
        len(data)


def test_random_token_ids_fill_the_vocabulary():
    data = load_data("random", TextPreprocessing(vocabulary=7, length=5), seed=1)
    for index in range(5):
        assert data[index].tolist() == np.random.default_rng([1, index]).integers(0, 7, 5).tolist()
    assert data[3].dtype == torch.int64
