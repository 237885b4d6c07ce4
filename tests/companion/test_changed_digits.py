"""The changed digits: the same scans, by name."""

import pytest
import torch
from scipy.stats import truncnorm

from affscore import load_data
from affscore.models import digits
from affscore.models.data import identity_of_data
from companion.changed_digits import CHANGES, NOISE, shuffled

# shipped results are of these images: a new version of NumPy must not change their mean
CHANGED = {"digits-inverted": 0.6949, "digits-shuffled": 0.3051, "digits-noisy": 0.3459}


def images_of(spec):
    return torch.stack(list(load_data(spec)))


@pytest.mark.parametrize("name", CHANGED)
def test_they_are_the_held_out_scans_in_the_same_order_with_the_same_labels(name):
    changed, plain = load_data(name), load_data("digits")
    assert torch.equal(images_of("digits"), digits("test")[0])
    assert CHANGED.keys() == CHANGES.keys()
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
