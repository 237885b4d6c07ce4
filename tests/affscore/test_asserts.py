"""``python -O`` drops every assert: none has an effect, and none stands between a user and a wrong number."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import affscore
import companion
from affscore import AffscoreError, load_data
from affscore.models import TextPreprocessing
from affscore.nonlinear_advantage import ChannelGELU

PACKAGE = Path(affscore.__file__).parent
ASSERTS = [
    pytest.param(node.test, id=f"{path.relative_to(path.parents[2])}:{node.lineno}")
    for path in sorted([*PACKAGE.rglob("*.py"), *Path(companion.__file__).parent.rglob("*.py")])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    if isinstance(node, ast.Assert)
]


@pytest.mark.parametrize("test", ASSERTS)
def test_an_assert_does_no_more_than_to_say_a_type(test):
    """Nothing is called but ``isinstance``, and nothing is bound."""
    called = [node.func for node in ast.walk(test) if isinstance(node, ast.Call)]
    assert [ast.unparse(function) for function in called] in ([], ["isinstance"])
    assert not any(isinstance(node, ast.NamedExpr | ast.Await | ast.Yield) for node in ast.walk(test))


def test_what_an_assert_guarded_is_an_error_of_its_own():
    with pytest.raises(AffscoreError, match="random token ids need the size of the vocabulary"):
        load_data("random", TextPreprocessing())
    with pytest.raises(AffscoreError, match="a ChannelGELU needs the activation"):
        ChannelGELU(2, -1)(torch.zeros(1, 2))
    with pytest.raises(AffscoreError, match="need positions="):
        affscore.network.reduce(torch.zeros(2, 3, 4), 2, 1, "sample")


WITHOUT_ASSERTS = """
import importlib.machinery, pandas, pyarrow, scipy, torch, torchvision  # with their asserts: to compile them takes long
def get_code(loader, name):
    return compile(loader.get_data(loader.path), loader.path, "exec", dont_inherit=True, optimize=1)
importlib.machinery.SourceFileLoader.get_code = get_code
"""


@pytest.mark.slow
def test_a_signature_is_the_same_without_asserts():
    code = """
import torch, affscore
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 1), nn.Sigmoid())
x = torch.randn(24, 3, 6, 6)
for name in ("mean", "sample"):
    table = affscore.signature(net, x, n=12, criteria="all", reduction=name, progress=False).table
    print(table.drop(columns="seconds", errors="ignore").to_csv())
"""
    run = {"capture_output": True, "text": True, "check": True}
    plain, optimised = (
        subprocess.run([sys.executable, "-c", before + code], **run) for before in ("", WITHOUT_ASSERTS)
    )
    assert plain.stdout.count("relu") == 4
    assert plain.stdout == optimised.stdout
