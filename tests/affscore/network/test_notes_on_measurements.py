"""Each kind of caution: it is there when it should be, and not when it should not."""

import warnings

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

import affscore
from affscore import AffscoreError, AffscoreWarning, signature
from affscore.models import Preprocessing
from affscore.transport import points_needed

QUIET = {"criteria": False, "progress": False}


def network(width=8, **stated):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.ReLU())
    for name, value in stated.items():
        setattr(net, name, value)
    return net


def folder(path, sizes):
    path.mkdir()
    rng = np.random.default_rng(0)
    for number, (height, width) in enumerate(sizes):
        Image.fromarray(rng.integers(0, 255, (height, width, 3), dtype=np.uint8)).save(path / f"{number:02}.png")
    return f"folder:{path}"


def notes_with(words, *args, **options):
    """Whether these words stand in a "note" or in a "warning" of a signature, and the signature."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = signature(*args, **(QUIET | options))
    given = [str(warning.message) for warning in caught if warning.category is AffscoreWarning]
    assert given == [note for note in result.notes if note.kind == "warning"]
    found = [note.kind for note in result.notes if words in note]
    assert len(found) <= 1
    return (found[0] if found else None), result


class TestPreprocessing:
    SAYS = "does not say what it expects"

    def test_images_of_one_size_keep_it(self, tmp_path):
        data = folder(tmp_path / "small", [(32, 32)] * 8)
        word, result = notes_with(self.SAYS, network(), data, n=8)
        assert word == "note"
        expected = Preprocessing(size=32, resize=32)
        assert result.metadata["preprocessing"] == expected.as_dict()
        _, stated = notes_with(self.SAYS, network(preprocessing=expected), data, n=8)
        np.testing.assert_array_equal(result.scores, stated.scores)
        assert not any(self.SAYS in note for note in stated.notes)

    @pytest.mark.parametrize("sizes", [[(32, 32)] * 7 + [(33, 33)], [(32, 40)] * 8, [(300, 300)] * 8])
    def test_otherwise_imagenets_is_assumed_with_a_warning(self, sizes, tmp_path):
        word, result = notes_with(self.SAYS, network(), folder(tmp_path / "photos", sizes), n=8)
        assert (word, result.metadata["preprocessing"]["size"]) == ("warning", 224)

    def test_the_size_that_is_given_is_taken(self, tmp_path):
        data = folder(tmp_path / "photos", [(32, 40)] * 8)
        for side in (24, 224):
            word, result = notes_with(self.SAYS, network(), data, n=8, size=side)
            expected = Preprocessing(size=side, resize=side)
            assert (word, result.metadata["preprocessing"]) == ("note", expected.as_dict())
            _, stated = notes_with(self.SAYS, network(preprocessing=expected), data, n=8)
            np.testing.assert_array_equal(result.scores, stated.scores)
        known, prepared = (
            network(preprocessing=Preprocessing(size=32)),
            affscore.load_data(data, Preprocessing(size=32)),
        )
        for net, other in ((known, data), (network(), torch.randn(8, 3, 32, 32)), (network(), prepared)):
            with pytest.raises(AffscoreError, match="size is for pictures and a network that does not say"):
                signature(net, other, n=8, size=24, **QUIET)

    def test_the_warning_comes_before_the_run(self, tmp_path):
        net, data = network(), folder(tmp_path / "photos", [(32, 40)] * 8)
        net.register_forward_pre_hook(lambda *_: pytest.fail("it ran"))
        for measure in (signature, affscore.multiverse):
            with warnings.catch_warnings():
                warnings.simplefilter("error", AffscoreWarning)
                with pytest.raises(AffscoreWarning, match=self.SAYS):
                    measure(net, data, n=8, progress=False)


class TestValues:
    SAYS = "values from 0 to 255"

    @pytest.mark.parametrize(
        ("factor", "shift", "expected"),
        [(255, 0, "warning"), (200, 30, "warning"), (1, 0, None), (4, -2, None), (255, -100, None), (1000, 0, None)],
    )
    def test_images_as_they_are_stored(self, factor, shift, expected):
        images = torch.rand(8, 3, 9, 9, generator=torch.Generator().manual_seed(0)) * factor + shift
        assert notes_with(self.SAYS, network(), images, n=8)[0] == expected


class TestN:
    SAYS = " in a batch are few"

    def test_it_warns_names_the_n_that_suffices_and_is_quiet_there(self):
        rows = torch.randn(1200, 64, generator=torch.Generator().manual_seed(0))
        net = nn.Sequential(nn.Linear(64, 64), nn.ReLU()).requires_grad_(False)
        word, few = notes_with(self.SAYS, net, rows, n=100, images=100)
        assert word == "warning"
        (note,) = (note for note in few.notes if self.SAYS in note)
        assert f"n={points_needed(64, 0.02)} keeps this below 0.02" in note
        assert (
            notes_with(self.SAYS, net, rows, n=points_needed(64, 0.02), images=points_needed(64, 0.02))[0] != "warning"
        )
        assert notes_with(self.SAYS, net, rows, n=1200)[0] is None

    def test_fewer_images_than_n(self):
        says = "no more images were used (512 make a batch)"
        assert notes_with(says, network(), torch.rand(8, 3, 9, 9))[0] == "note"
        assert notes_with("no more images", network(), torch.rand(8, 3, 9, 9), n=8)[0] is None
        assert notes_with("no more images", network(), torch.rand(9, 3, 9, 9), n=8)[0] is None


@pytest.mark.parametrize("n", [100, 200, 800])
def test_the_interval_holds_the_limit_that_the_biased_mean_misses(n):
    limit = 0.6211  # of ReLU of independent normal coordinates
    rows = torch.randn(n, 100, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AffscoreWarning)
        found = signature(nn.ReLU(), rows, n=n, covariance="empirical", **QUIET)
    low, high = found.mean_interval()
    assert found.scores.mean() > limit + 0.6 * float(found.expected_bias[0])
    assert low < limit + 0.25 * float(found.expected_bias[0])
    assert high > found.scores.mean()


class Stream(IterableDataset):
    """Each worker gives all samples."""

    def __init__(self, samples):
        self.samples = samples

    def __iter__(self):
        return iter(self.samples)


def vectors(count):
    return torch.randn(count, 6, generator=torch.Generator().manual_seed(0))


def dense():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU())


class TestRepeats:
    SAYS = "are repeats of earlier ones"

    def found(self, data, **options):
        word, result = notes_with(self.SAYS, dense(), data, **{"n": 32, **options})
        assert word in (None, "note")
        return [note.partition(f" {self.SAYS}")[0] for note in result.notes if self.SAYS in note]

    @pytest.mark.parametrize("workers", [0, 1, 2])
    def test_workers_that_each_give_all(self, workers):
        loader = DataLoader(Stream(vectors(32)), batch_size=8, num_workers=workers)
        assert self.found(loader) == ["32 of 64 samples (50.0%)"] * (workers > 1)

    def test_only_samples_that_were_used_count(self):
        assert self.found(DataLoader(Stream(vectors(32)), 16, num_workers=2), images=32) == ["16 of 32 samples (50.0%)"]
        assert self.found(torch.cat([vectors(32), vectors(16)])) == []  # the last 16 fill no batch, and are dropped

    def test_one_is_enough(self):
        data = vectors(64)
        assert self.found(data) == []
        data[40] = data[3]
        assert self.found(data) == ["1 of 64 samples (1.6%)"]
        data[40, 5] += 1e-6
        assert self.found(data) == []
