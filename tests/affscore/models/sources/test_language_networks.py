"""GPT-2-, Llama-, Mistral- and BERT-like networks with random weights: padding, caches of keys and values, 16 bits."""

import json

import pytest
import torch

from affscore import AffscoreError, load_model, signature
from affscore.models import card_of
from affscore.network.collect import Collector
from affscore.network.forward import forward
from affscore.network.images import image_stream
from affscore.network.inputs import Feeding
from affscore.network.reading import PADDING
from affscore.options import Options
from affscore.recorder import recording
from tests.affscore.models.sources.test_transformers_networks import CONFIGURATIONS

pytest.importorskip("transformers")

NETWORKS = ("gpt2", "llama", "mistral", "bert")
CAUSAL = ("gpt2", "llama", "mistral")

N, LENGTH = 20, 12


@pytest.fixture
def network(tmp_path):
    """Makes a network whose activations are not almost linear: larger weights than those it begins with."""

    def make(kind, **options):
        place = tmp_path / kind
        place.mkdir(exist_ok=True)
        (place / "config.json").write_text(json.dumps({"model_type": kind, **CONFIGURATIONS[kind]}))
        model = load_model(f"hf:{place}@random", **options)
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if parameter.ndim > 1:
                    parameter.mul_(8.0 if "word" not in name and "wte" not in name and "embed" not in name else 20.0)
        return model

    return make


def ids():
    return torch.randint(3, 50, (N, LENGTH), generator=torch.Generator().manual_seed(0))


def padded(left=False):
    lengths = torch.randint(2, LENGTH + 1, (N,), generator=torch.Generator().manual_seed(1))
    place = torch.arange(LENGTH)
    mask = place >= LENGTH - lengths[:, None] if left else place < lengths[:, None]
    return {"input_ids": ids().where(mask, 0), "attention_mask": mask.long()}


def pairs(model, data, forwarded=None):
    """The reduced pairs of a few samples that go through the network together."""
    collector, options = Collector(Options()), Options()
    stream = image_stream(data, card_of(model), options, 64, Feeding(model, forwarded))
    with torch.no_grad(), recording(model, collector) as recorder:
        for chunk in stream.chunks:
            forward(model, recorder, chunk, "it")
    return [(pair.x.clone(), pair.y.clone()) for pair in collector.collected()[0]]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "left"), [("gpt2", False), ("llama", False), ("llama", True), ("mistral", False),
                                            ("mistral", True), ("bert", False)])  # fmt: skip
def test_a_padded_text_counts_as_the_text_alone(kind, left, network):
    """GPT-2 and BERT count their positions from the first token, so that padding in front is another text to them."""
    model, data = network(kind), padded(left)
    together = pairs(model, data)
    texts = [row[mask.bool()] for row, mask in zip(data["input_ids"], data["attention_mask"], strict=True)]
    alone = [pairs(model, text[None]) for text in texts]
    for number, sides in enumerate(together):
        for side, found in enumerate(sides):
            expected = torch.cat([one[number][side] for one in alone])
            torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-3 * expected.abs().max().item())
    found = signature(model, data, n=N, criteria=False, progress=False)
    assert PADDING in found.notes
    assert found.scores[0] != pytest.approx(signature(model, ids(), n=N, criteria=False).scores[0], abs=1e-3)


@pytest.mark.parametrize("kind", NETWORKS)
@pytest.mark.parametrize("reduction", ["mean", "sample"])
def test_what_padding_holds_does_not_matter(kind, reduction, network):
    model, data = network(kind), padded()
    other = data | {"input_ids": torch.where(data["attention_mask"].bool(), data["input_ids"], 7)}
    one, same = (
        signature(model, some, n=N, reduction=reduction, criteria="sparsity", progress=False) for some in (data, other)
    )
    assert one.scores.tolist() == pytest.approx(same.scores.tolist(), abs=1e-5)
    columns = ["sparsity_before", "sparsity_after"]
    assert one.table[columns].to_numpy() == pytest.approx(same.table[columns].to_numpy())


@pytest.mark.parametrize("kind", NETWORKS)
def test_the_scores_are_those_of_every_device(kind, network, device):
    model = network(kind)
    here, there = (signature(model, ids(), n=N, device=one, progress=False) for one in ("cpu", str(device)))
    assert there.scores.tolist() == pytest.approx(here.scores.tolist(), abs=1e-3)


@pytest.mark.parametrize("kind", CAUSAL)
def test_a_network_that_keeps_keys_and_values_has_the_same_scores(kind, network):
    model = network(kind)
    assert model.config.use_cache is False  # nobody continues the text
    without = signature(model, ids(), n=N, criteria=False, progress=False)
    model.config.use_cache = True
    kept = signature(model, ids(), n=N, criteria=False, progress=False)
    assert kept.scores == pytest.approx(without.scores, abs=1e-6)
    assert set(kept.notes) >= set(without.notes)  # old versions call a function of positions alone, too, which is noted


@pytest.mark.parametrize("kind", CAUSAL)
def test_a_text_that_is_read_in_two_parts_with_a_cache(kind, network):
    """Each part is a call of its own; together their means are those of the whole text."""
    model = network(kind)

    def in_parts(model, batch):
        first = model(input_ids=batch[:, :5], use_cache=True)
        return model(input_ids=batch[:, 5:], past_key_values=first.past_key_values, use_cache=True)

    found = signature(model, ids(), n=N, forward=in_parts, criteria=False, progress=False)
    layers = found.table[["layer", "call"]].to_numpy().tolist()
    assert [call for _, call in layers] == [0, 0, 1, 1]
    assert layers[0][0] == layers[2][0]
    parts, both = pairs(model, ids(), in_parts), pairs(model, ids())
    for first, second, whole in zip(parts[:2], parts[2:], both, strict=True):
        for one, other, expected in zip(first, second, whole, strict=True):
            mean = (5 * one + (LENGTH - 5) * other) / LENGTH
            torch.testing.assert_close(mean, expected, rtol=1e-3, atol=1e-3 * expected.abs().max().item())


@pytest.mark.parametrize("kind", NETWORKS)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_sixteen_bits_move_a_score_by_little(kind, dtype, network):
    """0.02 is ten times what the book states for a trained network: these are small, and have large weights."""
    model = network(kind)
    exact = signature(model, padded(), n=N, criteria=False, progress=False)
    half = signature(model.to(dtype), padded(), n=N, criteria=False, progress=False)
    assert half.scores.tolist() == pytest.approx(exact.scores.tolist(), abs=0.02)
    assert next(model.parameters()).dtype == dtype


def test_a_mask_that_leaves_nothing_of_a_text(network):
    data = padded()
    data["attention_mask"][3] = 0
    with pytest.raises(AffscoreError, match="a sample of the data is all padding"):
        signature(network("bert"), data, n=N, criteria=False, progress=False)
