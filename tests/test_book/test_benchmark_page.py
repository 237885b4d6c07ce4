"""The page of the benchmarks draws the files that are there, names those that are not, and follows their changes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tests.benchmark_files import affinity_rows, multiverse_rows, penalty_rows, signature_rows, track_rows, write

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = "90_what_it_costs.ipynb"


@pytest.mark.notebook
def test_the_page_without_some_of_its_files(tmp_path: Path) -> None:
    write(tmp_path / "results", "affinity", affinity_rows())
    write(tmp_path / "results", "signature", signature_rows())
    write(tmp_path / "results", "multiverse", multiverse_rows())
    write(tmp_path / "results", "track", track_rows())
    write(tmp_path / "results", "penalty", penalty_rows())
    command = [sys.executable, "-m", "papermill", PAGE, str(tmp_path / PAGE), "--no-progress-bar"]
    parameters = ["-p", "results", str(tmp_path / "results")]
    subprocess.run([*command, *parameters], cwd=REPOSITORY / "notebooks", capture_output=True, check=True)
    outputs = [
        output for cell in nbformat.read(tmp_path / PAGE, 4).cells for output in cell.get("outputs", []) if output
    ]
    figures = [output for output in outputs if "image/png" in output.get("data", {})]
    assert len(figures) == 4  # none for the file that is missing
    text = "\n".join(
        output.get("text", "") + str(output.get("data", {}).get("text/markdown", "")) for output in outputs
    )
    assert text.count("agreement.json is missing: `python benchmarks/check_real_networks.py` writes it.") == 3
    assert text.count(" penalty_gpu.json is missing") == 1
    assert text.count(" gpu.json is missing") == 1  # in the list of files; no empty figure says it again
    assert "On a GPU" not in text
    assert "affinity.json" not in text
    assert "signature.json" not in text
    assert "10 pairs, largest difference 1.0e-12" in text
    assert "Both aims of the figure are met by: resnet18." in text  # 1.05 and 1.20; nothing is aimed at for vit_b_16
    assert "One of them or both are missed by: none." in text
    assert "A multiverse costs **2.5 to 3.0 signatures**, where 6 separate ones cost 6.2 to 6.2." in text
    assert "The aim of at most 4 is met by all." in text
    assert "For ResNet-18 the overhead is **1.2 % of the training**. The aim of at most 3 % is met." in text
    assert "A step of ResNet-18 takes **1.20 times** as long with the penalty. The aim is met." in text


def test_make_draws_the_page_again_when_a_result_has_changed() -> None:
    results = sorted((REPOSITORY / "benchmarks" / "results").glob("*.json"))
    assert results
    rules = subprocess.run(["make", "-pn", "help"], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    (page,) = [line for line in rules.splitlines() if line.startswith(f"_build/executed/mini/notebooks/{PAGE}:")]
    for result in results:
        assert f" benchmarks/results/{result.name}" in page
