"""Without the package that a callback is for, a sentence says how to get it; affscore itself does without."""

import sys

import pytest

from affscore import AffscoreError


@pytest.mark.parametrize(
    ("name", "module", "package", "extra"),
    [("LightningTracker", "of_lightning", "lightning.pytorch", "lightning"),
     ("TrainerTracker", "of_transformers", "transformers", "transformers")],
)  # fmt: skip
def test_the_message_names_the_extra(name, module, package, extra, monkeypatch):
    monkeypatch.delitem(sys.modules, f"affscore.callbacks.{module}", raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    import affscore.callbacks

    with pytest.raises(AffscoreError, match=rf'{name} needs the package {package}.*pip install "affscore\[{extra}\]"'):
        getattr(affscore.callbacks, name)
    assert name in dir(affscore.callbacks)
