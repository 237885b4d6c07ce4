"""Small files that ask for gigabytes: refused before they are decoded, in a process that has not got them."""

import io
import json
import pickle
import struct
import zipfile

import pytest
import torch
from torch import nn

from affscore.zoo.models import card_of, load_model
from affscore.zoo.weight_files import read_state_dict, read_weights

pytestmark = pytest.mark.slow

GIGABYTES = 6 * 10**9
WEIGHTS, DATA = "affscore.zoo.models:load_model", "affscore.zoo.datasets:load_data"


class Call:
    """Unpickling this calls a function."""

    def __init__(self, function, *arguments):
        self.called = function, arguments

    def __reduce__(self):
        return self.called


def saved(content, **options):
    stream = io.BytesIO()
    torch.save(content, stream, **options)
    return stream.getvalue()


def with_pickle(pickled, name="archive/data.pkl"):
    """What torch.save writes for one number, with another pickle in it."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(saved({"w": torch.zeros(1)}))) as archive, zipfile.ZipFile(stream, "w") as made:
        for part in archive.namelist():
            is_pickle = part == "archive/data.pkl"
            made.writestr(name if is_pickle else part, pickled if is_pickle else archive.read(part))
    return stream.getvalue()


def text(word):
    return b"X" + struct.pack("<I", len(word)) + word


def called(function, *arguments):
    """The opcodes of a call; arguments are opcodes."""
    return b"c" + "\n".join(function.rsplit(".", 1)).encode() + b"\n(" + b"".join(arguments) + b"tR"


def whole(opcodes):
    return b"\x80\x02" + opcodes + b"."


ZEROS = pickle.dumps({"w": Call(bytearray, GIGABYTES)}, protocol=2)
STORED = b"(" + text(b"storage") + b"ctorch\nFloatStorage\n" + text(b"0") + text(b"cpu") + b"K\x01tQ"


def tensor(*shape, strides=None):
    """The opcodes of a tensor of this shape in which one stored number stands for all."""
    size, stride = (b"(" + b"".join(b"J" + struct.pack("<i", n) for n in ns) + b"t" for ns in (shape, [0] * len(shape)))
    return b"ctorch._utils\n_rebuild_tensor_v2\n(" + STORED + b"K\x00" + size + stride + b"\x89NtR"


def chained():
    """Each line doubles the length of a text."""
    double = called("_codecs.encode", b"h\x01", text(b"hex")) + b"q\x01"
    return called("_codecs.encode", text(b"a" * 1000), text(b"latin1")) + b"q\x01" + 22 * double


def two_lists_of_parts():
    """An archive whose list is harmless where Python looks for it, and not where its end says that it is."""
    good, bomb = saved({"w": torch.zeros(1)}), io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(good)) as archive, zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as made:
        parts = {name: archive.read(name) for name in archive.namelist()}
        for name, content in parts.items():
            made.writestr(name, bytes(10**7) if name.endswith("data.pkl") else content)
    small = io.BytesIO()
    with zipfile.ZipFile(small, "w") as made:
        for name, content in parts.items():
            made.writestr(name, content)

    def split(content):
        size, start = struct.unpack("<LL", content[-10:-2])
        return content[:start], bytearray(content[start : start + size])

    (hidden, hidden_list), (shown, shown_list) = split(bomb.getvalue()), split(small.getvalue())
    at = 0
    while at < len(shown_list):  # Python adds to each offset by how much the list is not where the end says
        (offset,) = struct.unpack("<L", shown_list[at + 42 : at + 46])
        shown_list[at + 42 : at + 46] = struct.pack("<L", offset + len(hidden) - len(shown))
        at += 46 + sum(struct.unpack("<HHH", shown_list[at + 28 : at + 34]))
    end = small.getvalue()[-22:-10] + struct.pack("<LLH", len(shown_list), len(hidden), 0)
    return hidden + bytes(hidden_list) + shown + bytes(shown_list) + end


def an_archive_behind():
    with zipfile.ZipFile(stream := io.BytesIO(), "w") as archive:
        archive.writestr("harmless", "")
    return ZEROS + stream.getvalue()


LARGE, TO_DEVICE = tensor(10**9), "torch._utils._rebuild_device_tensor_from_cpu_tensor"
PICKLES = {
    "bytearray": (ZEROS, "it asks for bytearray"),
    "a chain of texts": (whole(chained()), "it asks for _codecs.encode"),
    "a set of a tensor": (whole(called("builtins.set", LARGE)), "it asks for set"),
    "a count of a tensor": (whole(called("collections.Counter", LARGE)), "it speaks of 1000000000 numbers"),
    "a dictionary of a tensor": (whole(called("collections.OrderedDict", tensor(10**9, 2))), "it speaks of 2000000000"),
    "the attributes of a dictionary": (
        whole(called("collections.OrderedDict") + tensor(10**9, 2) + b"b"),
        "it speaks of 2000000000 numbers",
    ),
    "a tensor of another type": (
        whole(called(TO_DEVICE, LARGE, b"ctorch\nfloat64\n", text(b"cpu"), b"\x89")),
        f"it asks for {TO_DEVICE}",
    ),
    "the parts of a tensor": (
        whole(called("torch._utils._rebuild_sparse_tensor", b"ctorch\nfloat64\n", LARGE)),
        "it asks for torch._utils._rebuild_sparse_tensor",
    ),
    "the size of a storage": (
        whole(b"(" + text(b"storage") + b"ctorch\nFloatStorage\n" + text(b"0") + text(b"cpu") + LARGE + b"tQ"),
        "it speaks of 1000000000 numbers",
    ),
    "many copies of a dictionary": (
        whole(b"}q\x01(" + b"".join(b"J" + struct.pack("<i", n) + b"N" for n in range(10**4)) + b"u("
              + 3000 * called("collections.Counter", b"h\x01") + b"l"),
        "it speaks of ",
    ),
    "tuples in tuples": (
        whole(b")q\x01" + 40 * b"h\x01h\x01\x86q\x01"),
        "it has tuples in tuples, more than 3 deep",
    ),
    "an array of bytes": (
        b"\x80\x05\x96" + struct.pack("<Q", GIGABYTES) + b".", "it uses BYTEARRAY8, which torch.save does not",
    ),
    "lists in lists, in print": (
        whole(b"]q\x01" + 40 * b"](h\x01h\x01eq\x01" + b")R"), "it calls something in a way that torch.save does not",
    ),
    "a text many times": (
        whole(b"ctorch._utils\n_rebuild_tensor_v2\n("
              + STORED + b"K\x00(" + text(b"a") + b"J\xff\xff\xff\x7ft)\x89NtR"),
        "it calls torch._utils._rebuild_tensor_v2 in a way that torch.save does not",
    ),
    "tuples for keys": (whole(b"})K\x01s"), "it has a dictionary with tuples for keys"),
    "overlapping windows": (
        whole(tensor(1000, 1000, 1000)), "it speaks of 1000000000 numbers",
    ),
}  # fmt: skip


FORMS = [(kind, form) for kind in PICKLES for form in ("alone", "in an archive")]


@pytest.mark.parametrize(("kind", "form"), [*FORMS, ("bytearray", "in capital letters")])
def test_what_a_pickle_can_ask_for(tmp_path, refused_in_little_memory, kind, form):
    pickled, words = PICKLES[kind]
    file = tmp_path / "w.pth"
    capital = form == "in capital letters"
    name = "archive/DATA.PKL" if capital else "archive/data.pkl"
    file.write_bytes(pickled if form == "alone" else with_pickle(pickled, name))
    assert file.stat().st_size < 300_000
    sentence = refused_in_little_memory(WEIGHTS, f"mini:digitsnet@{file}")
    assert words in sentence
    assert sentence.startswith("the file 'w.pth' does not hold weights that can be read safely")


EXPANDED = torch.zeros(1).expand(10**9)
FILES = {
    "an archive behind a pickle": (an_archive_behind(), "it asks for bytearray"),
    "two lists": (two_lists_of_parts(), "an archive whose list of parts is not where its end says"),
    "expanded": (saved({"w": EXPANDED}), "it speaks of 1000000000 numbers"),
    "of before": (saved({"w": EXPANDED}, _use_new_zipfile_serialization=False), "it speaks of 1000000000 numbers"),
    "not used": (saved({"model": {"w": torch.zeros(1)}, "more": [EXPANDED]}), "it speaks of 1000000001 numbers"),
    "many": (saved({str(n): torch.zeros(1).expand(10**4) for n in range(99)}), "it speaks of "),
}


@pytest.mark.parametrize("kind", FILES)
def test_files_of_weights(tmp_path, refused_in_little_memory, kind):
    content, words = FILES[kind]
    file = tmp_path / "w.pth"
    file.write_bytes(content)
    assert words in refused_in_little_memory(WEIGHTS, f"mini:digitsnet@{file}")


def test_token_ids_of_which_one_stands_for_many(tmp_path, refused_in_little_memory):
    file = tmp_path / "ids.pt"
    torch.save(torch.zeros(1, dtype=torch.int32).expand(2 * 10**5, 10**4), file)
    assert file.stat().st_size < 2000
    sentence = refused_in_little_memory(DATA, f"tokens:{file}")
    assert "does not hold token ids that can be read safely (it speaks of 2000000000 numbers" in sentence
    assert "save an array of integers (N, length) as .npy, .safetensors or .pt" in sentence


@pytest.mark.parametrize("where", ["crop_size", "image_size"])
def test_a_network_that_expects_enormous_images(tmp_path, refused_in_little_memory, where):
    pytest.importorskip("transformers")
    network = {"model_type": "resnet", "embedding_size": 8, "hidden_sizes": [8], "depths": [1]}
    processor = {"image_processor_type": "ViTImageProcessor", "size": {"height": 32, "width": 32}}
    if where == "image_size":
        network[where] = 20_000
    else:
        processor |= {where: {"height": 20_000, "width": 20_000}, "do_center_crop": True}
        (tmp_path / "preprocessor_config.json").write_text(json.dumps(processor))
    (tmp_path / "config.json").write_text(json.dumps(network))
    sentence = refused_in_little_memory(WEIGHTS, f"hf:{tmp_path}@random")
    assert "resize at least as large and at most 2048, got 20000 and 20000" in sentence


@pytest.mark.parametrize(
    "settings",
    [{"crop_pct": 0.004}, {"pad_size": {"height": 12_000, "width": 12_000}}, {"size_divisor": 12_000}],
    ids=str,
)
def test_an_image_processor_that_makes_enormous_images(tmp_path, refused_in_little_memory, settings):
    pytest.importorskip("transformers")
    network = {"model_type": "resnet", "embedding_size": 8, "hidden_sizes": [8], "depths": [1]}
    kind = {"crop_pct": "ConvNext", "pad_size": "Detr", "size_divisor": "Swin2SR"}[next(iter(settings))]
    processor = {"image_processor_type": f"{kind}ImageProcessor", "size": {"shortest_edge": 32}, "do_pad": True}
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(processor | settings))
    (tmp_path / "config.json").write_text(json.dumps(network))
    sentence = refused_in_little_memory(WEIGHTS, f"hf:{tmp_path}@random")
    assert "resize at least as large and at most 2048, got " in sentence


def test_a_size_that_nothing_uses_is_not_tried(tmp_path):
    pytest.importorskip("transformers")
    network = {"model_type": "resnet", "embedding_size": 8, "hidden_sizes": [8], "depths": [1], "image_size": 20_000}
    processor = {"image_processor_type": "ViTImageProcessor", "size": {"height": 32, "width": 32}}
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(processor))
    (tmp_path / "config.json").write_text(json.dumps(network))
    assert card_of(load_model(f"hf:{tmp_path}@random")).preprocessing.size == 32


@pytest.mark.parametrize("zipped", [True, False])
def test_what_checkpoints_hold_is_read(tmp_path, zipped):
    """Schedules, options, shared and expanded tensors, parameters, types: as torch.save writes them."""
    import argparse
    from collections import Counter

    network = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Linear(8, 2))
    optimizer = torch.optim.Adam(network.parameters())
    network(torch.zeros(1, 3, 10, 10).requires_grad_()).sum().backward()
    optimizer.step()
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, [3, 5])
    content = {
        "model": network.state_dict(),
        "parameters": dict(network.named_parameters()),
        "optimizer": optimizer.state_dict(),
        "schedule": schedule.state_dict(),
        "args": argparse.Namespace(lr=0.1, device=torch.device("cpu"), dtype=torch.float32),
        "history": [(0.1, None), (0.2, True)],
        "small": torch.zeros(3).expand(4, 3),
        "many": [torch.zeros(2, dtype=dtype) for dtype in (torch.bfloat16, torch.bool, torch.int8)],
    }
    if zipped:  # torch.load cannot read these in the old format
        content["many"].append(torch.zeros(2, dtype=torch.uint16))
    assert isinstance(content["schedule"]["milestones"], Counter)
    content["again"] = content["model"]
    file = tmp_path / "checkpoint.pth"
    torch.save(content, file, _use_new_zipfile_serialization=zipped)
    found = read_weights(file)
    assert found.keys() == content.keys()
    assert found["schedule"] == content["schedule"]
    assert str(found["optimizer"]) == str(content["optimizer"])
    assert all(torch.equal(a, b) for a, b in zip(found["many"], content["many"], strict=True))
    state = read_state_dict(file)
    assert all(torch.equal(state[name], value) for name, value in network.state_dict().items())
