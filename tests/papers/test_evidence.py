"""What a claim was tested on is read off the results, and agrees with what was found."""

import re

import numpy as np
import pandas as pd
import pytest

from affscore.papers.claim import ClaimRow
from affscore.papers.evidence import measured
from affscore.papers.ledger import all_claims
from affscore.papers.results import Results
from tests.synthetic_signatures import synthetic, with_sums

CLAIMS = {one.name: one for one in all_claims()}

NUMBERS = {"one": 1}


def decided(name, results):
    """The row of a claim."""
    return ClaimRow(CLAIMS[name], results, CLAIMS[name].decide(results))


def number(word):
    return NUMBERS.get(word) or int(word)


def batches(sizes, counts, networks=3):
    rows = [
        {"model": f"net{network}", "index": index, "n": n, "batches": count,
         "score": 0.3 * network + 0.1 * index + 1 / n, "score_std": 0.01}
        for network in range(networks) for n, count in zip(sizes, counts, strict=True) for index in range(4)
    ]  # fmt: skip
    return Results("synthetic", studies={"batch-size": pd.DataFrame(rows)})


@pytest.mark.parametrize(("sizes", "shown"), [((64, 128, 256), "64 to 256"), ((32, 512), "32 to 512")])
def test_batches_are_those_of_the_study(sizes, shown):
    counts = range(20, 20 - len(sizes), -1)
    found = batches((*sizes, 2048), (*counts, 1))  # of the largest size there is one, which says nothing of chance
    own = decided("batch-size-keeps-the-signature", found)
    assert own.tested_on == f"one training of each of 3 networks, batches of {shown}"
    own = decided("images-change-little", found)
    assert own.tested_on == f"one training of each of 3 networks, 20 batches of {sizes[0]}"


@pytest.mark.parametrize("seeds", [3, 9])
def test_trainings_are_those_of_the_study(seeds):
    noise = np.random.default_rng(0).normal(0, 0.01, (seeds, 6))
    rows = [
        {"network": "vgg16", "seed": seed, "n": 256, "batches": 2, "index": index, "score": 0.1 * index + score}
        for (seed, index), score in np.ndenumerate(noise)
    ]
    own = decided("seeds-keep-the-signature", Results("synthetic", studies={"seeds": pd.DataFrame(rows)}))
    assert own.tested_on == f"{seeds} trainings of one network, 2 batches of 256"
    assert f"Over {seeds} seeds" in own.found


def test_signatures_of_several_trainings_are_counted_as_trainings():
    models = ("resnet18", "resnet34")
    signatures = {f"{model}-{seed}": synthetic([0.5], model, batches=1) for model in models for seed in range(3)}
    results = Results("synthetic", signatures=signatures)
    assert measured(results, 6) == "3 trainings of each of 2 networks, one batch of 512"
    assert measured(results, 3) == "3 trainings of one network, one batch of 512"
    signatures["resnet34-3"] = synthetic([0.5], "resnet34", batches=4)
    assert measured(Results("synthetic", signatures=signatures), 7) == "7 trainings, 1 to 4 batches of 512"


def test_an_undecided_claim_of_several_tests_says_which_of_them_is_open():
    """Four networks cannot give a p below 0.05, whatever their order."""
    models = ("resnet18", "resnet34", "resnet50", "resnet101")
    multiverses = {
        model: with_sums(model, lambda *_, place=place: 0.9 + 0.02 * place) for place, model in enumerate(models)
    }
    results = Results("synthetic", signatures={name: one.signature() for name, one in multiverses.items()})
    row = decided("deeper-approaches-one", results)
    assert row.verdict.holds is None
    assert "over 4 networks) is not below 0.05" in row.found


@pytest.mark.slow
def test_what_was_tested_agrees_with_what_was_found(shipped):
    """No sentence about nine seeds beside one training, nor about sizes of batches that were not tested."""
    rows = [row for row in shipped.claims if row.results.about]
    said = {
        r"Over (\d+) seeds": r"(\d+) trainings of",
        r"over (\d+) trainings of": r"(\d+) trainings of",
        r"trained (once)": r"(one) training of",
        r"From n = (\d+ to \d+) ": r"batches of (\d+ to \d+)",
        r"Over batches of n = (\d+) ": r"batches of (\d+)",
        r"over (\d+) checkpoints": r"(\d+) (?:trainings|checkpoints) of",
        r"of (\d+) methods": r"by (\d+) methods",
        r"Over (\d+) methods": r"by (\d+) methods",
    }
    seen = dict.fromkeys(said, 0)
    for row in rows:
        assert row.tested_on, row.claim.name
        for found, tested in said.items():
            if match := re.search(found, row.verdict.found):
                seen[found] += 1
                named = re.search(tested, row.tested_on)
                assert named, (row.claim.name, row.tested_on)
                assert named[1] == match[1].replace("once", "one"), (row.claim.name, row.tested_on)
    assert min(seen.values()) > 0, seen


@pytest.mark.slow
def test_the_number_of_networks_or_trainings_is_the_one_that_is_counted(shipped):
    """The column networks of the table counts trainings, or networks: one of the two must be in the words."""
    for row in shipped.claims:
        found = re.findall(r"(one|\d+) training", row.tested_on)
        networks = re.findall(r"(?:of|each of) (one|\d+) networks?", row.tested_on)
        if row.verdict.networks and found:
            each = [number(one) for one in found]
            totals = {*each, *(a * number(b) for a, b in zip(each, networks, strict=False)), *map(number, networks)}
            assert row.verdict.networks in totals, (row.claim.name, row.tested_on, row.verdict.networks)


@pytest.mark.slow
def test_p_values_and_reasons_of_the_page(shipped):
    """No p-value is printed as zero; a claim that rests on p-values alone says which of them leave it open."""
    for row in shipped.claims:
        assert not re.search(r"p = 0\.0+\b", row.found), row.claim.name
        assert row.verdict.holds is None or not row.verdict.why, row.claim.name
        if row.verdict.holds is None and "p = " in row.found:
            assert "Undecided: " in row.found, row.claim.name
