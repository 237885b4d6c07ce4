"""A tracker does not change a training, and what it records is what a signature measures."""

import contextlib
import copy
import functools
import itertools
import subprocess
import sys
import warnings

import pandas as pd
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

import affscore
from affscore import AffscoreError, AffscoreWarning, load_record, track
from affscore.network.columns import misfits
from affscore.network.record import COLUMNS

from .trainings import Augmented, Moody, Training, network, probe, same, samples, small

REPOSITORY = __file__.rpartition("/tests/")[0]


def without_times(record):
    return {name: value for name, value in record.metadata.items() if name != "created"}


class TestTheTraining:
    def undisturbed(self, steps=12):
        training = Training()
        training.run(steps)
        return training.everything()

    @pytest.mark.parametrize("between", [False, True], ids=["after a step", "among gradients"])
    @pytest.mark.parametrize("options", [{}, {"reduction": "sample", "coupling": "exact", "criteria": True}])
    def test_it_is_the_same_to_the_last_bit(self, options, between):
        training = Training()
        with track(training.model, probe(), every=1, **options) as tracker:
            training.run(12, tracker, between)
        assert tracker.table["step"].nunique() == 13
        assert same(training.everything(), self.undisturbed())

    @pytest.mark.slow
    def test_and_a_loader_whose_workers_stay(self):
        def everything(tracked):
            training = Training()
            options = {"batch_size": 16, "shuffle": True, "generator": training.shuffle}
            training.loader = DataLoader(Augmented(), num_workers=1, persistent_workers=True, **options)
            tracker = track(training.model, training.loader, every=5) if tracked else None
            training.run(12, tracker)
            return training.everything()

        assert same(everything(tracked=True), everything(tracked=False))

    def test_it_is_as_before_after_an_error(self):
        class Late(nn.Module):
            fails = False

            def forward(self, x):
                if Late.fails:
                    raise RuntimeError("out of order")
                return x

        model = nn.Sequential(network()[:6], Late())
        tracker = track(model, probe())
        training = Training(model)
        before = training.everything()
        Late.fails = True
        tracker.steps = 100
        with pytest.warns(AffscoreWarning, match="step 100 was not measured.*out of order"):
            assert not tracker.measure()
        assert same(before, training.everything())

    def test_the_probe_is_read_once_and_copied(self):
        images, labels = probe()

        class Once(IterableDataset):
            read = 0

            def __iter__(self):
                for pair in zip(images, labels, strict=True):
                    self.read += 1
                    yield pair

        data = Once()
        trackers = [track(network(), data), track(network(), (images, labels))]
        assert data.read == len(images)
        images.zero_()
        for tracker in trackers:
            tracker.steps = 1
            assert tracker.measure()
            scores = tracker.table.pivot(index="index", columns="step", values="score")
            assert (scores[0] == scores[1]).all()
        assert data.read == len(images)


class TestTheScores:
    @pytest.mark.parametrize(
        "options",
        [{"coupling": "exact"}, {"coupling": "exact", "order": "reduce-first", "covariance": "empirical"},
         {"coupling": "exact", "reduction": "sample", "seed": 3, "criteria": ["cka", "nlc"]}],
    )  # fmt: skip
    def test_they_are_those_of_a_signature(self, options):
        training, data = Training(), probe()
        tracker = track(training.model, data, every=4, **options)
        training.run(4, tracker)
        asked = {name: value for name, value in options.items() if name != "coupling"}
        expected = affscore.signature(training.model, data, **{"criteria": False, **asked}).table
        now = tracker.table[tracker.table["step"] == 4].reset_index(drop=True)
        shared = [name for name in now if name in expected]
        pd.testing.assert_frame_equal(now[shared], expected[shared], check_exact=True)

    def test_samples_beyond_n_are_not_read(self):
        class Endless(IterableDataset):
            def __iter__(self):
                for number in itertools.count():
                    assert number < 48, "too far"
                    yield torch.full((5,), float(number))

        tracker = track(small(), Endless(), n=40, batch_size=16)
        assert set(tracker.table["n"]) == {40}
        assert any("the first 40 samples of the data; there may be more" in note for note in tracker.record.notes)
        several = [track(small(), data, n=20).record for data in (samples(32), samples(32)[:20])]
        assert any("the first 20 samples of the data; there are 32" in note for note in several[0].notes)
        pd.testing.assert_frame_equal(several[0].table, several[1].table)
        assert not any("first" in note for note in several[1].notes)


class TestSteps:
    def test_a_context_measures_the_last_step(self):
        with track(small(), samples(), every=3) as tracker:
            for _ in range(4):
                tracker.step()
        assert tracker.table["step"].unique().tolist() == [0, 3, 4]
        with track(small(), samples(), every=3) as tracker:
            for _ in range(3):
                tracker.step()
        assert tracker.table["step"].unique().tolist() == [0, 3]
        assert not tracker.table.duplicated(["step", "index"]).any()
        with contextlib.suppress(KeyError), track(small(), samples(), every=3) as tracker:
            tracker.step()
            raise KeyError
        assert tracker.table["step"].unique().tolist() == [0]

    def test_steps_are_counted_from_the_start_of_the_training(self):
        tracker = track(small(), samples(), every=3, start=1)
        assert [tracker.step() for _ in range(3)] == [False, True, False]


class TestResuming:
    def test_the_record_is_the_undisturbed_one(self, tmp_path):
        whole = Training()
        undisturbed = track(whole.model, probe(), every=5)
        for _ in range(2):  # a loader draws once more where its last epoch ends
            whole.run(9, undisturbed)

        first = Training()
        tracker = track(first.model, probe(), every=5)
        first.run(9, tracker)  # three epochs
        first.save(tmp_path / "checkpoint.pt", tracker)

        second = Training(network(seed=9))
        tracker = track(second.model, probe(), every=5)
        assert not tracker.table.equals(undisturbed.table[undisturbed.table["step"] == 0])
        second.load(tmp_path / "checkpoint.pt", tracker)
        second.run(9, tracker)
        pd.testing.assert_frame_equal(tracker.table, undisturbed.table, check_exact=True)
        assert without_times(tracker.record) == without_times(undisturbed.record)
        assert tracker.record.notes == undisturbed.record.notes
        assert same(second.model.state_dict(), whole.model.state_dict())

    def test_a_state_is_of_plain_types(self, tmp_path):
        tracker = track(small(), samples(), every=2)
        for _ in range(3):
            tracker.step()
        state = tracker.state_dict()
        torch.save(state, tmp_path / "x.pt")
        again = track(small(), samples(), every=2)
        again.load_state_dict(torch.load(tmp_path / "x.pt", weights_only=True))
        assert again.record == tracker.record
        for _ in range(3):
            tracker.step()
        assert len(again.table) < len(tracker.table)  # a state is a copy

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"every": 3}, "with every=2, and this tracker has every=3"),
            ({"coupling": "exact"}, "coupling='paired'"),
            ({"n": 16}, "n=512"),
        ],
    )
    def test_other_options_are_refused(self, options, message):
        state = track(small(), samples(), every=2).state_dict()
        tracker = track(small(), samples(), **{"every": 2, **options})
        before = tracker.record
        with pytest.raises(AffscoreError, match=message):
            tracker.load_state_dict(state)
        assert tracker.record == before

    @pytest.mark.parametrize("whole", [True, False])
    @pytest.mark.parametrize("wrapper", [nn.DataParallel, functools.partial(torch.compile, backend="eager")])
    def test_a_wrapper_makes_no_other_network(self, wrapper, whole):
        def nested(wrapped):
            model = nn.Sequential(small()[:2], small()[2:])
            model[0] = wrapper(model[0]) if wrapped and not whole else model[0]
            return wrapper(model) if wrapped and whole else model

        states = [track(nested(wrapped), samples(), every=1).state_dict() for wrapped in (True, False)]
        for wrapped, state in zip((False, True), states, strict=True):
            tracker = track(nested(wrapped), samples(), every=1, state=state)
            assert tracker.step()
            assert tracker.table.groupby("index")["score"].nunique().eq(1).all()

    @pytest.mark.parametrize("state", [{}, None, {"steps": 3}, [], 5, "state"])
    def test_what_is_no_state_is_refused(self, state):
        with pytest.raises(AffscoreError, match="this is no state of a tracker: "):
            track(small(), samples()).load_state_dict(state)

    def test_another_network_is_refused(self):
        """Also one that differs in nothing but a width or a buffer, and before anything is measured."""
        model, wider, buffered, fewer = small(), small(), small(), small()[:2]
        wider[2], wider[4] = nn.Linear(8, 7), nn.Linear(7, 3)
        buffered[1].register_buffer("scale", torch.ones(()))
        state = track(model, samples()).state_dict()
        for other in (wider, buffered, fewer):
            with pytest.raises(AffscoreError, match="the state is of a tracker with network="):
                track(other, samples(), state=state)
            with pytest.raises(AffscoreError, match="the state is of a tracker with network="):
                track(other, samples()).load_state_dict(state)
        model[1] = nn.Tanh()
        with pytest.raises(AffscoreError, match="other activations"):
            track(model, samples()).load_state_dict(state)

    def test_a_state_of_1_0_does_not_say_which_network(self):
        state = track(small(), samples(), every=1).state_dict()
        del state["asked"]["network"]
        with pytest.raises(AffscoreError, match="other activations"):
            track(small()[:2], samples(), every=1).load_state_dict(state)
        other = track(small()[:2], samples(), every=1, state=state)
        with pytest.warns(AffscoreWarning, match="another structure"):
            assert not other.step()


class TestWrappers:
    def test_autocast_is_suspended(self):
        def record(autocast):
            training = Training()
            tracker = track(training.model, probe(), every=2)
            with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
                for tracker.steps in (1, 2):
                    tracker.measure()
                assert torch.is_autocast_enabled("cpu") == autocast
            return tracker.table

        pd.testing.assert_frame_equal(record(autocast=True), record(autocast=False))

    @pytest.mark.slow
    @pytest.mark.parametrize("whole", [True, False], ids=["torch.compile(model)", "model.compile()"])
    def test_a_compiled_training_goes_on_without_compiling_again(self, whole):
        compiled = []

        def backend(graph, _):
            compiled.append(graph)
            return graph.forward

        def train(tracked):
            torch._dynamo.reset()
            compiled.clear()
            torch.manual_seed(0)
            model = nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 3))
            run = torch.compile(model, backend=backend) if whole else model
            if not whole:
                model.compile(backend=backend)
            optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
            tracker = track(run, samples(), every=1) if tracked else None
            for _ in range(4):
                optimiser.zero_grad()
                run(samples()).square().mean().backward()
                optimiser.step()
                assert tracker is None or tracker.step()
            return copy.deepcopy(model.state_dict()), len(compiled)

        (with_it, often), (without, once) = train(tracked=True), train(tracked=False)
        assert often == once > 0
        assert same(with_it, without)

    @pytest.mark.slow
    def test_of_several_processes_the_first_one_measures(self, tmp_path):
        command = [sys.executable, "-m", "tests.affscore.network.together", tmp_path]
        done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        record = load_record(tmp_path / "record.parquet")
        assert record.table["step"].unique().tolist() == [0, 2, 4, 5]
        for rank in (0, 1):
            files = [tmp_path / f"{name} {rank}.pt" for name in ("tracked", "alone")]
            with_it, without = (torch.load(file, weights_only=True) for file in files)
            assert same(with_it["model"], without["model"])
            assert with_it["tracker"]["steps"] == 5
            assert bool(with_it["tracker"]["table"]) == (rank == 0)


class TestErrors:
    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"every": 0}, "every must be an integer of at least 1"),
            ({"start": -1}, "start must be an integer of at least 0"),
            ({"n": 1}, "n must be an integer of at least 2"),
            ({"coupling": "optimal"}, "coupling must be one of exact, paired, got 'optimal'"),
            ({"probe": samples(1)}, "at least 2 samples"),
            ({"probe": samples(0)}, "holds no sample"),
            ({"model": "mini:digitsnet"}, "load_model makes one of a name"),
            ({"model": nn.Sequential(nn.LazyLinear(3), nn.ReLU())}, "is lazy"),
        ],
    )  # fmt: skip
    def test_what_is_wrong_at_the_beginning_is_raised(self, wrong, message):
        arguments = {"model": small(), "probe": samples(), **wrong}
        with pytest.raises(AffscoreError, match=message):
            track(**arguments)

    def test_a_training_that_diverges_goes_on(self):
        training = Training()
        tracker = track(training.model, probe(), every=1)
        with torch.no_grad():
            training.model[5].weight.fill_(torch.nan)
        with pytest.warns(AffscoreWarning, match="NaN or infinity at step 1 or later") as given:
            measured = [tracker.step(), tracker.step()]
        assert measured == [True, True]
        assert len([one for one in given if issubclass(one.category, AffscoreWarning)]) == 1
        later = tracker.table[tracker.table["step"] > 0]
        assert later["flag"].tolist() == ["", "not finite", "not finite"] * 2
        assert later["score"].isna().tolist() == [False, True, True] * 2
        assert not list(misfits(tracker.table, [one for one in COLUMNS if one.name in tracker.table]))
        (note,) = [note for note in tracker.record.notes if "diverged" in note]
        assert note.kind == "warning"
        again = track(network(), probe(), every=1)
        again.load_state_dict(tracker.state_dict())
        assert again.record == tracker.record

    def test_a_network_with_another_structure(self):
        model = small()
        tracker = track(model, samples(), every=1)
        model[3] = nn.ReLU()
        with pytest.warns(AffscoreWarning, match="activation 2 was tanh of layer '3', and is relu of layer '3'"):
            assert not tracker.step()
        del model[3]
        with pytest.warns(AffscoreWarning, match="activation 2 was tanh of layer '3', and is none"):
            assert not tracker.step()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert not tracker.step()
            assert not tracker.measure()
        model.insert(3, nn.Tanh())
        assert tracker.step()
        assert tracker.table["step"].unique().tolist() == [0, 4]
        (first, second) = [note for note in tracker.record.notes if "not measured" in note]
        assert first.startswith("not measured at step 1: ")
        assert second.startswith("not measured at step 2, 3: ")


class TestTheRecord:
    @pytest.fixture
    def tracker(self):
        training = Training()
        tracker = track(training.model, probe(), every=2, criteria="cka")
        training.run(4, tracker)
        return tracker

    def test_a_file(self, tracker, tmp_path):
        path = tracker.save(tmp_path / "x.parquet")
        record = load_record(path)
        assert record == tracker.record
        assert record.save(tmp_path / "y.parquet")
        assert load_record(tmp_path / "y.parquet") == record
        assert record.metadata["every"] == 2
        assert record.metadata["coupling"] == "paired"
        assert record.metadata["fingerprint_data"].startswith("crc32:")
        assert record.metadata["versions"]["torch"] == torch.__version__
        assert "9 x" not in repr(record)
        assert "3 activations, 3 measurements up to step 4" in repr(record)
        assert repr(tracker).startswith("Tracker at step 4, measuring every 2")
        with pytest.raises(AffscoreError, match="must end in"):
            record.save(tmp_path / "x.csv")
        with pytest.raises(AttributeError):
            record.table = None

    def test_files_are_not_taken_for_each_other(self, tracker, tmp_path):
        path = tracker.save(tmp_path / "x.parquet")
        for load in (affscore.load_signature, affscore.load_multiverse):
            with pytest.raises(AffscoreError, match=r"it holds a record \(affscore.load_record\)"):
                load(path)
        one = affscore.signature(network(), probe(), criteria=False).save(tmp_path / "signature.parquet")
        several = affscore.multiverse(network(), probe()).save(tmp_path / "multiverse.parquet")
        plain = tmp_path / "plain.parquet"
        tracker.table.to_parquet(plain)
        for wrong, message in (
            (one, "it holds a signature"),
            (several, "it holds a multiverse"),
            (plain, "not a record"),
        ):
            with pytest.raises(AffscoreError, match=message):
                load_record(wrong)
        with pytest.raises(AffscoreError, match="file not found"):
            load_record(tmp_path / "nothing.parquet")


def test_modules_that_write_in_training_mode_alone_are_as_before():
    model = network()
    mood = next(module for module in model if isinstance(module, Moody))
    track(model, probe()).measure()
    assert (mood.passes, mood.sum, mood.seen, mood.last, mood.cache) == (torch.zeros(()), torch.zeros(()), [], None, {})
