import importlib
import os
import re
import subprocess
import sys
import urllib.error

import numpy as np
import pytest
import torch
from PIL import Image

import affscore
from affscore import signature
from affscore.network.criteria import CRITERIA
from affscore.network.result import load_signature

QUICK = ["--n", "32", "--images", "32", "--criteria", "none"]


def in_a_process(*words, cwd=None):
    code = "from affscore.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=cwd,
    )


@pytest.mark.slow
def test_signature_prints_a_line_for_every_activation_and_writes_the_file(tmp_path):
    out = tmp_path / "result.parquet"
    done = in_a_process(
        "signature", "mini:digitsnet", "--n", "64", "--images", "128", "--criteria", "none", "--out", out, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["layer", "call", "activation", "kind", "depth", "width", "score", "score_std"]
    rows = [line.split() for line in lines[2:11]]
    assert [row[1] for row in rows][:3] == ["stem.2", "blocks.0.relu", "blocks.0.relu"]
    assert lines[11].startswith("Signature of mini:digitsnet (DEFAULT) on digits: 9 activations, 2 x 64 images")
    assert "written to" in done.stderr
    result = load_signature(out)
    np.testing.assert_allclose([float(row[-2]) for row in rows], result.scores, atol=5.1e-5)
    np.testing.assert_allclose([float(row[-1]) for row in rows], result.summary["score_std"], atol=5.1e-5)
    assert [entry.name for entry in tmp_path.iterdir()] == ["result.parquet"]


def test_the_command_gives_what_the_function_gives(run, tmp_path):
    out = tmp_path / "x.parquet"
    options = "--reduction sample --covariance empirical --seed 3 --batch-size 7 --device cpu".split()
    code, _, _ = run("signature", "mini:digitsnet@random", "--dataset", "digits", *QUICK, *options, "--out", out)
    assert code == 0
    expected = signature(
        "mini:digitsnet@random", "digits", n=32, images=32, criteria=False, reduction="sample", covariance="empirical",
        seed=3, batch_size=7, device="cpu",
    )  # fmt: skip
    found = load_signature(out)
    np.testing.assert_allclose(found.scores, expected.scores, atol=1e-6)
    for key in ("model", "weights", "dataset", "reduction", "order", "covariance", "n", "images", "seed", "batch_size"):
        assert found.metadata[key] == expected.metadata[key]


def test_criteria_by_name(run, tmp_path):
    found = {}
    for names in ("cka,nlc", "all"):
        out = tmp_path / "result.parquet"
        words = ["--n", 32, "--images", 32, "--criteria", names, "--out", out]
        code, shown, _ = run("signature", "mini:digitsnet", *words)
        assert (code, "nlc" in shown) == (0, True)
        found[names] = load_signature(out).metadata["criteria"]
    assert found == {"cka,nlc": ["cka", "nlc"], "all": list(CRITERIA)}
    for names, wrong in (("ckb", "ckb"), ("cka,none", "none")):
        code, out, err = run("signature", "mini:digitsnet", "--n", 32, "--images", 32, "--criteria", names)
        assert code > 0
        assert re.search(f"criteria must be .* got '{wrong}'", err)


def test_blocks_have_the_best_affine_map_beside_their_score(run):
    _, shown, _ = run("signature", "mini:digitsnet", "--units", "blocks", "--n", 64, "--images", 64)
    lines = shown.splitlines()
    assert lines[0].split() == [
        "layer", "call", "activation", "kind", "depth", "width", "score", "score_std", "affine_fit", "flag"
    ]  # fmt: skip
    assert {"network", "residual", "normalisation", "linear", "activation"} <= {line.split()[4] for line in lines[2:39]}


def test_notes_warnings_and_the_accuracy_are_said(run):
    code, out, err = run("signature", "mini:digitsnet", "--n", "20", "--images", "30", "--criteria", "none")
    assert code == 0
    assert re.search(r"mean 0\.\d\d, accuracy (0\.9\d\d|1\.000)\n$", out)
    assert re.search(r"^note: the last 10 images were dropped", err, re.MULTILINE)
    assert err.count("warning: 20 images in a batch are few") == 1
    assert "UserWarning" not in err + out
    assert "AffscoreWarning" not in err + out


def test_the_command_in_the_file_has_base_names_only(run, tmp_path):
    folder = tmp_path / "secret"
    folder.mkdir()
    model = affscore.load_model("mini:digitsnet@random")
    torch.save(model.state_dict(), folder / "w.pth")
    out = folder / "x.parquet"
    code, _, err = run("signature", f"mini:digitsnet@{folder / 'w.pth'}", *QUICK, f"--out={out}")
    assert code == 0, err
    metadata = load_signature(out).metadata
    words = f"affscore signature mini:digitsnet@w.pth {' '.join(QUICK)} --out=x.parquet"
    assert metadata["command"] == words
    assert b"secret" not in out.read_bytes()


NAN_FILE = """
import torch
from torch import nn

def make():
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU())
    nn.init.constant_(net[0].weight, {value})
    return net
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Files that are not what they should be; no network; the working folder is their folder."""

    def unreachable(*args, **kwargs):
        raise urllib.error.URLError("Name or service not known")

    monkeypatch.setattr(torch.hub, "download_url_to_file", unreachable)
    monkeypatch.setattr("torchvision.datasets.utils._urlretrieve", unreachable)
    monkeypatch.setenv("AFFSCORE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nan.py").write_text(NAN_FILE.format(value="float('nan')"))
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    for index in range(2):
        (tmp_path / "broken" / f"{index}.png").write_bytes(b"no picture")
    return tmp_path


BAD = {
    "NaN": (["nan.py:make", "--dataset", "random"], "relu of layer '1' .* NaN or infinite"),
    "unknown model": (["resnet17"], "unknown model 'resnet17'; did you mean"),
    "broken pictures": (["mini:digitsnet", "--dataset", "folder:broken"], "is not a readable image"),
    "no network for weights": (["resnet18"], "could not be downloaded"),
}


@pytest.mark.parametrize(("words", "message"), BAD.values(), ids=BAD)
def test_bad_input_gives_one_sentence_and_no_file(words, message, files, run):
    before = torch.hub.get_dir()
    options = [] if "--n" in words else ["--n", "4"]
    options += [] if "--images" in words else ["--images", "2"]
    try:
        torch.hub.set_dir(files / "hub")
        code, out, err = run("signature", *words, *options, "--out", files / "x.parquet")
    finally:
        torch.hub.set_dir(before)
    assert code == 1
    assert out == ""
    *before, error = err.splitlines()
    assert all(line.startswith("warning: the network does not say what it expects") for line in before), err
    assert re.match(f"affscore: .*{message}", error)
    assert not list(files.glob("*.parquet*")) + list(files.glob(".x.*"))


@pytest.mark.parametrize("name", ["x.jpg", "none/x.parquet", "empty"])
def test_a_place_that_cannot_be_written_is_found_out_before_anything_is_computed(name, files, run, monkeypatch):
    monkeypatch.setattr(
        importlib.import_module("affscore.network.batch"), "load_model", lambda *_: pytest.fail("work was begun")
    )
    code, out, err = run("signature", "mini:digitsnet", *QUICK, "--out", files / name)
    assert (code, out) == (1, "")
    assert len(err.splitlines()) == 1
    assert err.startswith("affscore: ")


def test_output_that_nobody_reads_any_more_is_no_fault_of_a_network():
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-c", "from affscore.cli import main; main()", "--version"]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize(
    ("words", "message"),
    [(["mini:digitsnet", "--samples", "3"], "no such option"), ([], "missing argument 'MODEL[@WEIGHTS]'")],
)
def test_words_that_make_no_sense_are_one_sentence(run, words, message):
    code, out, err = run("signature", *words)
    assert code == 2
    assert err.startswith(f"affscore: {message}")
    assert len(err.splitlines()) == 1
    assert out == ""


def test_help_and_version(run):
    code, out, _ = run("--version")
    assert (code, out.strip()) == (0, f"affscore {affscore.__version__}")
    code, out, _ = run("signature", "--help")
    assert code == 0
    assert {"--dataset", "--n", "--images", "--reduction", "--criteria", "--device", "--out"} <= {*out.split()}


def test_the_size_and_a_warning_before_the_run(run, tmp_path):
    (tmp_path / "net.py").write_text(NAN_FILE.format(value="0.1"))
    for number in range(4):
        colours = np.random.default_rng(number).integers(0, 255, (40, 50, 3), dtype=np.uint8)
        Image.fromarray(colours).save(tmp_path / f"{number}.png")
    words = ["signature", f"{tmp_path}/net.py:make", "--dataset", f"folder:{tmp_path}", "--criteria", "none"]
    code, _, err = run(*words)
    first, *rest = err.splitlines()
    assert code == 0
    assert first.startswith("warning: the network does not say what it expects of images: they went in normalised as")
    assert "does not say" not in "\n".join(rest)
    code, _, err = run(*words, "--size", "32", "--out", tmp_path / "x.parquet")
    assert code == 0
    assert "warning: the network does not say" not in err
    assert load_signature(tmp_path / "x.parquet").metadata["preprocessing"]["size"] == 32


def test_a_signature_is_drawn(run, tmp_path):
    code, _, err = run("signature", "mini:digitsnet", *QUICK, "--out", tmp_path / "x.svg")
    assert (code, err.splitlines()[-1]) == (0, f"written to {tmp_path / 'x.svg'}")
    assert "affinity score" in (tmp_path / "x.svg").read_text()


def test_help_does_not_wait_for_pytorch():
    code = "import sys; from affscore import cli; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
