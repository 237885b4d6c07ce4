"""Claims under every specification: in how many a verdict stands."""

import pandas as pd
import pytest

from affscore.options import Specification
from companion import specifications
from companion.all_results import PUBLISHED_CODE, AllResults, choices_of
from companion.claims import DEPENDS, DOES_NOT_HOLD, HOLDS, UNDECIDED, Verdict, all_claims, claim
from companion.ledger import Ledger
from companion.specifications import (
    SPECIFICATIONS,
    claims_by_specification,
    gathered_multiverses,
    name_of,
    shipped_claims,
)
from tests.synthetic_signatures import SyntheticMultiverse, synthetic, with_sums

SUMS, PATCHES = (
    next(one for one in all_claims() if one.name == name) for name in ("after-sums-more-linear", "small-patches-early")
)
MINI, OURS = "the small networks on digits", "the papers' networks on ImageNet"
RESNETS = ("mini:resnet18", "mini:resnet34", "mini:resnet50")


def asked(claim, networks, on=MINI):
    """The row of a claim on these results in the ledger of them, and what the specifications say."""
    own = [one.signature(**choices_of(PUBLISHED_CODE, one.metadata["model"])) for one in networks]
    own += [one.signature() for one in networks]
    table = claims_by_specification(networks, (), [claim])
    (row,) = (row for row in Ledger(AllResults(own), table)._tested(claim) if row.results.about == on)
    return row, table[table["on"] == on]


def with_scores(after):
    return [with_sums(model, after) for model in RESNETS]


def turned_where(*words):
    """A lower score after sums where a specification has all of these words."""
    return lambda *choice: 0.2 if set(words) <= set(choice) else 0.9


@pytest.mark.parametrize(
    ("words", "counts"),
    [
        (["reduce-first"], "holds in 8 of 12, fails in 4"),
        (["sample", "empirical", "paired"], "holds in 11 of 12, fails in 1"),
        (["nothing"], "holds in 12 of 12"),
    ],
    ids=str,
)
def test_a_verdict_depends_on_a_choice_where_one_turns_it_round(words, counts):
    row, table = asked(SUMS, with_scores(turned_where(*words)))
    assert (row.verdict.word, row.specifications) == (HOLDS, counts)
    assert row.word == (HOLDS if words == ["nothing"] else DEPENDS)
    for one in SPECIFICATIONS:
        assert (table[name_of(one)].item() == DOES_NOT_HOLD) == (set(words) <= set(one))


@pytest.mark.slow
def test_a_claim_that_fails_is_turned_round_too_and_from_decided_to_undecided_is_no_turn():
    row, _ = asked(SUMS, with_scores(lambda reduction, *rest: 0.9 if reduction == "sample" else 0.2))
    assert (row.verdict.word, row.word, row.specifications) == (DOES_NOT_HOLD, DEPENDS, "holds in 4 of 12, fails in 8")

    def where(word):
        """Networks that disagree where a specification has this word."""
        lows = zip(RESNETS, (0.2, 0.51, 0.8), strict=True)
        return [with_sums(model, lambda *c, low=low: low if word in c else 0.9) for model, low in lows]

    row, _ = asked(SUMS, where("reduce-first"))
    assert (row.word, row.specifications) == (HOLDS, "holds in 8 of 12, cannot be decided in 4")
    row, _ = asked(SUMS, where("activate-first"))  # what the papers' choice leaves open does not depend
    assert (row.word, row.specifications) == (UNDECIDED, "holds in 4 of 12, cannot be decided in 8")


def test_of_the_papers_networks_the_published_code_is_the_papers_own_choice():
    early, late = ([0.3] * 5 + [0.35, 0.8] + [0.85] * 5)[::1], ([0.3] * 5 + [0.35, 0.8] + [0.85] * 5)[::-1]
    about = {"model": "vit_l_16", "weights": "IMAGENET1K_V1", "dataset": "imagenet:imagenet", "batches": 2}
    network = SyntheticMultiverse(lambda *choice: early if "published" in choice else late, about)
    row, _ = asked(PATCHES, [network], on=OURS)
    assert (row.verdict.word, row.word, row.specifications) == (HOLDS, DEPENDS, "fails in 12 of 12")


@pytest.mark.slow
def test_what_was_not_measured_or_is_of_other_networks_is_not_counted():
    more = with_sums("mini:resnet101", lambda *choice: None if choice[1] == "reduce-first" else 0.9)
    row, table = asked(SUMS, [*with_scores(turned_where("reduce-first")), more])
    assert (row.word, row.specifications, table["n"].tolist()) == (HOLDS, "holds in 8 of 8", [4])
    row, _ = asked(SUMS, with_scores(lambda *choice: 0.9 if choice == Specification()[:4] else None))
    assert (row.again, row.word, row.specifications) == (None, HOLDS, "not asked again")


@claim("nowhere", "a study")
def above_a_half(results):
    """Scores are above 0.5. Test: Their mean is."""
    score = results.table("batch-size")["score"]
    return Verdict(bool(score.mean() > 0.5), f"{score.mean():.1f}", len(score))


@pytest.mark.slow
def test_studies_and_signatures_are_asked_under_each_specification_that_they_have():
    choices = [Specification(), Specification(order="reduce-first"), Specification(coupling="paired")]
    small = pd.DataFrame(choices).assign(score=[0.6, 0.4, 0.7])
    studies = {"batch-size": small, "batch-size-cifar": small.assign(score=0.3)}
    table = claims_by_specification([], claims=[above_a_half], studies=studies).set_index("on")
    assert [table.loc[MINI, name_of(one)] for one in choices] == [HOLDS, DOES_NOT_HOLD, HOLDS]
    assert table.loc["networks trained on CIFAR-10, on its test images", name_of(choices[2])] == DOES_NOT_HOLD
    words = [{"order": "reduce-first"}, {"covariance": "empirical"}, {}]
    signatures = [one.signature(**how) for one in with_scores(turned_where("reduce-first")) for how in words]
    table = claims_by_specification([], signatures, [SUMS])
    (row,) = Ledger(AllResults(signatures), table)._tested(SUMS)
    assert (row.word, row.specifications) == (DEPENDS, "holds in 2 of 3, fails in 1")
    counts = Ledger(AllResults(signatures), table).claim_table.set_index("name").loc[SUMS.name]
    assert counts[[HOLDS, DOES_NOT_HOLD, UNDECIDED]].tolist() == [2, 1, 0]


def test_a_store_of_signatures_alone_has_no_multiverses(monkeypatch, tmp_path):
    (tmp_path / "none").mkdir()
    monkeypatch.setattr(specifications, "MULTIVERSES", tmp_path / "none")
    synthetic([0.5, 0.6]).save(tmp_path / "resnet18-a.parquet")
    assert gathered_multiverses(tmp_path) == gathered_multiverses() == []


@pytest.mark.slow
def test_the_file_of_the_package_is_what_the_command_computes():
    own = AllResults.gather()
    table = claims_by_specification(gathered_multiverses(), own.signatures, studies=own.studies)
    pd.testing.assert_frame_equal(table, shipped_claims(), check_dtype=False)
