"""Networks of transformers: folders, configurations, the cache of the hub, and what they expect."""

import contextlib
import json
import socket
import time

import pytest
import torch
from safetensors.torch import save_file

from affscore import AffscoreError, load_model, signature
from affscore.models import Preprocessing, TextPreprocessing, card_of
from affscore.models.card import fingerprint
from affscore.models.sources.transformers_networks import expected_of
from tests.affscore.models.test_preprocessing import photo

transformers = pytest.importorskip("transformers")

WIDE = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 32}
TEXT = {"vocab_size": 50, "max_position_embeddings": 24, "pad_token_id": 0}
SPARING = {**WIDE, **TEXT, "num_key_value_heads": 2}  # two heads share their keys and values
CONFIGURATIONS = {
    "bert": {"architectures": ["BertForMaskedLM"], **WIDE, **TEXT},
    "gpt2": {"architectures": ["GPT2LMHeadModel"], "vocab_size": 50, "n_positions": 24, "n_embd": 16, "n_layer": 2,
             "n_head": 2, "bos_token_id": 1, "eos_token_id": 2, "dtype": "bfloat16"},
    "llama": {"architectures": ["LlamaForCausalLM"], **SPARING},
    "mistral": {"architectures": ["MistralForCausalLM"], **SPARING, "sliding_window": 5},
    "t5": {"architectures": ["T5ForConditionalGeneration"], "vocab_size": 50, "d_model": 16, "d_kv": 8, "d_ff": 32,
           "num_layers": 2, "num_heads": 2},
    "vit": {"architectures": ["ViTForImageClassification"], **WIDE, "image_size": 32, "patch_size": 8},
    "convnext": {"num_stages": 2, "hidden_sizes": [8, 16], "depths": [1, 1], "image_size": 32},
}  # fmt: skip
"""Networks of a few thousand parameters, as the config.json of a repository describes them."""

GATED, HIDDEN = [("silu", "gated-unit")] * 2, [("gelu", "hidden")] * 2
ACTIVATIONS = {"bert": [*HIDDEN, ("gelu", "hidden")], "gpt2": HIDDEN, "llama": GATED, "mistral": GATED,
               "t5": [("relu", "hidden")] * 4, "vit": HIDDEN, "convnext": HIDDEN}  # fmt: skip
"""Two layers each; BERT's head for masked words has one more, T5 two in its decoder."""

TEXTS = ("bert", "gpt2", "llama", "mistral", "t5")


@pytest.fixture(params=CONFIGURATIONS)
def kind(request):
    return request.param


@pytest.fixture
def folder(tmp_path):
    """Makes a folder with a configuration, and with the weights of this seed unless it is None."""

    def make(kind, seed=None, **changes):
        place = tmp_path / kind
        place.mkdir(exist_ok=True)
        settings = {"model_type": kind, **CONFIGURATIONS[kind], **changes}
        (place / "config.json").write_text(json.dumps(settings))
        if seed is not None:
            save_file(weights(place, seed), place / "model.safetensors")
        return place

    return make


def weights(place, seed):
    state = load_model(f"hf:{place}@random", seed).state_dict()
    return {name: value.clone() for name, value in state.items()}  # tied weights share their memory


def inputs(kind, n=8):
    generator = torch.Generator().manual_seed(0)
    if kind in TEXTS:
        return torch.randint(0, 50, (n, 12), generator=generator)
    return torch.randn(n, 3, 32, 32, generator=generator)


def test_random_weights_from_a_configuration(kind, folder):
    place = folder(kind)
    before = torch.get_rng_state()
    one, same, other = (load_model(f"hf:{spec}@random", seed) for spec, seed in
                        ((place, 0), (place / "config.json", 0), (place, 1)))  # fmt: skip
    assert torch.equal(torch.get_rng_state(), before)
    assert fingerprint(one) == fingerprint(same) != fingerprint(other)
    assert {parameter.dtype for parameter in one.parameters()} == {torch.float32}
    assert not one.training
    named = CONFIGURATIONS[kind].get("architectures", ["ConvNextModel"])[0]
    assert type(one).__name__ == named
    card = card_of(one)
    assert (card.name, card.weights) == (f"hf:{kind}", "random")
    assert card.parameters == sum(parameter.numel() for parameter in one.parameters())


def test_weights_of_a_folder_or_a_file(kind, folder, tmp_path):
    place = folder(kind, seed=3)
    trained = load_model(f"hf:{place}@random", seed=3)
    assert fingerprint(load_model(f"hf:{place}")) == fingerprint(trained)
    torch.save(trained.state_dict(), tmp_path / "mine.pth")
    model = load_model(f"hf:{place / 'config.json'}@{tmp_path / 'mine.pth'}")
    assert fingerprint(model) == fingerprint(trained)
    assert card_of(model).weights == "mine.pth"


@pytest.mark.parametrize("kind", CONFIGURATIONS)
def test_signatures(kind, folder):
    place = folder(kind, seed=1)
    result = signature(f"hf:{place}", inputs(kind), n=8, criteria=False, progress=False)
    assert list(zip(result.table["activation"], result.table["kind"], strict=True)) == ACTIVATIONS[kind]
    assert bool(((result.scores > 0) & (result.scores <= 1)).all())
    assert result.metadata["model"] == f"hf:{kind}"


def test_a_text_is_read_with_the_tokenizer_beside_the_network(folder, tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    words = {"[UNK]": 0, **{letter: index for index, letter in enumerate("abcdefghij", 1)}}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Split("", "isolated")
    place = folder("gpt2", seed=1)
    tokenizer.save(str(place / "tokenizer.json"))
    (tmp_path / "text.txt").write_text("".join("abcdefghij"[index % 7 * index % 10] for index in range(24 * 8)))
    result = signature(f"hf:{place}", f"text:{tmp_path / 'text.txt'}", n=8, criteria=False, progress=False)
    assert result.metadata["preprocessing"] == {
        "tokenizer": "tokenizer.json", "length": 24, "vocabulary": 50, "maximum": 24
    }  # fmt: skip
    assert len(signature(f"hf:{place}", "random", n=8, criteria=False, progress=False).scores) == 2


def test_what_a_network_of_text_takes(folder):
    for kind in TEXTS:
        expected = 50, None if kind == "t5" else 24
        model = load_model(f"hf:{folder(kind)}@random")
        card = card_of(model)
        assert card.preprocessing_known
        assert (card.preprocessing.vocabulary, card.preprocessing.maximum) == expected
        assert card.preprocessing.tokenizer is None
        assert card_of(type(model)(model.config)).preprocessing == TextPreprocessing(None, None, *expected)
    place = folder("bert")
    (place / "tokenizer.json").write_text("{}")
    assert card_of(load_model(f"hf:{place}@random")).preprocessing.tokenizer == str(place / "tokenizer.json")


def test_what_a_network_of_images_takes(folder):
    place = folder("vit")
    assumed = card_of(load_model(f"hf:{place}@random"))
    assert (assumed.preprocessing, assumed.preprocessing_known) == (Preprocessing(size=32, resize=32), False)
    in_memory = card_of(transformers.ViTForImageClassification(load_model(f"hf:{place}@random").config))
    assert (in_memory.preprocessing, in_memory.preprocessing_known) == (assumed.preprocessing, False)
    transformers.ViTImageProcessor(size={"height": 32, "width": 32}).save_pretrained(place)
    stated = card_of(load_model(f"hf:{place}@random"))
    assert stated.preprocessing_known
    assert stated.preprocessing == Preprocessing(3, 32, 32, (0.5,) * 3, (0.5,) * 3)
    about = stated.preprocessing.as_dict()
    assert about.pop("transform").startswith("ViTImageProcessor {")
    assert about == {"channels": 3, "size": 32, "mean": [0.5] * 3, "std": [0.5] * 3}
    grey = card_of(load_model(f"hf:{folder('convnext', num_channels=1)}@random")).preprocessing
    assert (grey.channels, grey.size) == (1, 32)


PROCESSORS = {
    "ViTImageProcessor": {},
    "ConvNextImageProcessor": {"size": {"shortest_edge": 224}},
    "ConvNextImageProcessor ": {"size": {"shortest_edge": 384}},
    "DeiTImageProcessor": {},
    "BeitImageProcessor": {"do_center_crop": True, "crop_size": {"height": 160, "width": 160}},
    "MobileViTImageProcessor": {"size": {"shortest_edge": 288}},
    "PoolFormerImageProcessor": {"crop_pct": None},
    "CLIPImageProcessor": {},
    "ViTImageProcessor ": {"rescale_factor": 1 / 127.5, "image_mean": [1.0] * 3, "image_std": [1.0] * 3},
}


@pytest.mark.parametrize("size", [(300, 420), (420, 300)])
@pytest.mark.parametrize("name", PROCESSORS)
def test_images_are_prepared_as_transformers_does(name, size, tmp_path, folder):
    processor = getattr(transformers, name.strip())(**PROCESSORS[name])
    processor.save_pretrained(tmp_path)
    model = load_model(f"hf:{folder('vit')}@random")
    ours, known = expected_of(model, lambda filename: tmp_path / filename)
    assert known
    theirs = processor(photo(*size), return_tensors="pt")["pixel_values"][0]
    found = ours(photo(*size))
    assert found.shape == theirs.shape
    torch.testing.assert_close(found, theirs, rtol=0, atol=1e-6)
    assert ours(torch.rand(1, 20, 20)).shape == theirs.shape


def test_a_broken_preprocessor_config_is_named(folder):
    place = folder("vit")
    for content in ("{", "[]", '{"image_processor_type": "NoSuchProcessor"}'):
        (place / "preprocessor_config.json").write_text(content)
        with pytest.raises(AffscoreError, match=r"'preprocessor_config.json' does not say what"):
            load_model(f"hf:{place}@random")


def test_weights_in_parts(folder, tmp_path):
    place = folder("bert", seed=3)
    state = weights(place, 3)
    (place / "model.safetensors").unlink()
    halves = [dict(list(state.items())[::2]), dict(list(state.items())[1::2])]
    index = {}
    for number, half in enumerate(halves):
        save_file(half, place / f"part{number}.safetensors")
        index |= dict.fromkeys(half, f"part{number}.safetensors")
    (place / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": index}))
    assert fingerprint(load_model(f"hf:{place}")) == fingerprint(load_model(f"hf:{place}@random", seed=3))
    for bad in ({"weight_map": {"a": 3}}, {"weight_map": {}}, {}, []):
        (place / "model.safetensors.index.json").write_text(json.dumps(bad))
        with pytest.raises(
            AffscoreError, match=r"'model.safetensors.index.json' is no index of weights|file not found"
        ):
            load_model(f"hf:{place}")


def test_a_repository_in_the_cache_needs_no_network(repository, folder):
    place = folder("bert", seed=3)
    snapshot = repository("org/little-bert")
    for file in place.iterdir():
        (snapshot / file.name).write_bytes(file.read_bytes())
    model = load_model("hf:org/little-bert")
    assert fingerprint(model) == fingerprint(load_model(f"hf:{place}"))
    assert (card_of(model).name, card_of(model).weights) == ("hf:org/little-bert", "DEFAULT")
    (snapshot / "model.safetensors").unlink()
    with pytest.raises(
        AffscoreError, match=r"model.safetensors of 'org/little-bert' is not on this machine.*@random or"
    ):
        load_model("hf:org/little-bert")
    assert load_model("hf:org/little-bert@random")
    with pytest.raises(AffscoreError, match="did you mean org/little-bert"):
        load_model("hf:org/litle-bert")
    with pytest.raises(AffscoreError, match="did you mean hf:org/little-bert"):
        load_model("little-bert")


def test_without_a_network_the_sentence_says_which_file_and_where_it_is_soon(repository):
    start = time.perf_counter()
    with pytest.raises(AffscoreError, match=r"config.json of 'google/vit-base-patch16-224' is not on this.*hf:FOLDER$"):
        load_model("hf:google/vit-base-patch16-224")
    assert time.perf_counter() - start < 60  # older versions of the hub try six times


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("hf:", "could not be downloaded"),
        ("hf:a b", "could not be downloaded .HFValidationError"),
        ("hf:./none", "no configuration, './none'"),
        ("hf:none.json", "no configuration, 'none.json'"),
        ("hf:a/b/c", "no configuration, 'a/b/c'"),
        ("hf:empty", "there is no folder with a config.json, and no configuration, 'empty'"),
        ("hf:text.json", "'text.json' is not the configuration of a network"),
        ("hf:brt.json", r"\(KeyError: 'brt'\); it must be JSON with a model_type of transformers 5"),
        ("hf:typeless.json", r"'typeless.json' is not the configuration of a network .KeyError: 'model_type'"),
        ("hf:quantised.json@random", "this bert is quantised, and scores need real numbers; use the original weights"),
        ("hf:nonsense.json@random", "transformers cannot build hf:nonsense.json"),
        ("hf:sound.json@random", "takes 'input_values'; only networks of images and of text"),
        ("hf:good.json", r"there are no trained weights \(model.safetensors\) beside the configuration"),
        ("hf:good.json@rnd", "unknown weights 'rnd' for hf:good.json; did you mean random"),
    ],
)
def test_what_is_no_network(spec, message, tmp_path, monkeypatch, no_network):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    bert = {"model_type": "bert", **CONFIGURATIONS["bert"]}
    files = {
        "brt": {"model_type": "brt"}, "typeless": {}, "good": bert,
        "nonsense": {**bert, "hidden_size": 17},
        "quantised": {**bert, "quantization_config": {"quant_method": "awq"}},
        "sound": {"model_type": "wav2vec2", **WIDE, "conv_dim": [8], "conv_stride": [2], "conv_kernel": [2],
                  "num_conv_pos_embedding_groups": 2},
    }  # fmt: skip
    (tmp_path / "text.json").write_text("no JSON")
    for name, content in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    with pytest.raises(AffscoreError, match=message) as caught:
        load_model(spec)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: {**s, "cls.predictions.bias": torch.zeros(3)}, "are not those of this BertForMaskedLM"),
        (lambda s: {k: v for k, v in s.items() if "layer.1" not in k}, r"\(missing or .*bert.encoder.layer.1"),
        (lambda s: {"a": torch.zeros(2)}, "missing or of another shape"),
        (
            lambda s: {k.removeprefix("bert."): v.to(torch.int8) if v.ndim > 1 else v for k, v in s.items()},
            "holds torch.int8, not real numbers",
        ),
        (None, "the file 'pytorch_model.bin' does not hold weights"),
    ],
)
def test_weights_of_another_architecture(change, message, folder, capfd):
    """And nothing is said but the error."""
    place = folder("bert", seed=3)
    load_model(f"hf:{place}")
    if change is None:
        (place / "model.safetensors").rename(place / "pytorch_model.bin")
        (place / "pytorch_model.bin").write_bytes(b"<!DOCTYPE html>")
    else:
        save_file(change(weights(place, 3)), place / "model.safetensors")
    with pytest.raises(AffscoreError, match=message) as caught:
        load_model(f"hf:{place}")
    assert "\n" not in str(caught.value)
    assert capfd.readouterr().err == ""


def test_code_that_a_repository_brings_is_not_run(folder, monkeypatch):
    place = folder(
        "bert",
        auto_map={"AutoConfig": "evil.Config", "AutoModel": "evil.Model"},
        architectures=["EvilModel", "pipeline", "BertConfig"],
        _attn_implementation="someone/kernel",
    )
    (place / "evil.py").write_text(f"open({str(place / 'run.txt')!r}, 'w')\nclass Config: pass\nclass Model: pass\n")
    model = load_model(f"hf:{place}@random")
    assert type(model).__name__ == "BertModel"
    assert not (place / "run.txt").exists()


def test_a_size_of_images_that_is_no_number(tmp_path):
    resnet = {"model_type": "resnet", "embedding_size": 8, "hidden_sizes": [8], "depths": [1]}
    (tmp_path / "config.json").write_text(json.dumps({**resnet, "image_size": [32, "32"]}))
    assert card_of(load_model(f"hf:{tmp_path}@random")).preprocessing.size == 224


def test_a_backbone_by_the_name_of_a_network_asks_no_repository(tmp_path, monkeypatch):
    pytest.importorskip("timm")
    asked = []

    def unreachable(host, *args, **kwargs):
        asked.append(host)
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unreachable)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    settings = {"model_type": "dpt", "backbone": "test_resnet", "use_pretrained_backbone": True}
    (tmp_path / "config.json").write_text(json.dumps(settings))
    with contextlib.suppress(AffscoreError):  # not all versions can build it
        load_model(f"hf:{tmp_path}@random")
    assert not asked


def test_a_folder_with_an_at_in_its_name(folder, tmp_path):
    place = folder("bert", seed=3)
    other = tmp_path / "bert@home"
    place.rename(other)
    assert card_of(load_model(f"hf:{other}")).name == "hf:bert@home"
    assert card_of(load_model(f"hf:{other}@random")).weights == "random"
