"""The results that the repository holds can be read, keep what they promise, and name no machine's folders."""

import csv
import re
from pathlib import Path

import pytest
from measuring import read

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"
LIBRARIES = ("timm", "transformers")
FILES = sorted(RESULTS.glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file(path):
    assert len(read(path))
    assert not re.search(r"(/[\w.-]+){2}|[A-Z]:\\|~/", path.read_text()), "a path of a machine"


def test_no_score_differs_from_the_textbook():
    agreement = read(RESULTS / "agreement.json")
    assert agreement["largest_difference"].max() < 1e-4
    assert agreement["compared"].sum() > 80  # three networks of 26 to 35 activations
    assert not read(RESULTS / "affinity.json")["difference"].gt(1e-4).any()


def test_a_multiverse_costs_what_is_promised():
    found = read(RESULTS / "multiverse.json")
    assert set(found["model"]) == {"mini:resnet18", "mini:vit_b_16", "mobilenet_v2", "resnet18"}
    assert (found["n"] == 512).all()
    assert (found["ratio_multiverse"] <= 4).all()
    assert (found["ratio_multiverse"] < found["ratio_separate"]).all()


def test_a_tracker_and_a_penalty_cost_what_is_promised():
    found = read(RESULTS / "track.json").set_index("model")
    row = found.loc["resnet18"]
    assert row[["n", "batch_size", "every", "activations", "steps_runs"]].tolist() == [256, 64, 100, 17, 9]
    assert row["overhead"] <= 0.03
    assert found.loc["mini:resnet18", "counted"] == 500
    row = read(RESULTS / "penalty.json").set_index("model").loc["resnet18"]
    assert row[["batch_size", "size", "activations"]].tolist() == [128, 224, 17]
    assert row["ratio_penalised"] <= 1.5


def test_the_line_is_as_fast_and_the_memory_as_small_as_is_promised():
    found = read(RESULTS / "linear_regions.json")
    row = found[(found["dataset"] == "digits") & (found["batch_size"] == 1)].iloc[0]
    assert row["ratio_walk"] >= 10
    assert row["passes_a_step"] <= 3
    assert (found["ratio_walk"] > 2).all()
    ((few, _, many),) = found[["memory_mb_32", "memory_mb_128", "memory_mb_512"]].dropna().to_numpy()
    assert few < many / 3
    peaks = read(RESULTS / "memory.json").set_index(["how", "n"])["memory_mb"]
    assert peaks["signature", 512] < peaks["keeping", 16] / 3  # of a few images that are kept


def test_the_sweep_says_why_where_it_does_not_agree():
    with (RESULTS / "sweep.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    agree = {library: sum(r["library"] == library and r["agreement"] == "yes" for r in rows) for library in LIBRARIES}
    assert agree["timm"] >= 85
    assert agree["transformers"] >= 300
    assert all(row["note"] for row in rows if row["agreement"] != "yes")
    notes = " ".join(row["note"] + row["affscore_notes"] for row in rows)
    assert not re.search(r"(?<![:/.\w])(/[\w.-]+){2}|[A-Z]:\\|~/", notes), "a path of a machine"
