"""``python -m companion.ledger``, in this process."""

import re
import shlex
import sys

import pandas as pd
import pytest
import torchvision
import typer

from affscore.cli import app, main
from companion import all_results, ledger, specifications
from companion.claims import WORDS, all_claims
from companion.ledger import COLUMNS, Ledger
from companion.printed import VERDICTS, WAYS, printed_table
from companion.results import MATERIAL
from companion.shipped import MULTIVERSES, RESULTS
from companion.studies.plans import STUDIES_OF_PAPERS
from tests.synthetic_signatures import synthetic, with_sums


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """None of the package's many results: tests/companion/claims has these."""
    monkeypatch.setattr(all_results, "hard_task", lambda: None)
    monkeypatch.setattr(all_results, "load_studies", dict)
    stored = all_results.stored_signatures

    def of_a_reader(path, **more):
        return [] if path == RESULTS else stored(path, **more)

    monkeypatch.setattr(all_results, "stored_signatures", of_a_reader)


@pytest.fixture
def run(monkeypatch, capsys):
    """The command in this process: exit status, stdout and stderr."""

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["ledger", *map(str, words)])
        with pytest.raises(SystemExit) as caught:
            main(ledger.app)
        captured = capsys.readouterr()
        return caught.value.code or 0, captured.out, captured.err

    return call


@pytest.fixture(scope="module")
def rows():
    """The ledger without any results."""
    return Ledger(all_results.AllResults([])).rows


@pytest.fixture
def own_results(tmp_path):
    """The store of a reader who measured AlexNet on ImageNet; the scores of 30 batches lie 0.0005 apart."""
    store = tmp_path / "results"
    store.mkdir()
    signature = synthetic([0.5, 0.6, 0.7, 0.8, 0.75], "alexnet", noise=0.0005, batches=30, images=49_664)
    signature.save(store / "alexnet-IMAGENET1K_V1-imagenet-n512-mean-0123456789abcdef.parquet")
    return store


def test_the_ledger_the_claims_and_the_counts(run, tmp_path, rows):
    files = [tmp_path / "ledger.csv", tmp_path / "claims.csv"]
    code, out, err = run("--csv", files[0], "--claims", files[1])
    assert (code, err) == (0, "".join(f"written to {file}\n" for file in files))
    table = pd.read_csv(files[0], dtype={"published": str})
    assert tuple(table.columns) == COLUMNS
    assert table["published"].tolist() == [row.printed.text for row in rows]
    assert table["verdict"].str.startswith(VERDICTS).all()
    headline, *lines = out.splitlines()
    totals = [list(map(int, line.split()[-len(VERDICTS) - 1 :])) for line in lines if " all " in line]
    assert len(totals) == len(WAYS)
    assert sum(one[-1] for one in totals) == len(rows) == sum(sum(one[:-1]) for one in totals)
    assert f"looked up: {totals[-1][0]} reproduced, " in headline
    claims = pd.read_csv(files[1])
    assert set(claims["claim"]) == {claim.text for claim in all_claims()}
    for line, material in zip(lines[-len(MATERIAL) :], MATERIAL, strict=True):
        counts = claims.loc[claims["material"] == material, "verdict"].value_counts()
        told = [f"{counts.get(one, 0)} {one}" for one in WORDS]
        assert line == f"claims in words, tested on {material}: {', '.join(told)}"
    assert out.startswith(run()[1])  # the counts without a file, too


def test_own_results_give_verdicts(run, tmp_path, own_results):
    code, _, err = run("--csv", tmp_path / "ledger.csv", "--results", own_results)
    assert code == 0, err
    table = pd.read_csv(tmp_path / "ledger.csv").set_index("item")
    spread = table.loc["alexnet: standard deviation of the scores over batches"]
    assert spread["ours"] == pytest.approx(0.0005 * (30 * 31 / 12) ** 0.5, abs=1e-5)
    assert spread["verdict"].startswith("reproduced (within ")
    assert "results in results: 1 of 1 are the papers' measurement\n" in err


@pytest.mark.slow
def test_the_claims_are_asked_again_of_all_multiverses(run, tmp_path, own_results, monkeypatch):
    def after(reduction, order, covariance, coupling):
        return 0.2 if order == "reduce-first" else 0.9

    networks = [with_sums(model, after) for model in ("mini:resnet18", "mini:resnet34", "mini:resnet50")]
    for place, one in enumerate(networks):
        one.signature().save(own_results / f"{one.metadata['model'][5:]}-DEFAULT-digits-n512-mean-{place}.parquet")
    stores = {MULTIVERSES: networks[:1], own_results: networks[1:]}
    monkeypatch.setattr(specifications, "stored_multiverses", lambda path: stores[path])
    file, claims = tmp_path / "specifications.csv", tmp_path / "claims.csv"
    code, out, err = run("--specifications", file, "--claims", claims, "--results", own_results)
    assert code == 0, err
    (row,) = pd.read_csv(file).query("claim == 'after-sums-more-linear'").to_dict("records")
    assert row.pop("n") == 3
    words = {("reduce-first" in name, word) for name, word in row.items() if "-first" in name}
    assert words == {(False, "holds"), (True, "does not hold")}
    assert f"written to {file}\n" in err
    rows = pd.read_csv(claims).set_index(["source", "on"])["specifications"]
    assert "holds in 8 of 12, fails in 4" in set(rows)
    again, depends = map(int, re.findall(r"asked for again: (\d+), of which (\d+) depends", out)[0])
    assert 1 <= depends <= again


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--claims", "missing/claims.csv"], "there is no folder"),
        (["--specifications", "claims.parquet"], "must end in .csv"),
        (["--results", "missing"], "the store 'missing' cannot be read"),
    ],
)
def test_mistakes_are_one_sentence(run, words, complaint):
    code, out, err = run(*words)
    assert (code, out) == (1, "")
    assert complaint in err
    assert err.count("\n") == 1


def test_every_command_can_be_given_as_it_is_written(rows):
    """Each is read by the command's own parser, and names networks and weights that torchvision has."""
    group = typer.main.get_command(app)
    networks = set(torchvision.models.list_models(module=torchvision.models))
    checkpoints = {f"checkpoints/{name}.pth" for name in printed_table("figure16_checkpoints").index}
    commands = {row.command for row in rows} - {""}
    assert len(commands) > 40
    for command in commands:
        if command.startswith("#"):
            assert command.startswith("# none: ")
            continue
        *surveys, last = command.split(" && ")
        assert last == "python -m companion.ledger --results results"
        for part in surveys:
            program, name, *words = shlex.split(part)
            if program == "python":
                assert name == "-m"
                assert words in [
                    ["companion.studies", "--only", one, "--out", "results/studies"] for one in STUDIES_OF_PAPERS
                ]
                continue
            assert (program, name) == ("affscore", "survey")
            found = group.commands[name].make_context(name, words).params
            assert str(found["store"]) == "results"
            for spec in ",".join(found["models"]).split(","):
                model, _, weights = spec.partition("@")
                assert model in networks
                assert not weights or weights in checkpoints
            datasets = ",".join(found["datasets"]).split(",")
            assert set(datasets) <= {"imagenet:data/imagenet", "cifar10", "cifar100", "random"}
            assert ("random" in datasets) == (found["images"] is not None)
