"""What is imported only when it is used."""

import subprocess
import sys

import pytest

SLOW = "torchvision sklearn matplotlib timm transformers torch._dynamo sympy joblib".split()


def imported_after(code):
    code += f"\nimport sys; print(*[name for name in {SLOW} if name in sys.modules])"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.slow
def test_a_network_and_a_tensor_need_neither_torchvision_nor_other_slow_imports():
    code = """
import torch
from torch import nn
import affscore
network = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 1), nn.Sigmoid())
result = affscore.signature(network, torch.randn(24, 3, 6, 6), n=12, progress=False)
assert len(result.scores) == 2 and result.metadata["versions"]["torchvision"]
"""
    assert imported_after(code) == []


@pytest.mark.slow
def test_the_slow_imports_are_noticed():
    assert imported_after("import affscore; affscore.load_model('resnet18@random')")[:1] == ["torchvision"]


@pytest.mark.slow
def test_one_signature_takes_fifty_modules():
    code = """
import sys, affscore
affscore.signature("mini:digitsnet", "digits", criteria=False, progress=False)
assert len([name for name in sys.modules if name.partition(".")[0] == "affscore"]) <= 50
"""
    imported_after(code)
