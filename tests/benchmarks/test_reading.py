"""Files of results of benchmarks: what they say comes out as a table, and what is malformed is refused."""

import json

import numpy as np
import pytest
from reading import BENCHMARKS, growth_exponents, read_benchmark, read_benchmarks

from affscore import AffscoreError
from tests.benchmark_files import MACHINE, affinity_rows, agreement_rows, multiverse_rows, signature_rows, write


def test_rows_of_the_score(tmp_path):
    found = read_benchmark(write(tmp_path, "affinity", affinity_rows()))
    assert found.name == "affinity"
    assert found.machine == MACHINE
    assert found.note == ""
    assert len(found.table) == 14
    first = found.table.iloc[0]
    assert (first["n"], first["d"]) == (128, 64)
    assert first["affscore_largest"] == pytest.approx(1.25 * first["affscore_best"])
    assert first["ratio"] == pytest.approx(first["textbook_best"] / first["affscore_best"])
    assert first["memory_mb_textbook"] == pytest.approx(1e-4 * 64**2)


def test_what_the_textbook_was_too_slow_for_is_missing(tmp_path):
    table = read_benchmark(write(tmp_path, "affinity", affinity_rows(slowest=1024))).table
    columns = ["textbook_best", "textbook_largest", "ratio", "difference", "memory_mb_textbook"]
    assert table.loc[table["d"] > 1024, columns].isna().all(axis=None)
    assert table.loc[table["d"] <= 1024, columns].notna().all(axis=None)
    never = read_benchmark(write(tmp_path, "affinity", affinity_rows(slowest=0))).table
    assert never[columns].isna().all(axis=None)
    assert never["affscore_best"].notna().all()


def test_rows_of_signatures_on_both_devices(tmp_path):
    for name, device in (("signature", "cpu"), ("gpu", "cuda")):
        table = read_benchmark(write(tmp_path, name, signature_rows(device=device))).table
        assert table["model"].tolist() == ["resnet18", "vit_b_16"]
        assert table["ratio_scores"].tolist() == [1.05, 1.06]
        assert table["memory_mb_scores"].notna().all() == (device == "cpu")


def test_rows_of_multiverses(tmp_path):
    table = read_benchmark(write(tmp_path, "multiverse", multiverse_rows())).table
    assert table["ratio_multiverse"].tolist() == [3.0, 2.5]
    assert table["spread_separate_largest"].tolist() == [6.5, 6.5]
    assert table["weights"].tolist() == ["random", "random"]


def test_a_folder_says_what_is_missing_and_what_writes_it(tmp_path):
    write(tmp_path, "agreement", agreement_rows())
    found = read_benchmarks(tmp_path)
    assert list(found) == list(BENCHMARKS)
    assert found["agreement"].note == ""
    assert found["affinity"].note == "affinity.json is missing: `python benchmarks/bench_affinity.py` writes it."
    assert "--device cuda --name gpu` writes it" in found["gpu"].note
    assert found["survey"].note == "survey.json is missing."
    assert found["affinity"].table.empty
    assert "ratio" in found["affinity"].table.columns


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        {"rows": affinity_rows()},
        {"machine": MACHINE},
        {"machine": MACHINE, "rows": []},
        {"machine": MACHINE, "rows": [1]},
        {"machine": MACHINE, "rows": [{"n": 2}]},
        {"machine": MACHINE, "rows": [*affinity_rows(), {"n": 2, "d": 2}]},
        {"machine": MACHINE, "rows": [{**affinity_rows()[0], "n": "two"}]},
        {"machine": MACHINE, "rows": [{**affinity_rows()[0], "score": [1, 2]}]},
    ],
)
def test_a_malformed_file(tmp_path, content):
    path = tmp_path / "affinity.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(AffscoreError, match=r"^affinity\.json holds no results .*bench_affinity.py` writes one"):
        read_benchmark(path)


def test_a_folder_in_the_place_of_a_file(tmp_path):
    (tmp_path / "gpu.json").mkdir()
    with pytest.raises(AffscoreError, match=r"gpu\.json holds no results") as error:
        read_benchmarks(tmp_path)
    assert str(tmp_path) not in str(error.value)


class TestGrowth:
    def table(self, tmp_path, **options):
        return read_benchmark(write(tmp_path, "affinity", affinity_rows(**options))).table

    def test_along_the_width(self, tmp_path):
        found = growth_exponents(self.table(tmp_path))
        assert found.loc[512].tolist() == pytest.approx([2, 0, 3], abs=1e-9)
        assert np.isnan(found.loc[128, "affscore, d ≤ 2n"])  # widths of 128 and 256 only
        assert found.loc[128, "affscore, d ≥ 2n"] == pytest.approx(0, abs=1e-9)

    def test_along_the_number_of_points(self, tmp_path):
        found = growth_exponents(self.table(tmp_path, samples=(64, 128, 256, 512), widths=(16, 32)), "n")
        assert found.loc[16].tolist() == pytest.approx([1, 1])

    def test_without_the_textbook(self, tmp_path):
        assert growth_exponents(self.table(tmp_path, slowest=0))["textbook"].isna().all()

    def test_of_nothing(self, tmp_path):
        assert growth_exponents(read_benchmarks(tmp_path)["affinity"].table).empty

    def test_another_direction(self, tmp_path):
        with pytest.raises(AffscoreError, match='"d" or "n"'):
            growth_exponents(self.table(tmp_path), "width")
