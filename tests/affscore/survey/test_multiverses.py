"""Multiverses in a store: measured once, kept beside signatures, and read by functions of their own."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
import torch

from affscore import AffscoreError, load_results, multiverse, signature
from affscore.network.signature import named_options
from affscore.options import Options
from affscore.survey import Store, load_or_measure, stored_multiverses, stored_signatures, survey
from affscore.survey.job import Job, describe, plan

OPTIONS = {"n": 32, "images": 64, "progress": False}
SURVEYED = {**OPTIONS, "threads": 1, "only": 0}
"""Of a survey whose one job is done in this process."""


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Last bits may depend on the number of threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A store with a multiverse, a signature, and another multiverse, in this order of the names of their files."""
    folder = tmp_path_factory.mktemp("both")
    assert survey("mini:digitsnet", "digits", folder, multiverse=["mean", "sample"], **SURVEYED).complete
    assert survey("mini:digitsnet", "digits", folder, criteria=False, **SURVEYED).complete
    assert survey("mini:digitsnet@random", "digits", folder, multiverse="sum", **SURVEYED).complete
    return folder


@pytest.fixture
def store(measured, tmp_path):
    """A copy of it."""
    return shutil.copytree(measured, tmp_path / "store")


def assert_equal_but_for_the_run(kept, expected):
    rows, others = (getattr(one, "rows", one.table).drop(columns="seconds") for one in (kept, expected))
    pd.testing.assert_frame_equal(rows, others, check_exact=True)
    pd.testing.assert_frame_equal(kept.scores, expected.scores, check_exact=True)
    of_a_run = {"created", "threads", "key", "job", "asked"}
    about, wanted = ({k: v for k, v in one.metadata.items() if k not in of_a_run} for one in (kept, expected))
    assert json.loads(json.dumps(about)) == json.loads(json.dumps(wanted))
    assert kept.notes == expected.notes


@pytest.mark.slow
def test_a_survey_keeps_what_the_function_measures_and_a_second_one_measures_nothing(measured):
    kept, other = stored_multiverses(measured)
    expected = multiverse("mini:digitsnet", "digits", **OPTIONS)
    assert_equal_but_for_the_run(kept, expected)
    assert other.metadata["multiverse"] == ["sum"]
    before = {path: path.read_bytes() for path in Store(measured).files()}
    report = survey("mini:digitsnet", "digits", measured, multiverse=("mean", "sample"), **SURVEYED)
    assert report.outcomes[0][1].state == "there"
    assert str(report).splitlines()[0] == "1 job: 1 already there"
    assert {path: path.read_bytes() for path in Store(measured).files()} == before


def test_each_kind_of_result_is_read_by_its_own_functions(measured, tmp_path):
    (alone,), several = stored_signatures(measured), stored_multiverses(measured)
    expected = signature("mini:digitsnet", "digits", criteria=False, **OPTIONS)
    np.testing.assert_array_equal(alone.scores, expected.scores)
    np.testing.assert_array_equal(several[0].signature().scores, expected.scores)
    assert len(several) == 2
    assert set(load_results(measured)["job"]) == {alone.metadata["key"]}
    assert len(load_results(measured)) == 2 * 9


# keys

MULTIVERSE = ("mean", "sample")


def described(**options):
    return describe(Job("mini:digitsnet", "digits", named_options({"n": 32, "images": 64, **options})))


@pytest.mark.parametrize(
    "beside",
    [
        {"criteria": False}, {"criteria": ()}, {"positions": 2}, {"multiverse": ["mean", "sample", "mean"]},
    ],
    ids=str,
)  # fmt: skip
def test_the_key_of_a_multiverse_depends_on_nothing_that_it_varies(beside):
    expected = described(multiverse=MULTIVERSE)
    found = described(**{"multiverse": MULTIVERSE, **beside})
    assert found.key == expected.key
    assert found.file_name == expected.file_name
    assert found.file_name[:-17] == "mini_digitsnet-DEFAULT-digits-n32-multiverse+mean+sample-images64"


def test_a_multiverse_is_one_job_and_takes_no_reductions_and_orders_beside_it():
    options = Options(n=32, images=64, multiverse=MULTIVERSE)
    (job,) = plan("mini:digitsnet", "digits", options)
    for ways, name in (((["mean", "sum"], "activate-first"), "reduction"), (("mean", ["reduce-first"]), "order")):
        with pytest.raises(AffscoreError, match=f"omit {name}"):
            plan("mini:digitsnet", "digits", options, *ways)
    assert str(job) == "mini:digitsnet on digits (n=32, multiverse of mean, sample)"


# results out of a store

OURS = {**OPTIONS, "threads": 1, "multiverse": ["mean", "sample"]}


def test_what_is_missing_is_measured_and_what_is_there_is_taken(measured, store):
    before = {path.name: path.stat().st_mtime_ns for path in Store(store).files()}
    found = load_or_measure(["mini:digitsnet"], "digits", store, **OURS)
    assert found == {"mini:digitsnet": stored_multiverses(measured)[0]}
    assert {path.name: path.stat().st_mtime_ns for path in Store(store).files()} == before
    fewer = load_or_measure(["mini:digitsnet"], "digits", store, **{**OURS, "multiverse": "sample"})
    assert fewer == {"mini:digitsnet": stored_multiverses(measured)[0].narrowed(["sample"])}  # one with more serves
    assert {choice.reduction for choice in fewer["mini:digitsnet"].choices} == {"sample"}
    more = load_or_measure(["mini:digitsnet"], "digits", store, **{**OURS, "multiverse": ["sample", "sum"]})
    assert len(Store(store).files()) == len(before) + 1
    assert {choice.reduction for choice in more["mini:digitsnet"].choices} == {"sample", "sum"}


def test_multiverses_of_a_further_store_count_where_they_are_wanted(measured, tmp_path):
    found = load_or_measure(["mini:digitsnet"], "digits", tmp_path / "own", also=[measured], **OURS)
    assert found == {"mini:digitsnet": stored_multiverses(measured)[0]}
    assert Store(tmp_path / "own").files() == []
    for number, options in enumerate(({"also": [measured], "seed": 1}, {}), 1):
        load_or_measure(["mini:digitsnet"], "digits", tmp_path / "own", **OURS, **options)
        assert len(Store(tmp_path / "own").files()) == number
