"""What chapter 21 concludes on depth and on efficient designs from the results that come with the package."""

import pandas as pd
import pytest

from affscore.analysis import depth_trends, shaking_test
from affscore.network.multiverse_result import Multiverse
from affscore.options import Specification
from affscore.papers.alexnet_to_transformers.efficient_designs import places_in_blocks, shaking_of_networks
from affscore.survey import stored_multiverses
from affscore.survey.studies import load_study, under

pytestmark = pytest.mark.slow

WORDS = list(Specification._fields)
CIFAR = "cifar_networks.py:"


@pytest.fixture(scope="module")
def study() -> pd.DataFrame:
    def used(one: Multiverse) -> bool:
        later = one.metadata["model"].startswith(("mini:vit", "mini:swin", "mini:convnext"))
        return one.metadata["weights"] != "random" and not later

    parts = [one.table.assign(model=one.metadata["model"]) for one in stored_multiverses() if used(one)]
    return pd.concat(parts, ignore_index=True)


def trends(scores: pd.DataFrame, kinds: pd.Series, network: str = "model") -> pd.DataFrame:
    """The trends with the depth of those networks that have a kind."""
    rows = scores.assign(kind=kinds).dropna(subset="kind")
    statistics = rows.groupby([*WORDS, "kind", network])["score"].agg(["size", "mean", "std", "min"]).reset_index()
    return depth_trends(statistics.rename(columns={"size": "activations"}), permutations=2000)


def test_the_mean_rises_with_the_depth_on_cifar_under_every_choice(study: pd.DataFrame) -> None:
    kinds = study["model"].str.extract(rf"^{CIFAR}(plain|res)net")[0]
    found = trends(study, kinds)
    assert found.loc["mean", ["networks", "rises", "falls"]].tolist() == [8, 12, 0]
    assert found.loc["mean", "correlation"] > 0.99
    assert found.loc["min", "undecided"] == 12
    assert found.loc["std", "undecided"] >= 6


def test_in_pairs_on_digits_the_mean_rises_under_some_choices_and_falls_under_none() -> None:
    pairs = load_study("shortcuts")
    four = pairs["network"].str.contains("18|34")
    found = trends(pairs, pairs["network"].str.rstrip("0123456789") + four.map({True: "4", False: "3"}), "weights")
    assert found.loc["mean", "networks"] == 30
    assert found.loc["mean", "falls"] == 0
    assert 4 <= found.loc["mean", "rises"] <= 9
    first = pairs[(pairs["reduction"] == "mean") & (pairs["order"] == "activate-first")]
    assert trends(first, first["network"].str.rstrip("0123456789"), "weights").loc["mean", "rises"] == 4


def test_over_designs_on_digits_the_mean_is_undecided(study: pd.DataFrame) -> None:
    kinds = dict.fromkeys(("resnet18", "resnet34"), "basic")
    kinds |= dict.fromkeys(("resnet50", "resnet101", "resnet152"), "bottleneck")
    name = study["model"].where(study["model"].str.startswith("mini:")).str.removeprefix("mini:")
    of = name.map(kinds).fillna(name.str.extract("^(vgg|densenet)")[0])
    found = trends(study, of)
    assert found.loc["mean", ["networks", "undecided"]].tolist() == [13, 12]


@pytest.mark.parametrize(
    ("model", "zigzag", "smooth"),
    [(f"{CIFAR}plainnet20", 0, 12), (f"{CIFAR}plainnet56", 0, 12), (f"{CIFAR}resnet20", 12, 0),
     (f"{CIFAR}resnet56", 12, 0), ("squeezenet1_0", 6, 0), ("squeezenet1_1", 11, 0), ("mobilenet_v2", 0, 0)],
)  # fmt: skip
def test_courses_of_real_networks(study: pd.DataFrame, model: str, zigzag: int, smooth: int) -> None:
    own = study[study["model"] == model].groupby(WORDS)
    tests = [shaking_test(rows["score"], rows["depth"], 1000) for _, rows in own]
    sure = [test.p_value < 0.5 for test in tests if test.two_sided < 0.05]
    assert len(tests) == 12
    if model == "mobilenet_v2":
        assert len(sure) == 0
    else:
        assert sum(sure) >= zigzag
        assert len(sure) - sum(sure) == smooth


def test_without_squeeze_and_excite_efficientnets_shake_as_other_inverted_bottlenecks(study: pd.DataFrame) -> None:
    def step(rows: pd.DataFrame) -> float:
        return float(shaking_of_networks(dict(list(rows.groupby("model"))))["step"].mean())

    for _, rows in study.groupby(WORDS):
        gated = rows[rows["model"].str.startswith("mini:efficientnet")]
        rest = gated[~gated["kind"].isin(["squeeze", "gate"])]
        assert step(rest) < 0.8 * step(gated)
    of = under(study)
    rest = of[of["model"].str.startswith("mini:efficientnet") & ~of["kind"].isin(["squeeze", "gate"])]
    bare = of[of["model"].str.startswith(("mini:mnasnet", "mini:mobilenet"))]
    assert abs(step(rest) - step(bare)) < 0.02


def test_which_activation_of_a_block_is_more_linear(study: pd.DataFrame) -> None:
    found = study.groupby(WORDS).apply(places_in_blocks)
    lead = found.groupby(["model", "comparison"])[["higher", "blocks"]].min()
    for name in ("squeezenet1_0", "squeezenet1_1"):
        assert lead.loc[(name, "squeeze above expand 1x1")].tolist() == [8, 8]
        assert lead.loc[(name, "expand 1x1 above expand 3x3"), "higher"] >= 7
    mobile = found.xs("mobilenet_v2", level="model")
    assert (mobile["blocks"] == 16).all()
    assert (mobile["p"] >= 0.05).all()
    on_digits = found.xs("mini:squeezenet1_0", level="model").xs("squeeze above expand 1x1", level="comparison")
    assert (on_digits["p"] >= 0.05).all()


def test_networks_without_such_blocks_have_no_row() -> None:
    rows = pd.DataFrame({"model": "mobilenet_v2", "layer": ["features.1.conv.0.2"], "score": [0.5]})
    assert places_in_blocks(rows).empty
    assert places_in_blocks(rows.assign(model="vgg11")).empty
