"""Notes and warnings of a result: where they are seen."""

import copy
import json
import pickle
import warnings
from dataclasses import replace

import pytest

import affscore
from affscore import AffscoreWarning
from affscore.network.notes import Note
from affscore.network.result import load_signature
from affscore.network.signature import signatures
from affscore.options import Options
from affscore.survey.job import Job
from affscore.survey.survey import Report
from affscore.survey.work import Outcome

QUICK = {"n": 32, "images": 32, "criteria": False, "progress": False}
NOTES = [
    Note("the last 3 images were dropped"),
    Note("the scores are too high", "warning", 0.1),
    Note("the images are wrong", "warning"),
]


@pytest.fixture(autouse=True)
def warned(monkeypatch):
    """Every signature has these notes."""

    def made(subject):
        return [replace(one, notes=NOTES) for one in signatures(subject)]

    monkeypatch.setattr("affscore.network.signature.signatures", made)


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


def about(notes):
    return [(str(note), note.kind, note.value) for note in notes]


def test_a_file_keeps_notes_and_warnings(tmp_path):
    result, _ = given(lambda: affscore.signature("mini:digitsnet", "digits", **QUICK))
    again, found = given(lambda: load_signature(result.save(tmp_path / "x.parquet")))
    assert about(again.notes) == about(NOTES)
    assert repr(again) == repr(result)
    assert found == []


def test_the_report_of_a_survey_shows_them():
    outcome = Outcome(0, "measured", notes=tuple(NOTES))
    job = Job("a", "digits", Options())
    assert str(Report(((job, outcome),))).splitlines()[1:] == [": ".join(pair) for pair in _pairs()]
    two = str(Report(((job, outcome), (job, replace(outcome, number=1)))))
    assert "warning on jobs 0, 1: the images are wrong" in two
    assert "note on jobs 0, 1: the last 3 images were dropped" in two


def _pairs():
    return [("warning", "the scores are too high"), ("warning", "the images are wrong"), ("note", NOTES[0])]


def test_a_note_is_a_text_that_stays_what_it_is():
    for note in NOTES:
        assert isinstance(note, str)
        copies = [copy.deepcopy(note), pickle.loads(pickle.dumps(note)), Note.of(json.loads(json.dumps(note.stored())))]
        assert about(copies) == about([note] * 3)


def test_files_of_version_1_said_it_in_the_text():
    old = [Note.of(text) for text in ("warning: the scores are too high", "an image was dropped", "warning")]
    assert [note.kind for note in old] == ["warning", "note", "note"]
    assert old[0] == "the scores are too high"
