"""Each kind of caution: it is there when it should be, and not when it should not."""

import itertools
import warnings

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

import affscore
from affscore import AffscoreError, AffscoreWarning, signature, track
from affscore.models import Preprocessing
from affscore.network.measurement import _checksums
from affscore.network.notes import on_repeats
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

    def test_only_the_images_that_are_used_count(self, tmp_path):
        data = folder(tmp_path / "some", [(32, 32)] * 8)
        order = affscore.load_data(data).order(4, 0, 4)
        for number in set(range(8)) - set(order):
            Image.new("RGB", (50, 40)).save(tmp_path / "some" / f"{number:02}.png")
        assert notes_with(self.SAYS, network(), data, n=4, images=4)[1].metadata["preprocessing"]["size"] == 32
        assert notes_with(self.SAYS, network(), data, n=8)[1].metadata["preprocessing"]["size"] == 224

    def test_what_is_no_readable_image_does_not_count(self, tmp_path):
        data = folder(tmp_path / "some", [(32, 32)] * 4)
        (tmp_path / "some" / "broken.png").write_bytes(b"no image")
        assert affscore.load_data(data).common_size(range(5)) == 32
        assert affscore.load_data(data).common_size([]) is None

    def test_data_that_is_not_in_files(self):
        word, result = notes_with(self.SAYS, network(), "digits", n=32, images=32)
        assert (word, result.metadata["preprocessing"]["size"]) == ("note", 8)

    def test_noise_has_no_size(self):
        word, result = notes_with(self.SAYS, network(), "random", n=4, images=4)
        assert (word, result.metadata["preprocessing"]["size"]) == ("warning", 224)

    def test_pictures_in_a_data_set(self):
        class Pictures(Dataset):
            def __init__(self, sizes):
                self.sizes = sizes

            def __len__(self):
                return len(self.sizes)

            def __getitem__(self, index):
                return Image.fromarray(np.full((*self.sizes[index], 3), 9 * index, dtype=np.uint8)), 0

        for batch_size in (2, 8):
            word, result = notes_with(self.SAYS, network(), Pictures([(32, 32)] * 8), n=8, batch_size=batch_size)
            assert (word, result.metadata["preprocessing"]["size"]) == ("note", 32)
            assert not any("several sizes" in note for note in result.notes)
        _, result = notes_with(self.SAYS, network(), Pictures([(32, 32)] * 7 + [(64, 64)]), n=8)
        assert result.metadata["preprocessing"]["size"] == 32
        assert any("several sizes" in note for note in result.notes)

        word, result = notes_with(self.SAYS, network(), Pictures([(32, 32)] * 8), n=8, size=24)
        assert (word, result.metadata["preprocessing"]["size"]) == ("note", 24)

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

    def test_a_class_of_torchvision_is_most_likely_imagenets(self, tmp_path):
        from torchvision.models import SqueezeNet

        data = folder(tmp_path / "photos", [(50, 60)] * 2)
        assert notes_with(self.SAYS, SqueezeNet("1_1"), data, n=2)[0] == "note"

    @pytest.mark.parametrize("name", ["squeezenet1_1@random", "mini:digitsnet", "mini:digitsnet@random"])
    def test_a_name_keeps_its_own(self, name):
        word, result = notes_with(self.SAYS, name, "digits", n=4, images=4)
        stated = affscore.models.card_of(affscore.load_model(name)).preprocessing
        assert (word, result.metadata["preprocessing"]) == (None, stated.as_dict())

    def test_tensors_are_taken_as_they_are(self):
        word, result = notes_with(self.SAYS, network(), torch.rand(8, 3, 9, 9), n=8)
        assert (word, result.metadata["preprocessing"]) == (None, None)


class TestValues:
    SAYS = "values from 0 to 255"

    @pytest.mark.parametrize(
        ("factor", "shift", "expected"),
        [(255, 0, "warning"), (200, 30, "warning"), (1, 0, None), (4, -2, None), (255, -100, None), (1000, 0, None)],
    )
    def test_images_as_they_are_stored(self, factor, shift, expected):
        images = torch.rand(8, 3, 9, 9, generator=torch.Generator().manual_seed(0)) * factor + shift
        assert notes_with(self.SAYS, network(), images, n=8)[0] == expected

    def test_other_data_may_hold_such_values(self):
        rows = torch.rand(8, 5) * 255
        assert notes_with(self.SAYS, nn.Sequential(nn.Linear(5, 4), nn.ReLU()), rows, n=8)[0] is None

    def test_a_network_may_expect_them(self):
        stated = Preprocessing(size=9, resize=9, mean=(0.0,) * 3, std=(1 / 255,) * 3)
        assert notes_with(self.SAYS, network(preprocessing=stated), torch.rand(8, 3, 9, 9) * 255, n=8)[0] is None

    def test_images_that_were_not_normalised(self):
        says, stated = "as before they are normalised", Preprocessing(size=9)
        images = torch.rand(8, 3, 9, 9, generator=torch.Generator().manual_seed(0))
        assert notes_with(says, network(preprocessing=stated), images, n=8)[0] == "note"
        for other in (images - 0.5, images * 3):
            assert notes_with(says, network(preprocessing=stated), other, n=8)[0] is None
        assert notes_with(says, network(), images, n=8)[0] is None  # which says nothing of what it expects
        plain = Preprocessing(size=9, mean=(0.0,) * 3, std=(1.0,) * 3)
        assert notes_with(says, network(preprocessing=plain), images, n=8)[0] is None
        assert notes_with(says, network(preprocessing=stated), images.flatten(2), n=8, forward=_as_images)[0] is None


def _as_images(net, batch):
    return net(batch.unflatten(2, (9, 9)))


class TestN:
    SAYS = " in a batch are few"

    def test_the_default_is_quiet(self):
        word, result = notes_with("", "mini:digitsnet", "digits", n=512, images=512)
        assert (word, result.notes) == (None, [])

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

    @pytest.mark.parametrize(("n", "word"), [(2, "warning"), (7, "warning"), (8, None)])
    def test_a_handful_says_nothing_whatever_the_scores(self, n, word):
        net = nn.Sequential(nn.Linear(10, 256), nn.ReLU())
        assert notes_with("too few for any score", net, torch.randn(n, 10), n=n)[0] == word

    def test_it_counts_where_the_bias_is(self):
        rows = torch.randn(200, 64, generator=torch.Generator().manual_seed(0))
        net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2), nn.ReLU())
        _, result = notes_with(self.SAYS, net, rows, n=200)
        assert result.expected_bias[1] < 0.01 < 0.02 < result.expected_bias[0]
        assert any("few for 1 of 2 activations" in note for note in result.notes)

    def test_an_affine_activation_needs_few(self):
        class Positive(nn.Module):
            def forward(self, x):
                return torch.relu(x + 100)

        assert notes_with(self.SAYS, Positive(), torch.randn(64, 60), n=64)[0] is None

    def test_fewer_images_than_n(self):
        says = "there are no more images (512 were asked for"
        assert notes_with(says, network(), torch.rand(8, 3, 9, 9))[0] == "note"
        assert notes_with("no more images", network(), torch.rand(8, 3, 9, 9), n=8)[0] is None
        assert notes_with("no more images", network(), torch.rand(9, 3, 9, 9), n=8)[0] is None


class TestWeights:
    SAYS = "untrained, unless it loads them itself"

    def test_weights_as_built(self, tmp_path):
        source = "from torch import nn\ndef make():\n    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU())\n"
        (tmp_path / "mine.py").write_text(source)
        model = affscore.load_model(f"{tmp_path}/mine.py:make")
        torch.save(model.state_dict(), tmp_path / "w.pth")
        data = torch.rand(8, 3, 9, 9)
        assert notes_with(self.SAYS, model, data, n=8)[0] == "note"
        assert (
            notes_with(self.SAYS, affscore.load_model(f"{tmp_path}/mine.py:make@{tmp_path}/w.pth"), data, n=8)[0]
            is None
        )
        assert notes_with(self.SAYS, network(), data, n=8)[0] is None
        assert notes_with(self.SAYS, "mini:digitsnet@random", "digits", n=8, images=8)[0] is None


class TestInterval:
    def wide(self, n, covariance):
        rows = torch.randn(n, 100, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
        net = nn.Sequential(nn.Linear(100, 100), nn.ReLU()).double()
        with torch.no_grad():
            net[0].weight.copy_(torch.eye(100))
            net[0].bias.zero_()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AffscoreWarning)
            return signature(net, rows, n=n, covariance=covariance, **QUIET)

    @pytest.mark.parametrize("n", [100, 200, 800])
    def test_it_holds_the_limit_that_the_biased_mean_misses(self, n):
        limit = 0.6211  # of ReLU of independent normal coordinates
        found = self.wide(n, "empirical")
        low, high = found.mean_interval()
        assert found.scores.mean() > limit + 0.6 * float(found.expected_bias[0])
        assert low < limit + 0.25 * float(found.expected_bias[0])
        assert high > found.scores.mean()

    def test_shrinkage_may_have_twice_the_bias(self):
        for covariance, factor in (("empirical", 1), ("ledoit-wolf", 2)):
            found = self.wide(200, covariance)
            low, high = found.mean_interval()
            below, above = found.scores.mean() - low, high - found.scores.mean()
            assert below - above == pytest.approx(factor * found.expected_bias.mean(), abs=0.3 * above)


class Stream(IterableDataset):
    """As many samples as there are, or without end; each worker gives all of them, unless they are split."""

    def __init__(self, samples, split=False, endless=False):
        self.samples, self.split, self.endless = samples, split, endless

    def __iter__(self):
        worker = get_worker_info()
        chosen = self.samples[worker.id :: worker.num_workers] if worker and self.split else self.samples
        return itertools.cycle(chosen) if self.endless else iter(chosen)


def vectors(count, width=6):
    return torch.randn(count, width, generator=torch.Generator().manual_seed(0))


def dense(width=6):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(width, 8), nn.ReLU())


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

    def test_workers_that_split_them(self):
        assert self.found(DataLoader(Stream(vectors(64), split=True), batch_size=8, num_workers=2)) == []

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

    def test_of_several_inputs_all_count(self):
        class Two(nn.Module):
            def forward(self, x, y):
                return torch.relu(x + y)

        one, other = vectors(32), torch.ones(32, 6)
        for data, expected in (((one, other), 0), ((other, other.clone()), 31)):
            result = signature(Two(), data, n=32, **QUIET)
            assert sum(f"{expected} of 32 samples" in note for note in result.notes) == (expected > 0)

    def test_classes_of_few_values_are_repeats_indeed(self):
        rows = torch.tensor([[a, b, c, 0, 0, 0] for a in (0.0, 1) for b in (0, 1) for c in (0, 1)]).repeat(4, 1)
        assert self.found(rows) == ["24 of 32 samples (75.0%)"]

    @pytest.mark.parametrize("seed", range(3))
    def test_chance_makes_none(self, seed):
        """Among 300,000 samples about ten share a checksum of 32 bits."""
        numbers = torch.randn(300_000, 3, generator=torch.Generator().manual_seed(seed))
        sums = _checksums(numbers)
        assert len(np.unique(sums[:, 0])) < len(sums)
        assert list(on_repeats(sums, "samples")) == []

    @pytest.mark.parametrize("spec", ["digits", "random"])
    def test_data_that_is_shipped_has_none(self, spec):
        result = signature("mini:digitsnet", spec, n=256, images=512, **QUIET)
        assert not any(self.SAYS in note for note in result.notes)

    def test_a_probe_says_it_too(self):
        tracker = track(dense(), vectors(16).repeat(2, 1), n=32)
        assert any(f"16 of 32 samples (50.0%) {self.SAYS}" in note for note in tracker.record.notes)


def test_data_without_end_is_read_for_a_while():
    says = "the data has no length, and more than these 1600 samples; images= says how many"
    word, result = notes_with(says, dense(), Stream(vectors(1000), endless=True), n=16)
    assert (word, result.metadata["images"]) == ("note", 100 * 16)
