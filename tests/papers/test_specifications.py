"""Claims under every specification: which choice turns a verdict round, and in how many it holds."""

from typing import get_args

import numpy as np
import pandas as pd
import pytest

from affscore.errors import AffscoreError
from affscore.network.multiverse import multiverse
from affscore.network.reduction import OrderName
from affscore.network.signature import signature
from affscore.options import Specification
from affscore.papers import robustness as module
from affscore.papers.all_results import AllResults
from affscore.papers.claim import DEPENDS, DOES_NOT_HOLD, HOLDS, UNDECIDED, ClaimRow, Verdict, claim
from affscore.papers.estimate import require
from affscore.papers.ledger import Ledger, all_claims
from affscore.papers.protocol import PAPERS_CHOICE, PUBLISHED_CODE, options_of
from affscore.papers.results import Results
from affscore.papers.robustness import COLUMNS, Robustness, robustness, shipped_claims
from affscore.papers.specifications import (
    SPECIFICATIONS,
    _measured,
    _with_criteria,
    claims_by_specification,
    gathered_multiverses,
)
from affscore.survey import tables
from tests.synthetic_signatures import CRITERIA, SyntheticMultiverse, synthetic, with_sums

SUMS, PATCHES = (
    next(one for one in all_claims() if one.name == name) for name in ("after-sums-more-linear", "small-patches-early")
)
MINI = "the small networks on digits"
RESNETS = ("mini:resnet18", "mini:resnet34", "mini:resnet50")
EARLY, LATE = ([*np.linspace(0.3, 0.4, 6), *np.linspace(0.8, 0.9, 6)][::step] for step in (1, -1))


def asked(claim, after=None, networks=None, on=MINI, signatures=()):
    """The row of a claim, and the table: of ResNets whose scores after sums are given, or of other networks."""
    networks = networks or [with_sums(model, after) for model in RESNETS]
    own = [one.signature(**options_of(PUBLISHED_CODE, one.metadata["model"])) for one in networks]
    own += [one.signature() for one in networks]
    table = claims_by_specification(networks, signatures, [claim])
    (results,) = (one for one in AllResults([*signatures, *own]).of_signatures if one.about == on)
    verdict = claim.decide(results)
    row = ClaimRow(claim, results, verdict, robustness(table, claim, results, verdict))
    return row, table[table["on"] == on]


def turned_where(*words):
    """A lower score after sums where a specification has all of these words."""
    return lambda *choice: 0.2 if set(words) <= set(choice) else 0.9


@pytest.mark.parametrize(
    ("words", "depends", "counts"),
    [
        (["reduce-first"], "depends on the order", (8, 4, 0)),
        (["sample"], "depends on the reduction", (8, 4, 0)),
        (["empirical"], "depends on the covariance", (6, 6, 0)),
        (["paired"], "depends on the coupling", (6, 6, 0)),
        (["reduce-first", "paired"], "depends on the order and coupling together", (10, 2, 0)),
        (
            ["sample", "empirical", "paired"],
            "depends on the reduction and covariance and coupling together",
            (11, 1, 0),
        ),
        (["nothing"], HOLDS, (12, 0, 0)),
    ],
    ids=str,
)
def test_the_choice_that_turns_a_verdict_round_is_named(words, depends, counts):
    row, table = asked(SUMS, turned_where(*words))
    assert (row.verdict.word, row.word) == (HOLDS, depends)
    found = row.robustness
    assert (found.holds, found.fails, found.undecided, found.turned_apart) == (*counts, 0)
    assert row.counted_as == (HOLDS if depends == HOLDS else DEPENDS)
    wrong = table["verdict"] == DOES_NOT_HOLD
    told = table[list(Specification._fields)].apply(lambda choice: set(words) <= set(choice), axis=1)
    assert (wrong == told).all()


def test_a_claim_that_fails_is_turned_round_too():
    row, _ = asked(SUMS, lambda reduction, *rest: 0.9 if reduction == "sample" else 0.2)
    assert (row.verdict.word, row.word) == (DOES_NOT_HOLD, "depends on the reduction")
    assert row.specifications == "holds in 4 of 12, fails in 8"


def test_several_choices_may_turn_a_verdict_round():
    row, _ = asked(SUMS, lambda *choice: 0.2 if {"sample", "paired"} & set(choice) else 0.9)
    assert row.word == "depends on the reduction or the coupling"
    assert (row.robustness.holds, row.robustness.fails) == (4, 8)


def undecided_where(word):
    """Networks that disagree where a specification has this word, and whose sums score higher elsewhere."""
    return [
        with_sums(model, lambda *choice, low=low: low if word in choice else 0.9)
        for model, low in zip(RESNETS, (0.2, 0.51, 0.8), strict=True)
    ]


def test_from_decided_to_undecided_is_no_turn():
    row, _ = asked(SUMS, networks=undecided_where("reduce-first"))
    assert (row.word, row.specifications) == (HOLDS, "holds in 8 of 12, cannot be decided in 4")


def test_what_the_papers_choice_leaves_open_does_not_depend():
    row, _ = asked(SUMS, networks=undecided_where("activate-first"))
    assert (row.word, row.specifications) == (UNDECIDED, "holds in 4 of 12, cannot be decided in 8")


def transformer(scores, **about):
    return SyntheticMultiverse(scores, {"model": "mini:vit_l_16", **about})


def test_the_axes_of_the_published_code_are_counted_apart():
    row, table = asked(PATCHES, networks=[transformer(lambda *choice: LATE if "published" in choice else EARLY)])
    assert (row.word, row.robustness) == (HOLDS, Robustness(12, 0, 0, (), 8))
    assert str(row.robustness) == "holds in 12 of 12; turned round in 8 more by the axes of the published code"
    assert len(table) == len(SPECIFICATIONS) == 20


def test_of_the_papers_networks_the_published_code_is_the_papers_own_choice():
    about = {"model": "vit_l_16", "weights": "IMAGENET1K_V1", "dataset": "imagenet:imagenet", "batches": 2}
    networks = [transformer(lambda *choice: EARLY if "published" in choice else LATE, **about)]
    row, _ = asked(PATCHES, networks=networks, on="the papers' networks on ImageNet")
    assert (row.verdict.word, row.word) == (HOLDS, "depends on the reduction")
    assert row.specifications == "fails in 12 of 12"


def test_networks_without_channels_last_have_their_mean_in_place_of_the_published_axes():
    _, table = asked(SUMS, lambda reduction, *rest: None if reduction == "published" else 0.9)
    assert set(table["reduction"]) == {"mean", "sample", "published"}


def test_what_was_not_measured_is_not_counted():
    row, _ = asked(SUMS, lambda reduction, *rest: None if reduction == "sample" else 0.9)
    assert row.specifications == "holds in 8 of 8"


def test_other_networks_are_not_counted():
    """A specification under which a network is missing differs in more than the specification."""
    networks = [with_sums(model, turned_where("reduce-first")) for model in RESNETS]
    networks.append(with_sums("mini:resnet101", lambda *choice: None if choice[1] == "reduce-first" else 0.9))
    row, table = asked(SUMS, networks=networks)
    assert (row.word, row.specifications) == (HOLDS, "holds in 8 of 8")
    assert set(table["networks"]) == {3, 4}


@claim(99, "nowhere", "a study")
def above_a_half(results):
    """Scores are above 0.5. Test: Their mean is."""
    require("scores" in results.studies)
    score = results.studies["scores"]["score"]
    return Verdict(bool(score.mean() > 0.5), f"{score.mean():.1f}", len(score))


def test_studies_are_asked_under_each_specification_that_they_have():
    """Those of the small networks and those of others go to their own kinds of results."""
    choices = [Specification(), Specification(order="reduce-first"), Specification(coupling="paired")]
    small = pd.DataFrame(choices).assign(score=[0.6, 0.4, 0.7])
    studies = {"scores": small, "scores-cifar": small.assign(score=0.3), "scores-photographs": small[:0]}
    table = claims_by_specification([], claims=[above_a_half], studies=studies)
    counts = table.groupby("on")["verdict"].value_counts().to_dict()
    cifar = "networks trained on CIFAR-10, on its test images"
    assert counts == {(MINI, HOLDS): 2, (MINI, DOES_NOT_HOLD): 1, (cifar, DOES_NOT_HOLD): 3}
    there = AllResults([], studies=studies)
    assert above_a_half.decide(there.mini).found == "0.6"
    row = robustness(table, above_a_half, there.mini, above_a_half.decide(there.mini))
    assert (row.holds, row.fails, row.depends_on) == (2, 1, "the order")
    assert above_a_half.decide(there.other_weights) is None


def test_signatures_that_were_measured_one_by_one_are_asked_too():
    choices = {"order": "reduce-first"}, {"covariance": "empirical"}, {}
    networks = [with_sums(model, turned_where("reduce-first")) for model in RESNETS]
    signatures = [one.signature(**choice) for one in networks for choice in choices]
    table = claims_by_specification([], signatures, [SUMS])
    (row,) = (row for row in Ledger(AllResults(signatures), table).claims if row.claim is SUMS)
    assert (row.word, row.specifications) == ("depends on the order", "holds in 2 of 3, fails in 1")


def test_one_specification_is_no_second_question():
    row, _ = asked(SUMS, lambda *choice: 0.9 if choice == PAPERS_CHOICE[:4] else None)
    assert (row.robustness, row.word, row.specifications) == (None, HOLDS, "not asked again")


def test_a_table_of_other_results_says_nothing_of_these():
    networks = [with_sums(model) for model in RESNETS]
    table = claims_by_specification(networks, claims=[SUMS])
    (results,) = (one for one in AllResults([one.signature() for one in networks]).kinds if one.signatures)
    assert robustness(table, SUMS, results, Verdict(True, "", 3)) == Robustness(12)
    assert robustness(table, SUMS, results, Verdict(False, "", 3)) is None
    assert robustness(table, SUMS, results, Verdict(True, "", 4)) is None
    assert robustness(table, PATCHES, results, Verdict(True, "", 3)) is None
    assert robustness(table, SUMS, Results("others", analogue=True), Verdict(True, "", 3)) is None


def test_claims_about_criteria_have_nothing_to_say_of_multiverses():
    claims = [one for one in all_claims() if one.name in ("no-criterion-says-the-same", "cka-fits-densenets-only")]
    names = [
        "vgg11",
        "vgg13",
        "vgg16",
        "resnet18",
        "resnet34",
        "vit_b_16",
        "swin_t",
        *(f"densenet{n}" for n in (121, 161, 169, 201)),
    ]
    full = {name: synthetic(np.linspace(0.3, 0.9, 12), name, seed=place) for place, name in enumerate(names)}
    bare = {name: type(one)(one.table.drop(columns=list(CRITERIA)), one.metadata) for name, one in full.items()}
    for one in claims:
        assert one.decide(Results("", signatures=full)) is not None
        assert one.decide(Results("", signatures=bare)) is None


def test_rows_are_of_signatures_only_and_those_of_others_say_nothing(empty):
    assert claims_by_specification([]).empty
    rows = empty.claims
    assert {row.specifications for row in rows} == {""}
    assert empty.robustness_table.empty


def test_the_table_of_the_ledger_counts():
    networks = [with_sums(model, turned_where("sample")) for model in RESNETS]
    ledger = Ledger(AllResults([one.signature() for one in networks]), claims_by_specification(networks))
    table = ledger.robustness_table.set_index("claim").loc[SUMS.text]
    assert table[["verdict", "papers_choice"]].tolist() == ["depends on the reduction", HOLDS]
    numbers = ["specifications", "holds", "does not hold", "cannot be decided", "turned_apart"]
    assert table[numbers].tolist() == [12, 8, 4, 0, 0]
    all_rows = ledger.claim_table
    assert "depends on the reduction" in set(all_rows["verdict"])
    assert ledger.claim_counts.loc["analogues", DEPENDS] == (all_rows["verdict"].str.startswith("depends")).sum() > 0


def test_a_package_without_the_file_asks_nothing_again(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "_SHIPPED", tmp_path / "claims.csv")
    shipped_claims.cache_clear()
    try:
        none = shipped_claims()
        assert (none.columns.tolist(), len(none)) == (list(COLUMNS), 0)
        networks = [with_sums(model) for model in RESNETS]
        measured = AllResults([one.signature() for one in networks])
        told = {row.specifications for row in Ledger(measured).claims if row.results.about == MINI}
        assert told == {"not asked again"}
        claims_by_specification(networks, claims=[SUMS]).to_csv(module._SHIPPED, index=False)
        shipped_claims.cache_clear()
        (row,) = (row for row in Ledger(measured).claims if row.claim is SUMS)
        assert row.specifications == "holds in 12 of 12"
    finally:
        monkeypatch.undo()
        shipped_claims.cache_clear()


def test_a_store_of_signatures_alone_has_no_multiverses(monkeypatch, tmp_path):
    monkeypatch.setattr(tables, "MULTIVERSES", tmp_path / "none")
    store = tmp_path / "results"
    store.mkdir()
    synthetic([0.5, 0.6]).save(store / "resnet18-a.parquet")
    assert gathered_multiverses(store) == gathered_multiverses() == []
    multiverse("mini:digitsnet", "digits", n=64, images=64).save(store / "digitsnet-b.parquet")
    (found,) = gathered_multiverses(store)
    assert found.metadata["model"] == "mini:digitsnet"
    with pytest.raises(AffscoreError, match="no folder"):
        gathered_multiverses(tmp_path / "missing")


def test_multiverses_are_asked_as_they_are_measured():
    one = multiverse("mini:vit_l_16", "digits", n=512, images=512, reductions=["mean", "sample", "published"])
    table = claims_by_specification([one], claims=[PATCHES])
    assert [tuple(row) for row in table[list(Specification._fields)].to_numpy()] == list(SPECIFICATIONS)
    assert (table["networks"] == 1).all()
    assert table["found"].nunique() > 8


@pytest.mark.slow
def test_the_file_of_the_package_is_what_the_command_computes(shipped):
    own = shipped.results
    table = claims_by_specification(gathered_multiverses(), own.signatures, studies=own.studies)
    held = [name for name in COLUMNS if name != "found"]  # a sentence, whose numbers a processor may round otherwise
    pd.testing.assert_frame_equal(table[held], shipped_claims()[held])
    words = {(row.claim.name, row.results.about): row for row in shipped.claims}
    own = table[(table[list(Specification._fields)] == list(PAPERS_CHOICE)).all(axis=1)]
    assert len(own) > 20
    defensible = table[table["reduction"] != "published"]
    for one in own.itertuples():
        row = words[one.claim, one.on]
        same = defensible[["claim", "on", "networks"]] == [one.claim, one.on, one.networks]
        # whatever has another specification was asked again
        assert (row.verdict.word, row.robustness is not None) == (one.verdict, same.all(axis=1).sum() > 1)


@pytest.mark.slow
def test_the_conclusions_of_a_chapter_are_rows_of_the_ledger():
    ledger = Ledger(AllResults.gather(), shipped_claims())
    table = ledger.conclusions("vggs-alike", "no-criterion-says-the-same")
    assert list(table.columns) == ["verdict", "under other choices", "tested on", "networks"]
    own = ledger.claim_table.set_index("claim")
    for text, row in table.iterrows():
        (same,) = own[own["on"] == row["tested on"]].loc[[text]].itertuples()
        assert (row["verdict"], row["networks"], row["under other choices"]) == (
            same.verdict, same.networks, same.specifications,
        )  # fmt: skip
    assert len(table) == 3
    with pytest.raises(AffscoreError, match="no claim is called 'vggs'"):
        ledger.conclusions("vggs")


def test_criteria_come_from_a_signature_of_the_same_reduced_samples():
    signatures = [signature("mini:alexnet", "digits", n=64, images=128, order=order) for order in get_args(OrderName)]
    several = multiverse("mini:alexnet", "digits", n=64, images=128)
    tables = {_measured(one): one.table for one in signatures}
    for choice in several.choices:
        joined = _with_criteria(several.signature(*choice), tables)
        if choice.reduction == "sample":
            assert "cka" not in joined.table
            continue
        (same,) = [one for one in signatures if one.metadata["order"] == choice.order]
        pd.testing.assert_series_equal(joined.table["cka"], same.table["cka"])
        np.testing.assert_array_equal(joined.scores, several.scores[choice])
