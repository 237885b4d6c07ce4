"""Data by name: what is found, in which order, and what is refused."""

import contextlib

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from affscore import load_data
from affscore.errors import AffscoreError
from affscore.models import ImageSet, Preprocessing, TextPreprocessing, digits

SMALL = Preprocessing(size=8, resize=8, mean=(0.0,) * 3, std=(1.0,) * 3)


def test_the_order_is_a_shuffle_that_the_seed_fixes():
    data = load_data("digits")
    everything = data.order(None, 0, 10)
    assert sorted(everything) == list(range(597))
    assert everything != sorted(everything)
    assert data.order(None, 0, 10) == everything
    assert data.order(50, 0, 10) == everything[:50]
    assert data.order(None, 1, 10) != everything
    assert list(load_data("random").order(None, 0, 10)) == list(range(10))
    assert list(load_data("random").order(3, 0, 10)) == list(range(3))
    with pytest.raises(AffscoreError, match="'digits' has 597 images, 598 were asked for"):
        data.order(598, 0, 10)


def test_the_name_and_the_end_stay_when_images_are_prepared():
    data = ImageSet("name", 2, lambda index, p: (p or torch.clone)(torch.full((1, 4, 4), float(index))))
    prepared = data.prepared_for(SMALL)
    assert (prepared.name, len(prepared), prepared.preprocessing) == ("name", 2, SMALL)
    assert data.preprocessing is None
    for one in (data, prepared):
        with pytest.raises(IndexError):
            one[2]
        assert [float(image.mean()) for image in one] == [0.0, 1.0]


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        ("digit", r"did you mean digits\?"),
        ("CIFAR-10", r"did you mean cifar10\?"),
        ("FashionMNIST", "did you mean fashion-mnist"),
        ("folders:x", "unknown data set 'folders:x'"),
        ("random:3", "did you mean random"),
        ("", "unknown data set ''"),
    ],
)
def test_unknown_names(spec, hint):
    with pytest.raises(AffscoreError, match=f"{hint}.*digits, .*random, cifar10"):
        load_data(spec)


def test_a_folder_without_its_prefix_gets_a_hint(tmp_path):
    with pytest.raises(AffscoreError, match="; write folder: in front of a folder of images"):
        load_data(str(tmp_path))


@settings(max_examples=40)
@given(st.text(max_size=30) | st.text(st.characters(exclude_characters="/.~"), max_size=20).map("folder:{}".format))
@example("x" * 300)
@example("folder:" + "x" * 300)
@example("folder:~nobody-of-this-name/x")
@example("folder:a\0b")
def test_any_text_is_a_data_set_or_one_error(spec):
    with contextlib.suppress(AffscoreError):
        load_data(spec)


def test_one_class_of_a_named_data_set():
    everything, threes = load_data("digits"), load_data("digits:3", SMALL)
    images, labels = digits("test")
    assert (threes.name, len(threes), set(threes.labels)) == ("digits:3", int((labels == 3).sum()), {"3"})
    expected = [SMALL(image) for image in images[labels == 3]]
    assert torch.equal(torch.stack([*threes]), torch.stack(expected))
    assert sum(len(everything.only(label)) for label in map(str, range(10))) == len(everything) == 597
    assert torch.equal(torch.stack([*threes]), torch.stack([*everything.only("3").prepared_for(SMALL)]))


def test_unknown_classes():
    with pytest.raises(AffscoreError, match=r"'digits' has no class '33'; did you mean 3\? \(known: 0, 1, 2"):
        load_data("digits:33")
    with pytest.raises(AffscoreError, match=r"'plain' has no class 'a' \(known: none\)"):
        ImageSet("plain", 1, lambda index, p: torch.zeros(1, 2, 2)).only("a")


def test_images_are_not_for_a_network_of_token_ids():
    with pytest.raises(AffscoreError, match="'digits' holds images, and the network expects token ids"):
        load_data("digits", TextPreprocessing(vocabulary=10))
