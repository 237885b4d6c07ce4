import argparse
import io
import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save, save_file
from torch import nn

from affscore import load_model
from affscore.errors import AffscoreError
from affscore.models.card import fingerprint
from affscore.models.weight_files import load_weights, read_state_dict, read_tensors


def net(width=3):
    return nn.Sequential(nn.Linear(2, width), nn.BatchNorm1d(width), nn.Linear(width, 1))


@pytest.fixture
def trained():
    model = net()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape))
        model[1].running_mean.fill_(0.5)
    return model


class Call:
    """Unpickling this calls a function."""

    def __init__(self, function, *arguments):
        self.called = function, arguments

    def __reduce__(self):
        return self.called


WAYS = {
    "weights.pth": lambda state, file: torch.save(state, file),
    "old.pth": lambda state, file: torch.save(state, file, _use_new_zipfile_serialization=False),
    "weights.safetensors": save_file,
    "parallel.safetensors": lambda state, file: save_file({f"module.{k}": v for k, v in state.items()}, file),
    "lightning.ckpt": lambda state, file: torch.save({"state_dict": {f"model.{k}": v for k, v in state.items()}}, file),
    "without counts.pth": lambda state, file: torch.save({k: state[k] for k in state if "num_batches" not in k}, file),
}


@pytest.mark.parametrize("name", WAYS)
def test_weights_come_back_however_they_were_saved(name, trained, tmp_path):
    WAYS[name](trained.state_dict(), tmp_path / name)
    model = net()
    load_weights(model, tmp_path / name)
    for key, value in trained.state_dict().items():
        assert torch.equal(model.state_dict()[key], value)
    assert fingerprint(model) == fingerprint(trained)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: {k: v for k, v in s.items() if k != "2.bias"}, r"\(1 missing, .* '2.bias'\)"),
        (lambda s: {**s, "3.weight": torch.zeros(1)}, r"\(1 missing, .* '3.weight'\)"),
        (lambda s: net(4).state_dict(), r"\(7 missing, unknown or of another shape, such as '0.bias'\)"),
        (lambda s: {f"net.{k}": v for k, v in s.items() if k != "0.bias"}, r"\(16 missing, unknown"),
    ],
)
def test_weights_of_another_architecture_change_nothing(change, message, trained, tmp_path):
    file = tmp_path / "other.pth"
    torch.save(change(trained.state_dict()), file)
    model = net()
    before = fingerprint(model)
    with pytest.raises(AffscoreError, match=f"the weights in 'other.pth' are not those of this architecture {message}"):
        load_weights(model, file)
    assert fingerprint(model) == before


@pytest.mark.parametrize("content", [[1, 2], {}, {"a": 3}, torch.zeros(3), "text", {"state_dict": {"a": 1}}, None])
def test_safe_contents_that_are_no_state_dictionary(content, tmp_path):
    torch.save(content, tmp_path / "x.pth")
    with pytest.raises(AffscoreError, match=r"'x.pth' holds no state dictionary \(names and tensors\)"):
        read_state_dict(tmp_path / "x.pth")


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
@pytest.mark.parametrize("suffix", [".pth", ".safetensors"])
@pytest.mark.parametrize("damage", ["empty", "cut off", "a page of a website"])
def test_a_file_that_holds_no_weights_changes_nothing(damage, suffix, trained, tmp_path):
    content = io.BytesIO()
    torch.save(trained.state_dict(), content)
    whole = save(trained.state_dict()) if suffix == ".safetensors" else content.getvalue()
    damaged = {"empty": b"", "cut off": whole[: len(whole) * 2 // 3], "a page of a website": b"<!DOCTYPE html><html>"}
    file = tmp_path / f"file{suffix}"
    file.write_bytes(damaged[damage])
    model = net()
    before, state = fingerprint(model), torch.get_rng_state()
    with pytest.raises(AffscoreError, match=rf"'file{suffix}' does not hold weights that can be read safely") as caught:
        load_weights(model, file)
    assert "\n" not in str(caught.value)
    assert fingerprint(model) == before
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("zipped", [True, False])
def test_a_pickle_that_would_run_code_is_not_run(zipped, trained, tmp_path):
    target = tmp_path / "run.txt"
    evil = {**trained.state_dict(), "0.weight": Call(Path.write_text, target, "run")}
    torch.save(evil, tmp_path / "evil.pth", _use_new_zipfile_serialization=zipped)
    with pytest.raises(AffscoreError, match="does not hold weights that can be read safely"):
        read_state_dict(tmp_path / "evil.pth")
    assert not target.exists()


KINDS = "'0.weight' in 'x.pth' holds .*, not real numbers as the network"
CHANGES = {
    "quantised": (lambda value: torch.quantize_per_tensor(value, 0.1, 0, torch.qint8), "plain numbers .* a quantised"),
    "sparse": (lambda value: value.to_sparse(), "'x.pth' must be plain numbers in memory, got a sparse tensor"),
    "meta": (lambda value: value.to("meta"), "'x.pth' must be plain numbers in memory, got a meta tensor"),
    "codes": (lambda value: value.to(torch.int8), KINDS),
    "booleans": (lambda value: value.to(torch.bool), KINDS),
    "complex": (lambda value: value.to(torch.complex64), KINDS),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("change", "message"), CHANGES.values(), ids=CHANGES)
def test_weights_that_are_not_real_numbers_in_memory(change, message, trained, tmp_path):
    state = trained.state_dict()
    torch.save({**state, "0.weight": change(state["0.weight"])}, tmp_path / "x.pth")
    with pytest.raises(AffscoreError, match=message):
        load_weights(net(), tmp_path / "x.pth")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_real_numbers_of_another_precision_are_taken(dtype, trained, tmp_path):
    torch.save(trained.to(dtype).state_dict(), tmp_path / "x.pth")
    model = net()
    load_weights(model, tmp_path / "x.pth")
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}


@pytest.mark.parametrize("entry", ["state_dict", "model_state_dict", "model", "state_dict_ema", "model_ema"])
def test_weights_under_the_usual_names(entry, trained, tmp_path):
    state = {f"module._orig_mod.{name}": value for name, value in trained.state_dict().items()}
    if entry == "model_ema":
        state = {"n_averaged": torch.tensor(3), **state}
    torch.save({entry: state, "epoch": 3, "optimizer": {"lr": 0.1}}, tmp_path / "x.pth")
    loaded = read_state_dict(tmp_path / "x.pth")
    assert loaded.keys() == trained.state_dict().keys()
    assert all(torch.equal(loaded[name], state[f"module._orig_mod.{name}"]) for name in loaded)


def test_two_sets_of_weights_in_a_file(trained, tmp_path):
    torch.save({"model": trained.state_dict(), "model_ema": trained.state_dict()}, tmp_path / "both.pth")
    with pytest.raises(AffscoreError, match=r"several state dictionaries \(model, model_ema\)"):
        read_state_dict(tmp_path / "both.pth")


@pytest.mark.parametrize("model", ["timm:test_resnet", "hf:bert"])
def test_other_sources_read_files_in_the_same_way(model, tmp_path, monkeypatch):
    pytest.importorskip({"timm": "timm", "hf": "transformers"}[model.partition(":")[0]])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bert").mkdir()
    settings = {"model_type": "bert", "vocab_size": 9, "hidden_size": 8, "num_hidden_layers": 1,
                "num_attention_heads": 1, "intermediate_size": 8}  # fmt: skip
    (tmp_path / "bert" / "config.json").write_text(json.dumps(settings))
    state = load_model(f"{model}@random").state_dict()
    name = next(name for name, value in state.items() if value.is_floating_point() and value.ndim == 2)
    target = tmp_path / "run.txt"
    cases = {
        "evil.pth": {**state, name: Call(Path.write_text, target, "run")},
        "shape.pth": {**state, name: torch.zeros(2, 2)},
        "none.pth": {},
        "codes.pth": {**state, name: state[name].to(torch.int8)},
        "complex.pth": {**state, name: state[name].to(torch.complex64)},
    }
    for file, content in cases.items():
        torch.save(content, tmp_path / file)
        with pytest.raises(AffscoreError, match=file) as caught:
            load_model(f"{model}@{file}")
        assert "\n" not in str(caught.value)
    assert not target.exists()


def test_the_fingerprint_sees_every_number_name_and_type(trained):
    first = fingerprint(trained)
    assert first == fingerprint(trained)
    assert fingerprint(trained.double()) != first
    trained.float()
    assert fingerprint(trained) == first
    with torch.no_grad():
        trained[2].weight[0, 0] = torch.nextafter(trained[2].weight[0, 0], torch.tensor(torch.inf))
    assert fingerprint(trained) != first
    assert fingerprint(nn.Sequential(nn.Identity(), nn.Linear(1, 1))) != fingerprint(nn.Sequential(nn.Linear(1, 1)))
    assert len(fingerprint(nn.ReLU())) == 16
    assert fingerprint(net().bfloat16())


def test_the_options_of_a_training_script_may_lie_beside_the_weights(trained, tmp_path):
    options = argparse.Namespace(lr=0.1, device=torch.device("cpu"))
    torch.save({"model": trained.state_dict(), "args": options}, tmp_path / "x.pth")
    assert read_tensors(tmp_path / "x.pth")["args"] == options
