"""affscore compare, in this process."""

import re

import pandas as pd
import pytest

import affscore

QUICK = ["--n", "32", "--images", "32"]
MINI = "mini:digitsnet"


@pytest.mark.slow
def test_two_networks(run, tmp_path):
    files = ["--out", tmp_path / "two.png", "--csv", tmp_path / "two.csv"]
    code, out, err = run("compare", MINI, f"{MINI}@random", *QUICK, *files)
    assert code == 0, err
    assert "DTW distances" in out
    table = pd.read_csv(tmp_path / "two.csv", index_col="name")
    wanted = affscore.compare(MINI, f"{MINI}@random", n=32, images=32, criteria=False)
    assert table["mean"].tolist() == pytest.approx(wanted.statistics["mean"].tolist())
    assert (tmp_path / "two.png").stat().st_size > 10_000
    written = [line for line in err.splitlines() if not line.startswith("note: ")]
    assert written == [f"written to {tmp_path / name}" for name in ("two.png", "two.csv")]


def test_several_networks_are_compared_by_pairs_within_80_columns(run):
    code, out, err = run("compare", MINI, f"{MINI}@random", "mini:resnet18", *QUICK)
    assert code == 0, err
    two = affscore.compare(MINI, "mini:resnet18", data="digits", n=32, images=32, criteria=False)
    assert out.splitlines()[7].split()[-1] == f"{two.distances.iloc[0, 1]:.3f}"
    pairs = out.partition("intervals over images\n")[2].partition("warning: ")[0].splitlines()
    assert max(map(len, pairs)) <= 80
    assert sum(" - mini:" in line for line in pairs) == 3


def test_one_result_is_described_and_drawn(run, tmp_path):
    code, out, err = run("compare", MINI, *QUICK, "--out", tmp_path / "one.svg")
    assert code == 0, err
    assert out.splitlines()[1].split()[:2] == [MINI, "9"]
    assert "DTW" not in out
    assert "affinity score" in (tmp_path / "one.svg").read_text()


def test_two_data_sets_with_names_of_ones_own(run):
    code, out, err = run("compare", MINI, "--datasets", "digits,random", "--name", "seen", "--name", "noise", *QUICK)
    assert code == 0, err
    assert [line.split()[0] for line in out.splitlines()[1:3]] == ["seen", "noise"]
    assert len(re.findall(r"^note: ", err, re.MULTILINE)) == 1


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([MINI, "missing.parquet"], "file not found: 'missing.parquet'"),
        ([MINI, MINI, "--out", "x.jpg"], "must end in .png or .svg or .pdf"),
        ([MINI, "net.py"], "'net.py' is a file: name the function in it that returns the network, net.py:FUNCTION"),
    ],
)
def test_mistakes_are_one_sentence(run, words, complaint):
    code, out, err = run("compare", *words, *QUICK)
    assert (code, out) == (1, "")
    assert complaint in err
    assert err.count("\n") == 1
