"""What chapter 13 concludes on blocks from the studies that come with the package, under every choice."""

import itertools

import pandas as pd
import pytest

from affscore.analysis import mean_of, unexplained, unexplained_by_kind
from affscore.papers.networks import network_table
from affscore.survey.studies import load_study

pytestmark = pytest.mark.slow

TOGETHER = 6
"""Comparisons of the chapter."""


@pytest.fixture(scope="module")
def study() -> pd.DataFrame:
    found = pd.concat([load_study("blocks"), load_study("blocks-cifar")], ignore_index=True)
    found = found.join(network_table(found["model"].unique())["family"], on="model")
    largest = found.groupby(found["dataset"])["images"].transform("max")
    return found.assign(sample=(found["images"] == largest).map({True: "all", False: "half"}))


def counts(study: pd.DataFrame, one: str, other: str) -> dict[str, list[int]]:
    """For each reduction: under how many of the four other choices a kind leaves more, less, or it is undecided."""
    found: dict[str, list[int]] = {}
    for reduction, rows in study.groupby("reduction"):
        decided = []
        for (_, some), summary in itertools.product(rows.groupby("sample"), ("mean", "median")):
            kinds = unexplained_by_kind(some, ["model"], summary)  # type: ignore[arg-type]
            decided.append(mean_of((kinds[one] - kinds[other]).dropna()).above(together=TOGETHER))
        found[str(reduction)] = [decided.count(True), decided.count(False), decided.count(None)]
    return found


def test_activations_leave_more_than_layer_normalisation_under_every_choice(study: pd.DataFrame) -> None:
    layered = study[study["family"].isin(["ViTs", "Swins", "ConvNeXts"])]
    norms = layered[layered["kind"] == "normalisation"]
    assert norms["activation"].str.startswith("layernorm").all()
    assert norms["model"].nunique() == layered["model"].nunique() == 12
    assert counts(layered, "activation", "normalisation") == {"mean": [4, 0, 0], "sample": [4, 0, 0]}


def test_attention_against_activations_is_decided_in_vits_by_what_it_sees_of_other_positions(
    study: pd.DataFrame,
) -> None:
    vits = counts(study[study["family"] == "ViTs"], "attention", "activation")
    assert vits == {"mean": [0, 0, 4], "sample": [4, 0, 0]}
    swins = counts(study[study["family"] == "Swins"], "attention", "activation")
    assert swins["mean"][0] == 0
    assert swins["sample"][1] == 0


def test_batch_normalisation_is_affine(study: pd.DataFrame) -> None:
    norms = study[study["activation"].str.startswith("batchnorm")]
    assert len(norms) > 1000
    assert unexplained(norms["affine_fit"]).max() < 1e-10


def test_an_affine_map_of_the_pixels_does_most_of_a_network_on_digits(study: pd.DataFrame) -> None:
    whole = study[(study["kind"] == "network") & study["affine_fit"].notna()]
    shares = unexplained(whole["affine_fit"])
    assert whole["model"].nunique() == 36
    assert shares.between(0.15, 0.3).all()
    by_sample = shares.groupby(whole["sample"]).mean()
    assert by_sample["half"] == pytest.approx(by_sample["all"], abs=0.02)
