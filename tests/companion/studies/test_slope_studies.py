"""Studies of trainings that pull slopes to 1: one unit, its files, and from a plan to a table."""

import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from affscore import linearize, load_model, signature
from affscore.nonlinear_advantage import active_channels, slopes, to_prelu
from affscore.options import Specification
from companion import slope_training as training
from companion.mini_zoo.training import one_thread
from companion.slope_training import train
from companion.studies import __main__ as make_studies
from companion.studies import slopes as of_slopes
from companion.studies import stored_studies
from companion.studies.__main__ import is_made
from companion.studies.plans import EARLY, LATE, NEVER, STUDIES_OF_PAPERS, Study
from companion.studies.slopes import Slopes
from companion.studies.tasks import TASKS, Task

pytestmark = pytest.mark.slow  # trains


NETWORK = """
from torch import nn

def small():
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, 2), nn.ReLU(), nn.Conv2d(4, 6, 3, 2), nn.ReLU(), nn.Flatten(), nn.Linear(54, 10)
    )
"""

COLUMNS = [
    "index", "layer", "call", "channels", "active", "start", "omega", "accuracy", "share", "napl", "loss", "width",
    "network", "task", "seed",
]  # fmt: skip


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A network of two activations with 4 and 6 channels, and a task of 96 digits for twice two epochs."""

    def samples():
        images, labels, test_images, test_labels = TASKS["digits"].samples()
        return images[:96], labels[:96], test_images[:64], test_labels[:64]

    (tmp_path / "networks.py").write_text(NETWORK)
    recipe = {"weight_decay": 1e-2, "batch_size": 16}
    monkeypatch.setitem(TASKS, "tiny", Task(samples, half=2, rate=1e-2, slope_rate=0.2, more=recipe))
    monkeypatch.setattr(of_slopes, "FIRST", 64)
    return f"{tmp_path / 'networks.py'}:small"


@pytest.fixture
def epochs(monkeypatch):
    """Counts the epochs that are trained."""

    class Counted:
        done = 0

        def __call__(self, *arguments):
            self.done += 1
            return state(*arguments)

    state, counted = training._state, Counted()
    monkeypatch.setattr(training, "_state", counted)
    return counted


def by_hand(one, omega, start, epochs=4):
    """A network that is trained as one of a study, in one go."""
    task = TASKS[one.task]
    images, labels, *test = task.samples()
    model = to_prelu(load_model(one.model, one.seed), images[:2])
    rates = {"rate": lambda epoch: task.annealed(1e-2, epoch), "slope_rate": lambda epoch: task.annealed(0.2, epoch)}
    more = {"test": tuple(test), "seed": one.seed, "progress": False, **rates, **task.more}
    with one_thread():
        return model, train(model, images, labels, epochs, omega, start, **more)


@pytest.mark.parametrize(
    ("start", "omegas", "at"), [(NEVER, (0.0,), 4), (EARLY, (0.0, 0.5), 0), (LATE, (0.01, 0.5), 2)]
)
def test_a_row_for_each_weight_and_activation_of_a_network_trained_in_one_go(small, start, omegas, at, tmp_path):
    one = Slopes(small, "tiny", 3, start, omegas, scored=start == LATE)
    table = one.run(tmp_path)
    more = {"accuracy_before", "score_after", "channel_auc"} if start == LATE else set()
    assert set(table) == {*COLUMNS} | more
    assert table[["omega", "layer", "channels"]].values.tolist() == [
        [omega, *of_layer] for omega in omegas for of_layer in (["1", 4], ["3", 6])
    ]
    assert table["start"].isna().all() == (start is NEVER)
    assert table[["network", "task", "seed"]].drop_duplicates().values.tolist() == [["small", "tiny", 3]]
    for omega, rows in table.groupby("omega"):
        model, record = by_hand(one, omega, at)
        assert rows["active"].tolist() == active_channels(model)["active"].tolist()
        last = record.iloc[-1]
        for name, wanted in {"accuracy": "accuracy", "share": "active", "napl": "napl", "loss": "loss"}.items():
            assert rows[name].tolist() == [last[wanted]] * 2
        of_those_there = [active for active in rows["active"] if active]
        assert rows["width"].iloc[0] == (np.mean(of_those_there) if of_those_there else 0)
        if start == LATE:
            test = tuple(some[:64] for some in TASKS["tiny"].samples()[2:])
            after = signature(model, test, n=64, criteria=False, progress=False)
            np.testing.assert_allclose(rows["score_after"].astype(float), after.scores, atol=1e-6)
    if start == EARLY:
        shares = table.groupby("omega")["share"].first()
        assert shares[0.5] < shares[0.0]
    if start == LATE:  # ordinary training at first
        never = by_hand(one, 0.0, 4)[1]["accuracy"]
        assert set(table["accuracy_before"]) == {never[1]}
        assert Slopes(small, "tiny", 3, 0.5, (0.5,)).run(tmp_path)["accuracy_before"][0] == never[0]


def test_scores_are_of_the_network_before_the_penalty(small, tmp_path):
    one = Slopes(small, "tiny", 3, LATE, (0.5,), scored=True)
    one.run(tmp_path)
    scores = pd.read_parquet(one.scores(tmp_path / "slopes"))
    assert scores[["network", "task", "seed"]].drop_duplicates().values.tolist() == [["small", "tiny", 3]]
    words = [*Specification._fields]
    assert (scores.groupby("index")[words].value_counts() == 1).all()
    model, _ = by_hand(one, 0.0, 2, epochs=2)
    test = tuple(TASKS["tiny"].samples()[2:])
    for word in ("activate-first", "reduce-first"):
        wanted = signature(model, test, n=64, order=word, criteria=False, progress=False)
        found = scores[scores[words].eq(pd.Series(Specification(order=word)._asdict())).all(axis=1)]
        np.testing.assert_allclose(found["score"], wanted.scores, atol=1e-6)


def test_what_is_done_is_read_and_another_recipe_is_trained_anew(small, tmp_path, epochs, monkeypatch):
    one = Slopes(small, "tiny", 1, LATE, (0.01, 0.5))
    table = one.run(tmp_path)
    assert epochs.done == 4 + 4
    assert [file.name for file in (tmp_path / "slopes").iterdir()] == [f"{one.name}.parquet"]
    pd.testing.assert_frame_equal(one.run(tmp_path), table)
    assert epochs.done == 8
    fewer = replace(one, omegas=(0.01,))
    fewer.run(tmp_path)  # another job under the same name
    assert epochs.done == 8 + 4
    for change in ({"rate": 2e-2}, {"slope_rate": 0.3}, {"more": {"batch_size": 32}}):
        before = fewer.describe()
        monkeypatch.setitem(TASKS, "tiny", replace(TASKS["tiny"], **change))
        assert fewer.describe() != before
    fewer.run(tmp_path)
    assert epochs.done == 8 + 4 + 4


def test_the_auc_counts_pairs_of_channels():
    """Against a loop over the pairs; channels without a score count nowhere."""
    random = np.random.default_rng(0)
    net = to_prelu(torch.nn.Sequential(torch.nn.Linear(3, 40), torch.nn.ReLU(), torch.nn.Linear(40, 5), torch.nn.ReLU(),
                                       torch.nn.Linear(5, 5), torch.nn.ReLU()))  # fmt: skip
    linear, scores = random.random(40) < 0.4, random.integers(0, 6, 40) / 5
    scores[::7] = np.nan
    first, _, third = slopes(net).values()
    first.frozen |= torch.from_numpy(linear)
    third.frozen |= True
    table = pd.concat(
        pd.DataFrame({"layer": layer, "call": 0, "channel": range(len(some)), "value": some})
        for layer, some in (("1", scores), ("3", random.random(5)), ("5", random.random(5)))
    )
    pairs = [
        (kept < gone) + (kept == gone) / 2
        for kept in scores[~linear & ~np.isnan(scores)]
        for gone in scores[linear & ~np.isnan(scores)]
    ]
    found = of_slopes._areas(net, table.sample(frac=1, random_state=0).sort_values("channel"))
    assert found[0] == pytest.approx(np.mean(pairs))
    assert np.isnan(found[1:]).all()  # all are kept, and none


def test_criteria_are_compared(small, tmp_path, monkeypatch):
    monkeypatch.setattr(of_slopes, "KEPT", (1.0, 0.5, 0.0))
    monkeypatch.setattr(of_slopes, "FURTHER", 2)
    one = Slopes(small, "tiny", 2, LATE, (0.0, 0.05), criteria=True)
    table = one.run(tmp_path)
    assert table.columns.tolist() == [
        "by", "omega", "keep", "kept", "accuracy_before", "accuracy_after", "accuracy", "network", "task", "seed"
    ]  # fmt: skip
    assert table.groupby(["by", "omega"])["keep"].agg(list).to_dict() == {
        (by, omega): [1.0, 0.5, 0.0] for by, omega in (("affinity", 0.0), ("random", 0.0), ("slope", 0.05))
    }
    test = tuple(TASKS["tiny"].samples()[2:])
    for omega, start, ways in ((0.0, 4, ("affinity", "random")), (0.05, 2, ("slope",))):
        model, record = by_hand(one, omega, start)
        for by in ways:
            rows = table[table["by"] == by].set_index("keep")
            assert set(rows["accuracy_before"]) == {record["accuracy"].iloc[-1]}
            assert rows["accuracy_after"][1.0] == record["accuracy"].iloc[-1]
            active = record["active"].iloc[-1]  # what training has made linear stays so
            assert rows["kept"].tolist() == [active, min(active, 0.5), 0.0]
            wanted = linearize(model, test, 0.5, by, seed=2, progress=False)
            assert rows["accuracy_after"][0.5] == wanted.accuracy_after
    affine = table[table["keep"] == 0.0]
    assert (affine["accuracy"] > affine["accuracy_after"]).any()  # a little training helps
    assert set(table["seed"]) == {2}


def run_the_script(monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["make_studies.py", "--jobs", "1", *map(str, words)])
    make_studies.main()


def test_from_a_plan_to_a_table(small, tmp_path, monkeypatch, capsys):
    two = [Slopes(small, "tiny", 1, NEVER), Slopes(small, "tiny", 1, LATE, (0.3,), scored=True)]
    monkeypatch.setattr(make_studies, "STUDIES", {"mine": Study(slopes=two)})
    places = ["--work", tmp_path / "work", "--out", tmp_path / "out"]
    run_the_script(monkeypatch, *places)
    scores, table = (pd.read_parquet(tmp_path / "out" / f"mine{end}.parquet") for end in ("-scores", ""))
    assert capsys.readouterr().out == f"mine-scores: {len(scores)} rows\nmine: 4 rows\n"
    assert is_made("mine", tmp_path / "out")
    assert table["omega"].tolist() == [0.0, 0.0, 0.3, 0.3]  # as chosen, and not rounded to 32 bits
    assert table["accuracy_before"].isna().tolist() == [True, True, False, False]
    own = pd.read_parquet(two[1].scores(tmp_path / "work" / "slopes"))["score"]
    np.testing.assert_allclose(scores["score"], own, atol=1e-5)  # as many digits as the file has
    assert table.dtypes[["start", "omega"]].tolist() == [np.float64] * 2
    assert table["accuracy"].dtype == np.float32
    assert str(tmp_path) not in str(table.to_dict("list"))
    run_the_script(monkeypatch, *places)
    assert capsys.readouterr().out == ""
    monkeypatch.setattr(make_studies, "STUDIES", {"mine": Study(slopes=two[:1])})
    assert not is_made("mine", tmp_path / "out")


def only(monkeypatch, name, half, samples):
    """The plan of a paper with one network and seed, one weight, and two epochs; of the first samples alone."""
    study = STUDIES_OF_PAPERS[name]
    first = study.slopes[0]
    some = [one for one in study.slopes if (one.network, one.seed) == (first.network, 1)]
    some = [replace(one, omegas=one.omegas[-1:]) for one in some]
    monkeypatch.setitem(STUDIES_OF_PAPERS, name, replace(study, slopes=some))
    task = TASKS[first.task]
    loaded = task.samples

    def fewer():
        return tuple(one[:samples] for one in loaded())

    monkeypatch.setitem(TASKS, first.task, replace(task, half=half, samples=fewer, device="cpu"))


@pytest.mark.usefixtures("small_cifar")
def test_the_plan_of_cifar_on_few_images(tmp_path, monkeypatch):
    name = "advantage-cifar10"
    only(monkeypatch, name, 1, 8)
    monkeypatch.setattr(of_slopes, "FIRST", 8)
    places = ["--work", tmp_path / "work", "--out", tmp_path / "store" / "studies"]
    run_the_script(monkeypatch, "--only", name, *places)
    found = stored_studies(tmp_path / "store")
    table, scores = found.pop(name), found.pop(f"{name}-scores")
    assert not found
    assert len(table) == 3 * 17  # ResNet-18: the stem, and two in each of eight blocks
    assert table["channels"].head(17).tolist() == [*[64] * 5, *[128] * 4, *[256] * 4, *[512] * 4]
    assert scores.groupby("index")["width"].first().tolist() == table["channels"].head(17).tolist()
    assert table.groupby("start", dropna=False)["accuracy_before"].first().notna().tolist() == [False, True, False]
    assert table["napl"].iloc[0] == pytest.approx(1 + 8 * 1.5)  # in each block one of two units stands behind the sum
