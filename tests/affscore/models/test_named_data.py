import numpy as np
import pytest
import torch

from affscore import load_data
from affscore.errors import AffscoreError
from affscore.models import ImageSet, Preprocessing, TextPreprocessing, digits
from affscore.models.data.noise import Noise

SMALL = Preprocessing(size=8, resize=8, mean=(0.0,) * 3, std=(1.0,) * 3)


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


def test_an_index_outside_the_data_ends_a_loop():
    data = ImageSet("two", 2, lambda index, p: torch.full((1, 2, 2), float(index)))
    assert [float(image[0, 0, 0]) for image in data] == [0.0, 1.0]
    with pytest.raises(IndexError):
        data[2]


def test_images_are_not_for_a_network_of_token_ids():
    with pytest.raises(AffscoreError, match="'digits' holds images, and the network expects token ids"):
        load_data("digits", TextPreprocessing(vocabulary=10))


def test_random_token_ids_fill_the_vocabulary():
    words = TextPreprocessing(vocabulary=7, length=5)
    data, again, other = (load_data("random", words, seed=seed) for seed in (1, 1, 2))
    assert (data[3].shape, data[3].dtype) == ((5,), torch.int64)
    assert torch.equal(data[3], again[3])
    windows = torch.stack([data[index] for index in range(200)])
    assert not torch.equal(windows, torch.stack([other[index] for index in range(200)]))
    counts = torch.bincount(windows.flatten(), minlength=7)
    assert len(counts) == 7
    assert int(counts.min()) > 100  # 143 expected
    assert data[0].tolist() == np.random.default_rng([1, 0]).integers(0, 7, 5).tolist()


def test_random_token_ids_need_a_vocabulary():
    with pytest.raises(AffscoreError, match="random token ids need the size of the vocabulary"):
        Noise(0).prepared_for(TextPreprocessing())
