"""What the profile of the papers will need, and what the page on running the book says of it."""

import json
from pathlib import Path

import pytest
import torchvision
from estimate_paper_profile import BENCHMARK, PROFILE, estimate
from notebook_files import read_profile

PAGE = (Path(__file__).resolve().parents[2] / "book" / "how_to_run_with_your_model.md").read_text()
MACHINE = {"cores": 4, "processor": "P", "gpu": None}


def test_the_page_shows_what_the_command_prints():
    assert str(estimate(read_profile(PROFILE), json.loads(BENCHMARK.read_text()))) in PAGE


def test_one_network_by_hand():
    rows = [{"model": "resnet18", "n": 512, "criteria": {"best": 20.0}}]
    profile = {"models": ["resnet18@IMAGENET1K_V1"], "model": "resnet18@DEFAULT", "images": 1100, "n": 512}
    found = estimate(profile, {"machine": MACHINE, "rows": rows})
    assert (found.networks, found.images) == (1, 1024)
    assert found.days == pytest.approx((40 / 86_400, 40 / 86_400))
    assert found.weights_gb == pytest.approx(44.661 * 2**20 / 1e9, rel=1e-3)
    assert "4 cores" in str(found)


def test_a_network_whose_printed_numbers_are_of_another_reduction_is_counted_twice():
    rows = [{"model": "resnet18", "n": 512, "criteria": {"best": 20.0}}]
    gflops = {name: torchvision.models.get_model_weights(name).DEFAULT.meta["_ops"] for name in ("resnet18", "swin_t")}
    models = ["resnet18@DEFAULT", "swin_t@DEFAULT"]
    profile = {"models": models, "model": "resnet18@DEFAULT", "images": 512, "n": 512}
    found = estimate(profile, {"machine": MACHINE, "rows": rows})
    assert (found.networks, found.twice) == (2, 1)
    assert found.multiply_adds == pytest.approx((gflops["resnet18"] + 2 * gflops["swin_t"]) * 512e9)
    assert found.weights_gb < 0.2  # their files are there once


def test_a_slower_network_of_the_benchmark_makes_a_range():
    rows = [{"model": name, "n": 512, "criteria": {"best": 20.0}} for name in ("resnet18", "resnet50")]
    profile = {"models": ["resnet18@DEFAULT"], "model": "resnet18@DEFAULT", "images": 512, "n": 512}
    least, most = estimate(profile, {"machine": MACHINE, "rows": rows}).days
    assert least < most == pytest.approx(20 / 86_400)
