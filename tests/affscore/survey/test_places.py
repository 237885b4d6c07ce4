"""Stores that may only be read."""

import os

from affscore import load_results
from affscore.options import Options
from affscore.survey import survey
from affscore.survey.plan import plan
from affscore.survey.report import listing

OPTIONS = {"n": 8, "images": 8, "criteria": False, "progress": False}


def test_a_store_that_may_only_be_read_is_read(tmp_path, monkeypatch):
    """Everything is allowed to the superuser, who may run the tests; so the system's answer is given here."""
    assert survey("mini:digitsnet", "digits", tmp_path, **OPTIONS).complete
    (tmp_path / ".affscore" / "0123456789abcdef").mkdir(parents=True)  # as older versions left it
    opened = os.open

    def read_only(path, flags, *args, **kwargs):
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise OSError(30, "Read-only file system")
        return opened(path, flags, *args, **kwargs)

    monkeypatch.setattr(os, "open", read_only)
    assert len(load_results(tmp_path)) == 9
    asked = plan("mini:digitsnet", "digits", Options(n=8, images=8, criteria=()))
    assert listing(asked, tmp_path)[0].endswith(": done")
    assert str(survey("mini:digitsnet", "digits", tmp_path, **OPTIONS)).startswith("1 job: 1 already there")
