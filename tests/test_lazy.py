"""The names that packages load when they are first used: all are there, and one does not bring the others."""

import importlib
import pkgutil
import subprocess
import sys

import pytest


@pytest.mark.parametrize("package", ["analysis"])
def test_every_name_is_found_and_hidden_by_no_module(package):
    floor = importlib.import_module(f"affscore.{package}")
    modules = {module.name for module in pkgutil.iter_modules(floor.__path__)}
    assert not modules & set(floor.__all__)
    for name in floor.__all__:
        assert getattr(floor, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        floor.nothing


@pytest.mark.slow
def test_a_trend_does_not_wait_for_others():
    code = (
        "import sys; from affscore.analysis import trend; print({'sklearn', 'matplotlib', 'torch'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
