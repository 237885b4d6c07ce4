import sys

import pytest
import torch
from hypothesis import HealthCheck, settings

from affscore import cli

# The same examples in every run: a red test stays red until somebody repairs something.
settings.register_profile(
    "deterministic",
    derandomize=True,
    deadline=None,
    max_examples=50,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("deterministic")

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


@pytest.fixture(params=DEVICES)
def device(request):
    """Every device that this machine has, one after the other."""
    return torch.device(request.param)


@pytest.fixture
def run(monkeypatch, capsys):
    """The command in this process: exit status, stdout and stderr."""

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["affscore", *map(str, words)])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        captured = capsys.readouterr()
        return caught.value.code or 0, captured.out, captured.err

    return call
