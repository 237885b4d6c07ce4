"""Interventions: what a level changes of a network, the control of a penalty, and verdicts."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import torch

from affscore import load_model
from affscore.network.parquet import read_description
from affscore.options import DEFAULT
from companion.mini_zoo.training import naming_loss
from companion.studies import STUDIES as FOLDER
from companion.studies import interventions, load_study, under
from companion.studies.__main__ import describe
from companion.studies.interventions import (
    PLANNED,
    Contrast,
    Controlled,
    Intervened,
    differences,
    judged,
    outcomes,
    verdict,
    would_be_seen,
)  # fmt: skip
from companion.studies.plans import INTERVENTIONS, STUDIES

STUDY = Contrast("", "score", "1", "0", 0.02, 0.0)


def network(name: str) -> torch.nn.Module:
    return load_model(f"{INTERVENTIONS}:{name}", 0).eval()


@pytest.mark.parametrize("level", ["3x6", "5x3", "7x2"])
def test_filters_of_all_sizes_see_13_pixels(level: str) -> None:
    features = network(f"narrow_filters_{level}").features
    for module in features.modules():
        if isinstance(module, torch.nn.Conv2d):
            torch.nn.init.ones_(module.weight)
            torch.nn.init.zeros_(module.bias)
    dot = torch.zeros(1, 1, 31, 31)
    dot[..., 15, 15] = 1
    seen = features(dot)[0, 0] > 0
    assert (int(seen.any(dim=0).sum()), int(seen.any(dim=1).sum())) == (13, 13)


def test_attention_that_is_replaced_mixes_no_tokens_or_all_alike() -> None:
    x, moved = torch.randn(2, 16, 16), torch.zeros(2, 16, 16)
    moved[:, 3] = 1.0
    layers = {level: network(f"small_attention_{level}").layers[0] for level in ("softmax", "identity", "uniform")}
    with torch.no_grad():
        change = {level: one.attention(x + moved) - one.attention(x) for level, one in layers.items()}
    others = [token for token in range(16) if token != 3]
    assert change["identity"][:, others].abs().max() == 0 < change["identity"][:, 3].abs().min()
    assert torch.allclose(change["uniform"], change["uniform"][:, :1].expand(2, 16, 16), atol=1e-6)
    assert change["softmax"][:, others].abs().max() > 0


def test_the_strength_multiplies_the_input_of_a_block() -> None:
    x = torch.rand(1, 8, 4, 4)
    blocks = [network(f"small_shortcuts_{level}").blocks[0] for level in ("0", "0.5", "1")]
    for block in blocks:
        torch.nn.init.zeros_(block.second[0].weight)
        torch.nn.init.zeros_(block.second[0].bias)
    with torch.no_grad():
        for block, share in zip(blocks, (0, 0.5, 1), strict=True):
            assert torch.allclose(block(x), share * x)


def test_verdicts_by_hand() -> None:
    def of(*values: float) -> str:
        rows = [("1", name, value) for name, value in enumerate(values)] + [("0", name, 0.0) for name in range(3)]
        return verdict(pd.DataFrame(rows, columns=["level", "design", "score"]), STUDY)["verdict"]

    assert of(0.2, 0.21, 0.22) == of(-0.2, -0.21, -0.22) == "effect"
    assert of(0.001, 0.0, -0.001) == "equivalent"
    assert of(0.009, 0.01, 0.011) == "equivalent"  # an effect that is too small to matter
    assert of(0.2, 0.0, -0.2) == "undecided"
    assert would_be_seen(0.01, 20) < would_be_seen(0.01, 5) < would_be_seen(0.02, 5)


@pytest.mark.slow
def test_the_control_is_as_strong_as_the_penalty_and_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Controlled("examples/region_networks.py:vgg8_1", "low-random", 1)
    sizes, found = one.sizes("low"), []
    assert len(sizes) == one.recipe.epochs * 10

    def optimise(model, images, loss_of, recipe, after=int):
        chosen, draw = torch.arange(8), torch.Generator().manual_seed(0)
        weights = list(model.parameters())
        total = torch.autograd.grad(loss_of(chosen, draw), weights)
        task = naming_loss(model, pictures, labels, interventions.shifted)(chosen, draw.manual_seed(0))
        alone = torch.autograd.grad(task, weights)
        found.append(torch.cat([(a - b).flatten() for a, b in zip(total, alone, strict=True)]).norm().item())
        return model

    model = one.build()
    pictures, labels = one.images(model, "train")
    monkeypatch.setattr(interventions, "optimise", optimise)
    one.fit(model, pictures, labels)
    assert found[0] == pytest.approx(sizes[0], rel=1e-3)


@pytest.mark.parametrize("name", sorted({one.study for one in PLANNED}))
def test_shipped_tables_are_of_the_plan(name: str) -> None:
    about = read_description(Path(FOLDER) / f"{name}.parquet")
    assert about["job"] == describe(STUDIES[name])
    table = outcomes(under(load_study(name)))
    assert len(table) == len(STUDIES[name].trainings)
    for one in (one for one in PLANNED if one.study == name):
        assert len(differences(table, one)) == (8 if name == "control" else 5)


def test_verdicts_are_of_the_specification_and_holm_of_all_that_was_planned() -> None:
    ours, other = (
        judged("attention", specification=DEFAULT._replace(order=one)) for one in ("activate-first", "reduce-first")
    )
    names = [f"attention: {level} \N{MINUS SIGN} softmax" for level in ("identity", "uniform")]
    assert list(ours.index) == names
    assert (ours["verdict"] == "effect").all()
    assert (other["verdict"] == "undecided").all()
    p = [verdict(outcomes(under(load_study(one.study))), one)["p"] for one in PLANNED]
    worst = max((len(p) - place) * value for place, value in enumerate(sorted(p)) if value <= p[3])
    assert ours["holm"].iloc[1] == pytest.approx(worst)


def test_names_say_what_a_network_is() -> None:
    one = Intervened(f"{INTERVENTIONS}:small_attention_identity", "trained", 1)
    assert (one.name, one.recipe.epochs) == ("small_attention_identity-trained-1", 30)
    assert set(one.measured(one.build(), *one.images(one.build(), "test"))) == {"gelu_mean", "gelu_std"}
