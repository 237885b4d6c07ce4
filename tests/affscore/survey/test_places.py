"""Names that are not UTF-8, and stores that may only be read."""

import os

import pytest

from affscore import AffscoreError, compare, load_results, signature
from affscore.options import Options
from affscore.survey import Store, survey
from affscore.survey.plan import plan
from affscore.survey.report import listing

OPTIONS = {"n": 8, "images": 8, "criteria": False, "progress": False}
BAD = "n\udcffet"  # how Python reads the bytes 6e ff 65 74


@pytest.mark.parametrize("name", [BAD, "a\0b"])
def test_places_and_labels_that_are_not_utf_8(tmp_path, run, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    measured = signature("mini:digitsnet", "digits", **OPTIONS)
    calls = [
        lambda: measured.save(f"{name}.parquet"),
        lambda: Store(name, create=True),
        lambda: compare("mini:digitsnet", "mini:digitsnet@random", names=[name, "b"], **OPTIONS),
        lambda: signature("mini:digitsnet", "digits", data_name=name, **OPTIONS),
    ]
    for call in calls:
        with pytest.raises(AffscoreError, match="is not UTF-8"):
            call()
    code, out, err = run("signature", "mini:digitsnet", "--n", 8, "--images", 8, "--out", f"{BAD}.parquet")
    assert (code, out) == (1, "")
    assert "is not UTF-8" in err
    assert not list(tmp_path.iterdir())


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
