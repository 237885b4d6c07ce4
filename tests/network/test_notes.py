"""Notes and warnings of a result: where they are seen."""

import warnings
from dataclasses import replace

import pytest

import affscore
from affscore import AffscoreWarning
from affscore.network.measurement import Measurement
from affscore.network.notes import as_warning, give_warnings, lines, note_on
from affscore.network.result import load_signature
from affscore.options import Options
from affscore.survey.job import Job
from affscore.survey.report import Report
from affscore.survey.work import Outcome

QUICK = {"n": 32, "images": 32, "criteria": False, "progress": False}
NOTES = ["the last 3 images were dropped", as_warning("the scores are too high"), as_warning("the images are wrong")]


@pytest.fixture(autouse=True)
def warned(monkeypatch):
    """Every signature has these notes."""
    made = Measurement.signatures
    monkeypatch.setattr(Measurement, "signatures", lambda self: [replace(one, notes=NOTES) for one in made(self)])


def given(call):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = call()
    return result, [warning for warning in found if issubclass(warning.category, AffscoreWarning)]


def test_a_signature_shows_its_notes_and_gives_its_warnings_where_it_was_called():
    result, found = given(lambda: affscore.signature("mini:digitsnet", "digits", **QUICK))
    assert [str(warning.message) for warning in found] == ["the scores are too high", "the images are wrong"]
    assert {warning.filename for warning in found} == {__file__}
    assert repr(result).splitlines()[1:] == [
        "warning: the scores are too high",
        "warning: the images are wrong",
        "1 note: .notes",
    ]


def test_a_file_keeps_notes_and_warnings_as_text(tmp_path):
    result, _ = given(lambda: affscore.signature("mini:digitsnet", "digits", **QUICK))
    again, found = given(lambda: load_signature(result.save(tmp_path / "x.parquet")))
    assert again.notes == NOTES
    assert repr(again) == repr(result)
    assert found == []


def test_a_comparison_warns_of_each_result_by_its_name():
    both, found = given(lambda: affscore.compare("mini:digitsnet", "mini:digitsnet@random", **QUICK))
    assert {warning.filename for warning in found} == {__file__}
    assert sum("the scores are too high" in str(warning.message) for warning in found) == 2
    assert {str(warning.message).partition(": ")[0] for warning in found} == set(both.signatures)
    assert repr(both).count("\nwarning: mini:digitsnet@random: ") == 2
    assert repr(both).endswith("\n3 notes: .notes")
    assert sum(note.startswith("mini:digitsnet@") for note in both.notes) == 2
    assert both.notes[0].startswith("no data were given")


def test_the_report_of_a_survey_shows_them():
    outcome = Outcome(0, "measured", notes=tuple(NOTES))
    job = Job("a", "digits", Options())
    assert str(Report(((job, outcome),))).splitlines()[1:] == [": ".join(pair) for pair in _pairs()]
    two = str(Report(((job, outcome), (job, replace(outcome, number=1)))))
    assert "warning on jobs 0, 1: the images are wrong" in two
    assert "note on jobs 0, 1: the last 3 images were dropped" in two


def _pairs():
    return [("warning", "the scores are too high"), ("warning", "the images are wrong"), ("note", NOTES[0])]


def test_warnings_come_first_and_keep_their_order():
    assert lines(NOTES) == [*(": ".join(pair) for pair in _pairs()[:2]), "1 note: .notes"]
    assert lines([NOTES[0]] * 4) == ["4 notes: .notes"]
    assert lines([]) == []
    assert note_on("a", NOTES[0]) == f"a: {NOTES[0]}"


def test_notes_alone_warn_of_nothing():
    _, found = given(lambda: give_warnings(["a note", "warning"]))
    assert found == []
