"""Whatever is wrong with a name or a file of weights, the answer is one sentence, and nothing is left behind."""

import json
import pickle
import string
from pathlib import Path

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from safetensors.torch import save, save_file
from torch import nn

from affscore import AffscoreError, load_model
from affscore.zoo.sources import mini_networks, torchvision_networks
from affscore.zoo.weight_files import read_state_dict

NETWORK = """
from torch import nn

def make():
    return nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Linear(3, 1))
"""

pytestmark = pytest.mark.filterwarnings("ignore:Detected pickle protocol")

SUFFIXES = [".pth", ".pt", ".safetensors"]

KNOWN = torchvision_networks.SOURCE.names() + mini_networks.SOURCE.names()

twenty = settings(max_examples=20)


def net():
    return nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Linear(3, 1))


@pytest.fixture
def place(tmp_path):
    """A folder with a network of one's own; weights go beside it."""
    (tmp_path / "net.py").write_text(NETWORK)
    load_model(f"{tmp_path / 'net.py'}:make")
    return tmp_path


def load(file):
    return load_model(f"{file.parent / 'net.py'}:make@{file}")


def refused(file, *words):
    """The sentence with which a file of weights is refused."""
    before, state = sorted(file.parent.rglob("*")), torch.get_rng_state()
    with pytest.raises(AffscoreError) as caught:
        load(file)
    assert sorted(file.parent.rglob("*")) == before
    assert torch.equal(torch.get_rng_state(), state)
    message = str(caught.value)
    assert "\n" not in message
    assert "\x1b" not in message
    assert len(message) > 40
    assert file.name in message
    for word in words:
        assert word in message
    return message


def written(state, suffix):
    """A state dictionary as the bytes of a file."""
    if suffix == ".safetensors":
        return save(state)
    import io

    stream = io.BytesIO()
    torch.save(state, stream, _use_new_zipfile_serialization=suffix == ".pth")
    return stream.getvalue()


@st.composite
def misspelt(draw):
    name = draw(st.sampled_from(KNOWN))
    start = name.find(":") + 1
    at = draw(st.integers(start, len(name) - 1))
    letter = draw(st.sampled_from(string.ascii_lowercase + string.digits + "_"))
    way = draw(st.sampled_from(["insert", "drop", "change", "swap"]))
    return {
        "insert": name[:at] + letter + name[at:],
        "drop": name[:at] + name[at + 1 :],
        "change": name[:at] + letter + name[at + 1 :],
        "swap": name[:at] + name[at : at + 2][::-1] + name[at + 2 :],
    }[way]


@twenty
@given(misspelt())
def test_misspelt_names(name):
    assume(name not in KNOWN)
    with pytest.raises(AffscoreError, match=r"unknown model '.*'; did you mean \w+") as caught:
        load_model(f"{name}@random")
    assert "\n" not in str(caught.value)


@twenty
@given(st.sampled_from(SUFFIXES), st.floats(0, 0.999))
def test_a_part_of_a_file(place, suffix, share):
    content = written(net().state_dict(), suffix)
    file = place / f"part{suffix}"
    file.write_bytes(content[: int(share * len(content))])
    refused(file, "does not hold weights that can be read safely")


@twenty
@given(
    st.sampled_from(SUFFIXES), st.binary(max_size=200), st.sampled_from([b"", b"PK\x03\x04", b"\x80\x02", b"\x89PNG"])
)
def test_a_file_of_something_else(place, suffix, content, start):
    file = place / f"foreign{suffix}"
    file.write_bytes(start + content)
    refused(file)


@twenty
@given(st.sampled_from(SUFFIXES), st.data())
def test_a_file_with_wrong_bytes_is_weights_or_an_error(place, suffix, data):
    content = bytearray(written(net().state_dict(), suffix))
    for _ in range(data.draw(st.integers(1, 4))):
        at = int(data.draw(st.floats(0, 1, exclude_max=True)) * len(content))  # files of one network differ in length
        content[at] = data.draw(st.integers(0, 255))
    file = place / f"bits{suffix}"
    file.write_bytes(bytes(content))
    try:
        model = load(file)
    except AffscoreError:
        refused(file)
    else:
        assert {p.shape for p in model.parameters()} == {p.shape for p in net().parameters()}


class Call:
    """Unpickling this calls a function."""

    def __init__(self, function, *arguments):
        self.called = function, arguments

    def __reduce__(self):
        return self.called


@twenty
@given(
    st.sampled_from(["write", "eval", "exec", "system"]),
    st.sampled_from(["save", "save as before", "pickle"]),
    st.sampled_from(SUFFIXES),
    st.integers(0, 5),
)
def test_a_pickle_that_would_run_code(place, kind, way, suffix, protocol):
    import os

    target = place / "run.txt"
    code = f"open({str(target)!r}, 'w').close()"
    evil = {
        "write": Call(Path.write_text, target, "run"),
        "eval": Call(eval, code),
        "exec": Call(exec, code),
        "system": Call(os.system, f"touch {target}"),
    }[kind]
    file = place / f"evil{suffix}"
    if way == "pickle":
        file.write_bytes(pickle.dumps({"0.weight": evil}, protocol=protocol))
    else:
        torch.save({**net().state_dict(), "0.weight": evil}, file, _use_new_zipfile_serialization=way == "save")
    refused(file, "does not hold weights that can be read safely")
    assert not target.exists()


@twenty
@given(st.sampled_from([PermissionError(13, "Permission denied"), OSError(5, "Input/output error")]),
       st.sampled_from(SUFFIXES), st.sampled_from(["is_file", "open"]))  # fmt: skip
def test_no_permission(place, error, suffix, where):
    file = place / f"secret{suffix}"
    file.write_bytes(written(net().state_dict(), suffix))
    real = getattr(Path, where)

    def forbidden(path, *args, **kwargs):
        if path == file:
            raise error
        return real(path, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, where, forbidden)
        refused(file, "cannot be", error.strerror)


def changed(value, form):
    if form == "quantised":
        return torch.quantize_per_tensor(value, 0.1, 0, torch.qint8)
    if form == "sparse":
        return value.to_sparse()
    if form == "meta":
        return value.to("meta")
    if form in ("text", "list", "None"):
        return {"text": "0.5", "list": value.tolist(), "None": None}[form]
    return value.to(form)


@pytest.mark.filterwarnings("ignore")
@twenty
@given(
    st.sampled_from(["0.weight", "0.bias", "1.running_mean", "3.weight"]),
    st.sampled_from(
        ["quantised", "sparse", "meta", "text", "list", "None", torch.int8, torch.int64, torch.complex64, torch.bool]
    ),
)
def test_entries_that_are_not_real_numbers(place, name, form):
    state = net().state_dict()
    file = place / "entries.pth"
    torch.save({**state, name: changed(state[name], form)}, file)
    plain = f"must be plain numbers in memory, got a {form} tensor"
    refused(file, plain if form in ("quantised", "sparse", "meta") else "entries.pth" if form == "None" else repr(name))


@twenty
@given(st.sampled_from(SUFFIXES), st.sampled_from([torch.float16, torch.bfloat16, torch.float64]))
def test_real_numbers_of_another_precision_are_taken(place, suffix, dtype):
    state = {
        name: value.to(dtype) if value.is_floating_point() else value for name, value in net().state_dict().items()
    }
    file = place / f"half{suffix}"
    file.write_bytes(written(state, suffix))
    assert {parameter.dtype for parameter in load(file).parameters()} == {torch.float32}


@pytest.mark.parametrize("entry", ["state_dict", "model_state_dict", "model", "state_dict_ema", "model_ema"])
def test_weights_under_the_usual_names(entry, place):
    state = {f"module._orig_mod.{name}": value for name, value in net().state_dict().items()}
    if entry == "model_ema":
        state = {"n_averaged": torch.tensor(3), **state}
    file = place / "checkpoint.pth"
    torch.save({entry: state, "epoch": 3, "optimizer": {"lr": 0.1}}, file)
    loaded = read_state_dict(file)
    assert loaded.keys() == net().state_dict().keys()
    assert all(torch.equal(loaded[name], state[f"module._orig_mod.{name}"]) for name in loaded)


def test_two_sets_of_weights_in_a_file(place):
    file = place / "both.pth"
    torch.save({"model": net().state_dict(), "model_ema": net().state_dict()}, file)
    refused(file, "several state dictionaries (model, model_ema)")


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
        "whole.pth": {**state, name: state[name].to(torch.int8)},
        "shape.pth": {**state, name: torch.zeros(2, 2)},
        "foreign.pth": {"a": torch.zeros(1)},
        "none.pth": {},
    }
    for file, content in cases.items():
        torch.save(content, tmp_path / file)
        with pytest.raises(AffscoreError, match=file) as caught:
            load_model(f"{model}@{file}")
        assert "\n" not in str(caught.value)
    assert not target.exists()
    save_file({key: value.clone() for key, value in state.items()}, tmp_path / "good.safetensors")
    assert load_model(f"{model}@./good.safetensors")
