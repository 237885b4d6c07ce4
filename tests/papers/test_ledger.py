"""The ledger: a row for each printed number, and verdicts that follow from the numbers."""

import csv
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import affscore.papers
from affscore.errors import AffscoreError
from affscore.network.result import Signature
from affscore.papers import printed_table, printed_tables
from affscore.papers.alexnet_to_transformers import (
    figure_04,
    figure_10_to_13,
    figure_15,
    numbers_in_text,
    table_1,
    table_2,
    table_3,
)
from affscore.papers.all_results import AllResults
from affscore.papers.comparison import VERDICTS, WAYS, OurNumber, compare
from affscore.papers.ledger import ALL, COLUMNS, Ledger, all_claims
from affscore.papers.printed import PrintedNumber
from affscore.papers.protocol import printed_reduction, survey_command
from tests.synthetic_signatures import synthetic

TABLE_2 = printed_table("table2_correlations")


def with_correlations(name, wanted, **about):
    """A signature whose correlations with the criteria are these."""
    generator = np.random.default_rng(len(name))
    scores = generator.uniform(0.4, 0.9, 40)
    x = (scores - scores.mean()) / scores.std()
    noise = generator.standard_normal(40)
    noise -= noise.mean() + x * (noise @ x) / 40
    noise /= noise.std()
    values = {key: r * x + (1 - r**2) ** 0.5 * noise for key, r in wanted.items()}
    columns = {"cka": values["cka"], "norm": values["norm"], "r2": values["r2"]}
    for key in ("sparsity", "entropy"):
        columns |= {f"{key}_before": np.zeros(40), f"{key}_after": values[key]}
    weights = "IMAGENET1K_V1"
    if name in ("resnet50", "resnet101", "resnet152", "efficientnet_b1"):
        weights = "IMAGENET1K_V2"
    if name == "vit_h_14":
        weights = "IMAGENET1K_SWAG_E2E_V1"
    about = {"model": name, "weights": weights, "reduction": printed_reduction(name), **about}
    return synthetic(scores, **about, criteria=columns)


def disagreeing(signature, by):
    """The same mean scores and criteria, from two batches that disagree widely about each score."""
    table = signature.table.copy()
    shift = np.random.default_rng(0).normal(0, by, len(signature))
    for batch, sign in ((0, 1), (1, -1)):
        table.loc[table["batch"] == batch, "score"] += sign * shift
    return Signature(table, signature.metadata)


@pytest.fixture(scope="module")
def store():
    """What a reader's store would hold if it gave the printed correlations."""
    return [with_correlations(str(name), wanted) for name, wanted in TABLE_2.iterrows()]


@pytest.fixture(scope="module")
def of_store(store):
    return Ledger(AllResults(store))


MODULES = {
    "figure 4": figure_04,
    "figures 10 to 13": figure_10_to_13,
    "figure 15": figure_15,
    "figures 10 and 12": numbers_in_text,
    "appendix F": numbers_in_text,
    "table 1": table_1,
    "table 2": table_2,
    "table 3": table_3,
}


def row(results, part, item):
    """A row of one figure or table, without the rest of the ledger; results are signatures, or all there are."""
    results = results if isinstance(results, AllResults) else AllResults(results)
    rows = (one for one in MODULES[part].rows(results) if part in one.printed.source)
    return next(one for one in rows if one.printed.item == item)


def counted(name):
    """How many numbers a file of printed numbers has, read by another reader than the package's."""
    (file,) = Path(affscore.papers.__file__).parent.rglob(f"{name}.csv")
    with file.open(encoding="utf-8") as lines:
        header, *rows = csv.reader(line for line in lines if not line.startswith("#"))

    def is_number(cell):
        try:
            float(cell)
        except ValueError:
            return False
        return True

    if name == "study_networks":  # names and what is known of them; the years that are printed stand in numbers_in_text
        return 0
    flags = ("in_figure14", "in_figure15")
    return sum(
        is_number(cell)
        for cells in rows
        for column, cell in list(zip(header, cells, strict=True))[1:]
        if column not in flags
    )


def test_there_is_a_row_for_each_printed_number(empty):
    wanted = {name: counted(name) for name in printed_tables()}
    rows = Counter(one.printed.table for one in empty.rows)
    assert rows == Counter({name: count for name, count in wanted.items() if count})
    assert len(empty.table) == sum(wanted.values()) >= 362
    assert not empty.table.duplicated(["source", "item"]).any()


def test_numbers_are_as_printed(empty):
    for number in (one.printed for one in empty.rows):
        assert number.value == float(number.text) == printed_table(number.table).loc[number.row, number.column]
    assert set(empty.table["published"]) >= {"-0.003", "0.70", "2012", "448.56"}


def test_every_row_has_a_verdict_and_the_columns_are_those_agreed(empty):
    table = empty.table
    assert tuple(table.columns) == COLUMNS
    assert list(table.columns) == "source item published way ours analogue difference verdict command".split()
    assert table["verdict"].str.startswith(VERDICTS).all()
    assert set(table["way"]) == set(WAYS)
    missing = table["verdict"] == "needs data"
    assert (table.loc[missing, "command"] != "").all()
    assert table.loc[missing, "ours"].isna().all()
    # of some numbers of figure 7 the paper does not print what they are of
    short = table["verdict"].str.contains("the paper does not print")
    assert table.loc[short, "ours"].isna().all()
    assert table.loc[short, "source"].str.contains("figure 7").all()
    assert short.sum() == 18
    # the poster's networks are not published: they have to be trained again
    poster = table["source"].str.contains("Linear Regions")
    assert missing[poster].all()
    made = "python scripts/make_studies.py --only regions-{} --out results/studies && affscore ledger --results results"
    studies = ("cifar10", "cifar10-resnet18", "cifar100")
    assert set(table.loc[poster, "command"]) == {made.format(study) for study in studies}
    assert (missing | short | ~table["verdict"].str.startswith("needs data")).all()


def check_verdicts(found):
    """Recompute every verdict from what the row shows."""
    for one in found.rows:
        published = float(one.printed.text)
        unit = 10.0**-one.printed.decimals
        if one.verdict == "needs data":
            assert one.tolerance is None
            assert one.ours is None or one.our_number.error > unit
            continue
        if one.ours is None:
            assert one.our_number.undefined
            continue
        assert one.our_number.exact or one.our_number.error <= unit
        assert one.difference == pytest.approx(one.ours - published, abs=1e-9)
        assert (one.verdict == "reproduced") == (abs(one.difference) <= one.tolerance)
        if one.verdict == "reproduced" and not one.our_number.exact:
            assert f"within {one.tolerance:g}" in one.verdict_text
        if one.verdict == "differs":
            assert one.reason


def test_verdicts_follow_from_the_numbers(empty, of_store):
    check_verdicts(empty)
    check_verdicts(of_store)


@pytest.mark.parametrize(
    ("text", "ours", "verdict"),
    [
        ("0.62", 0.6249, "reproduced (within 0.005)"),
        ("0.62", 0.6251, "differs (by more than rounding and sampling explain; cut"),
        ("-0.003", -0.0039, "differs (by more than rounding and sampling explain; cut"),
        ("-0.003", -0.0026, "reproduced (within 0.0005)"),
        ("20", 20.9, "differs (by more than rounding and sampling explain; cut"),
        ("0.62", 0.6301, "differs (by more than rounding and sampling explain)"),
        ("0.62", 0.6151, "reproduced (within 0.005)"),
        ("0.62", 0.6149, "differs (by more than rounding and sampling explain)"),
        ("-0.62", -0.6299, "differs (by more than rounding and sampling explain; cut"),
        ("-0.62", -0.6149, "differs (by more than rounding and sampling explain)"),
        ("0.00", -0.004, "reproduced (within 0.005)"),
        ("20", 19.4, "differs (by more than rounding and sampling explain)"),
        ("0.62", float("nan"), "needs data"),
        ("0.62", None, "needs data"),
    ],
)
def test_the_tolerance_is_half_a_unit_of_the_last_digit(text, ours, verdict):
    told = compare(PrintedNumber("", "", "", text, "", ""), OurNumber(ours)).verdict_text
    assert told == verdict or (verdict.endswith("cut") and told.startswith(verdict))


def test_a_number_that_depends_on_an_unprinted_choice_is_never_reproduced():
    number = PrintedNumber("", "", "", "0.78", "", "")

    def told(between):
        return compare(number, OurNumber(unprinted="of which d this is", between=between)).verdict_text

    assert told((0.66, 0.86)) == (
        "needs data (consistent with ours, 0.66 to 0.86: the paper does not print of which d this is)"
    )
    assert told((0.784, 0.86)).startswith("needs data (consistent with ours")  # as far as rounding goes
    assert told((0.79, 0.86)) == "differs (ours is 0.79 to 0.86; the paper does not print of which d this is)"
    assert told((0.6, 0.77)).startswith("differs (")
    assert told(None) == "needs data (the paper does not print of which d this is)"


def test_sampling_widens_the_tolerance_and_counts_have_none():
    number = PrintedNumber("", "", "", "0.62", "", "")
    assert compare(number, OurNumber(0.636, error=0.01)).verdict_text == "reproduced (within 0.025)"
    assert compare(number, OurNumber(0.625, error=0.0)).verdict == "reproduced"
    assert compare(number, OurNumber(0.636, error=0.0)).verdict == "differs"
    assert compare(PrintedNumber("", "", "", "8", "", ""), OurNumber(7.0, error=5.0, exact=True)).verdict == "differs"
    assert compare(number, OurNumber(0.62, error=0.0033)).tolerance == 0.0116
    for ours in (None, float("nan"), 0.62):
        undefined = compare(number, OurNumber(ours, undefined="no value"))
        assert (undefined.verdict_text, undefined.ours) == ("differs (no value)", None)


def test_an_analogue_has_a_digit_more_than_is_printed_or_is_not_there():
    number = PrintedNumber("", "", "", "0.62", "", "")
    told = [compare(number, analogue=analogue).analogue for analogue in ((0.5, "mine"), (np.nan, "mine"), None)]
    assert told == ["0.500 (mine)", "", ""]


@pytest.mark.parametrize("ours", [0.62, 0.9])
def test_too_much_sampling_error_decides_nothing(ours):
    found = compare(PrintedNumber("", "", "", "0.62", "", ""), OurNumber(ours, error=0.011, how="on few"))
    assert found.verdict_text == "needs data (more images: the standard error of ours is 0.011, more than 0.01; on few)"
    assert (found.ours, found.difference) == (ours, pytest.approx(ours - 0.62))


@pytest.mark.slow
def test_printed_correlations_in_a_readers_store_are_reproduced(of_store):
    found = of_store.results
    rows = [one for one in of_store.rows if one.printed.table == "table2_correlations"]
    assert {one.verdict for one in rows} == {"reproduced"}
    assert max(abs(one.difference) for one in rows) < 1e-3
    # what the paper prints as the average of these rows is not their average
    average = row(found, "table 2", "Average: mean of the correlation of score and norm")
    assert average.ours == pytest.approx(TABLE_2["norm"].mean(), abs=1e-3)
    assert average.verdict_text.startswith("differs (")
    deviation = row(found, "table 2", "Average: standard deviation of the correlation of score and norm")
    assert deviation.ours == pytest.approx(TABLE_2["norm"].std(ddof=0), abs=1e-3)
    # table 1 has families whose networks are all there, and MNASNets, which are not
    assert row(found, "table 1", "VGGs: mean of the correlation of score and entropy").verdict_text.startswith(
        "reproduced"
    )
    assert row(found, "table 1", "MNASNets: mean of the correlation of score and CKA").verdict_text == "needs data"


def test_a_changed_correlation_differs():
    wanted = TABLE_2.loc["resnet18"].to_dict() | {"cka": -0.2}
    found = row([with_correlations("resnet18", wanted)], "table 2", "resnet18: correlation of score and CKA")
    assert found.ours == pytest.approx(-0.2, abs=1e-4)
    assert found.difference == pytest.approx(-0.79, abs=1e-4)
    assert found.verdict_text == "differs (by more than rounding and sampling explain; on 1024 of the 50,000 images)"


def test_a_criterion_that_never_changes_has_no_correlation():
    flat = synthetic([0.5, 0.6, 0.7, 0.8, 0.9], "alexnet", criteria={"cka": [0.5] * 5})
    found = row([flat], "table 2", "alexnet: correlation of score and CKA")
    assert found.verdict_text.startswith("differs (the criterion is the same for all activations (0.5)")
    assert found.ours is None


@pytest.mark.slow
def test_a_criterion_that_never_changes_in_a_network_leaves_its_family_without_a_mean(store):
    flat = synthetic([0.5, 0.6, 0.7, 0.8, 0.9], "vgg11", criteria={"cka": [0.5] * 5})
    others = [one for one in store if one.metadata["model"] != "vgg11"]
    found = row([flat, *others], "table 1", "VGGs: mean of the correlation of score and CKA")
    assert found.verdict_text == "differs (the criterion is the same for all activations (0.5))"


@pytest.mark.parametrize("absent", [True, False], ids=["no column", "all missing"])
@pytest.mark.slow
def test_a_criterion_that_was_not_measured_needs_data(store, absent):
    full = next(one for one in store if one.metadata["model"] == "vgg11")
    table = full.table.drop(columns="cka") if absent else full.table.assign(cka=np.nan)
    others = [one for one in store if one is not full]
    found = AllResults([Signature(table, full.metadata), *others])
    cka = row(found, "table 2", "vgg11: correlation of score and CKA")
    assert (cka.verdict_text, cka.command.split()[:4]) == ("needs data", ["affscore", "survey", "--models", "vgg11"])
    assert cka.ours is None
    assert row(found, "table 1", "VGGs: mean of the correlation of score and CKA").verdict_text == "needs data"
    assert row(found, "table 2", "vgg11: correlation of score and norm").verdict_text.startswith("reproduced")


def test_batches_that_disagree_widely_decide_no_correlation():
    agreeing = with_correlations("resnet18", TABLE_2.loc["resnet18"].to_dict())
    item = "resnet18: correlation of score and CKA"
    for by, verdict in ((0.001, "reproduced (within 0.0"), (0.2, "needs data (more images: the standard error")):
        found = row([disagreeing(agreeing, by)], "table 2", item)
        assert found.ours == pytest.approx(TABLE_2.loc["resnet18", "cka"], abs=1e-4)  # both times as printed
        assert found.verdict_text.startswith(verdict)


def test_a_correlation_that_one_batch_alone_has_decides_nothing():
    whole = with_correlations("resnet18", TABLE_2.loc["resnet18"].to_dict())
    table = whole.table.copy()
    table.loc[table["batch"] == 1, "cka"] = 0.5
    found = row([Signature(table, whole.metadata)], "table 2", "resnet18: correlation of score and CKA")
    assert found.verdict_text.startswith("needs data (more images: the standard error of ours is inf")


def test_batches_that_disagree_widely_decide_no_spread():
    item = "alexnet: standard deviation of the scores over batches"
    two = disagreeing(synthetic([0.5, 0.6, 0.7, 0.8], "alexnet"), 0.3)
    found = row([two], "figures 10 to 13", item)
    assert found.ours > 0.1
    assert found.verdict_text.startswith("needs data (more batches: the standard error of ours is 0.")


@pytest.mark.parametrize(
    "about",
    [
        {"weights": "random"},
        {"weights": "resnet18.pth"},
        {"model": "mini:resnet18", "weights": "DEFAULT", "dataset": "digits"},
        {"model": "timm:resnet18"},
        {"dataset": "folder:imagenet-sample"},
        {"dataset": "digits"},
        {"n": 256},
        {"order": "reduce-first"},
        {"covariance": "empirical"},
        {"coupling": "paired"},
        {"reduction": "sample"},
        {"batches": 1},
    ],
    ids=str,
)
def test_what_is_not_the_same_measurement_is_never_ours(about):
    wanted = TABLE_2.loc["resnet18"].to_dict()
    found = AllResults([with_correlations("resnet18", wanted, **about)])
    for module in (table_2, figure_10_to_13):
        assert all(one.ours is None and one.verdict == "needs data" for one in module.rows(found))


def test_only_default_weights_are_the_papers():
    wanted = TABLE_2.loc["resnet50"].to_dict()
    older = with_correlations("resnet50", wanted, weights="IMAGENET1K_V1")
    found = row([older], "table 2", "resnet50: correlation of score and CKA")
    assert found.verdict_text == "needs data"
    assert found.analogue == "0.560 (resnet50 with IMAGENET1K_V1 on imagenet:imagenet, reduction mean)"


@pytest.mark.parametrize("name", ["vit_b_16", "swin_t", "convnext_tiny", "resnet18"])
def test_only_the_reduction_that_gave_the_printed_numbers_is_ours(name):
    right, other = ("mean", "published") if name == "resnet18" else ("published", "mean")
    wanted = TABLE_2.loc[name].to_dict()
    as_printed = with_correlations(name, wanted, reduction=right)
    otherwise = with_correlations(name, wanted | {"cka": 0.9}, reduction=other, images=40_000)
    item = f"{name}: correlation of score and CKA"
    analogue = f"0.900 ({name} with IMAGENET1K_V1 on imagenet:imagenet, reduction {other})"
    for order in ([as_printed, otherwise], [otherwise, as_printed]):
        both = row(order, "table 2", item)
        assert both.ours == pytest.approx(wanted["cka"], abs=1e-4)
        assert both.verdict_text.startswith("reproduced")
        assert both.analogue == analogue
    alone = row([otherwise], "table 2", item)
    assert (alone.verdict_text, alone.analogue) == ("needs data", analogue)
    assert alone.ours is None


def test_of_two_results_the_one_of_more_images_counts():
    wanted = TABLE_2.loc["alexnet"].to_dict()
    few, many = (with_correlations("alexnet", wanted | {"cka": r}, images=n) for r, n in ((0.1, 5120), (0.2, 49_664)))
    item = "alexnet: correlation of score and CKA"
    for order in ([few, many], [many, few]):
        assert row(order, "table 2", item).ours == pytest.approx(0.2, abs=1e-4)


def test_analogues_say_what_they_are_and_are_no_verdict():
    mini = with_correlations("mini:resnet18", {"cka": 0.3, "norm": 0, "r2": 0, "sparsity": 0, "entropy": 0},
                             weights="DEFAULT", dataset="digits", batches=1)  # fmt: skip
    cifar = synthetic([0.5, 0.7, 0.9], "cifar_networks.py:resnet20", "resnet20.pt", "folder:cifar10-test", noise=0.02)
    untrained = with_correlations("mini:vgg11", TABLE_2.loc["vgg11"].to_dict(), weights="random", dataset="digits")
    found = AllResults([mini, cifar, untrained])
    cka = row(found, "table 2", "resnet18: correlation of score and CKA")
    assert (cka.analogue, cka.verdict_text) == ("0.300 (mini:resnet18 on digits)", "needs data")
    spread = row(found, "figures 10 to 13", "resnet18: standard deviation of the scores over batches")
    assert spread.analogue.startswith("0.0141 (resnet20 trained on CIFAR-10, on 2 batches")
    assert row(found, "table 2", "vgg11: correlation of score and CKA").analogue == ""
    assert all(one.ours is None for module in (table_2, figure_10_to_13) for one in module.rows(found))


def test_all_members_of_a_family_make_its_analogue():
    names = ("vgg11", "vgg13", "vgg16", "vgg19")
    minis = [
        with_correlations(f"mini:{name}", TABLE_2.loc[name].to_dict(), weights="DEFAULT", dataset="digits")
        for name in names
    ]
    item = "VGGs: mean of the correlation of score and norm"
    assert row(minis[:3], "table 1", item).analogue == ""
    told = row(minis, "table 1", item).analogue
    assert told == "-0.667 (the 4 networks mini: of the same names on digits)"


def test_the_spread_over_batches():
    item = "alexnet: standard deviation of the scores over batches"
    for noise, verdict in ((0.0005, "reproduced (within "), (0.001, "differs (")):
        one = synthetic([0.5, 0.7], "alexnet", noise=noise, batches=30)
        found = row([one], "figures 10 to 13", item)
        # the batches lie at equal distances: the variance of 30 integers in a row is 30 * 31 / 12
        assert found.ours == pytest.approx(noise * (30 * 31 / 12) ** 0.5, abs=1e-5)
        assert found.verdict_text.startswith(verdict)


def test_the_error_of_a_spread_is_that_of_the_batches():
    """Activations that move together tell no more than one of them; independent ones tell more."""
    generator = np.random.default_rng(0)
    item = "alexnet: standard deviation of the scores over batches"

    def error(alike):
        one = synthetic([0.6] * 20, "alexnet", batches=40)
        moves = generator.normal(0, 0.005, (40, 1 if alike else 20)) * np.ones((40, 20))
        found = [Signature(one.table.assign(score=0.6 + moves.ravel()), one.metadata)]
        return row(found, "figures 10 to 13", item).our_number.error

    one_standard_deviation = 0.005 / (2 * 39) ** 0.5  # of forty normal numbers
    assert error(alike=True) == pytest.approx(one_standard_deviation, rel=0.4)
    assert error(alike=False) == pytest.approx(one_standard_deviation / 20**0.5, rel=0.4)


@pytest.mark.slow
def test_figure_15():
    there = []
    for number, name in enumerate(figure_15.networks()):
        weights = with_correlations(name, TABLE_2.loc["alexnet"].to_dict()).metadata["weights"]
        weights = "IMAGENET1K_V2" if name.startswith("wide") else weights
        for dataset, gap in (("imagenet:val", 0.0), ("cifar10", 0.28), ("random", 0.3 + 0.01 * number)):
            there.append(synthetic([0.4, 0.4 + gap], name, weights, dataset, reduction=printed_reduction(name)))
    found = there
    item = "mean over networks of the distance to the signature on ImageNet"
    assert row(found, "figure 15", f"cifar10: {item}").ours == pytest.approx(0.28)
    assert row(found, "figure 15", f"cifar10: {item}").verdict_text.startswith("reproduced")
    assert row(found, "figure 15", f"random: {item}").ours == pytest.approx(0.46)
    assert row(found, "figure 15", f"random: {item}").verdict_text.startswith("differs (the caption says Euclidean")
    assert row(found, "figure 15", f"cifar100: {item}").verdict_text == "needs data"


def test_table_3():
    names = [str(name) for name in printed_table("figure16_checkpoints").index]
    there = []
    for number, name in enumerate(names):
        supervised = name in ("resnet50", "wide_resnet50_2")
        model = name if supervised else "resnet50"
        weights = "IMAGENET1K_V2" if supervised else f"{name}.pth"
        there.append(synthetic([0.5, 1.0 if number % 2 else 0.98], model, weights))
    found = there
    assert row(found, "table 3", "affinity score: mean over checkpoints of ResNet-50").ours == pytest.approx(
        0.7447, abs=1e-3
    )
    assert row(found, "table 3", "norm: mean over checkpoints of ResNet-50").verdict_text.startswith("differs (")
    assert row(there[1:], "table 3", "affinity score: mean over checkpoints of ResNet-50").verdict_text == "needs data"


def test_figure_4():
    found = AllResults([])
    assert row(found, "figure 4", "Residual: R2 of ops").verdict_text.startswith("reproduced (within 0.0005")
    cut = row(found, "figure 4", "NAS-based: R2 of num_params")
    assert cut.ours == pytest.approx(0.95596, abs=5e-6)
    assert "cut after the last digit" in cut.verdict_text
    assert row(found, "figure 4", "Post-ViT: R2 of depth").verdict_text.startswith(
        "differs (the paper does not say how it counts"
    )
    item = "ViTs: R2 of min"
    assert row(found, "figure 4", item).verdict_text == "needs data"
    accuracy = {"vit_b_16": 81.072, "vit_b_32": 75.912, "vit_l_16": 79.662, "vit_l_32": 76.972, "vit_h_14": 88.552}
    defaults = {"vit_h_14": "IMAGENET1K_SWAG_E2E_V1"}
    vits = [
        synthetic([np.exp((percent - 110) / 10), 0.5], name, defaults.get(name, "IMAGENET1K_V1"), reduction="published")
        for name, percent in accuracy.items()
    ]
    assert row(vits, "figure 4", item).ours == pytest.approx(1.0)


def test_figure_4_has_analogues_of_small_networks_on_the_hard_task():
    names = ["vit_b_16", "vit_b_32", "vit_l_16", "vit_l_32", "vit_h_14"]
    rows = [
        {"name": name, "seed": seed, "accuracy": 50.0 + number, "min": float(np.exp(number)), "mean": 0.5 + seed / 100}
        for number, name in enumerate(names)
        for seed in range(2)
    ]
    zoo = pd.DataFrame({"name": names, "depth": 3, "parameters": 10, "flops": [1, 2, 4, 8, 16]})
    found = AllResults([], zoo, pd.DataFrame(rows))
    told = row(found, "figure 4", "ViTs: R2 of min").analogue
    assert told == "1.0000 (5 networks mini: of that group on the hard task)"
    assert row(found, "figure 4", "ViTs: R2 of ops").analogue.startswith("1.0000 (")
    assert row(found, "figure 4", "Post-ViT: R2 of median").analogue == ""


def test_what_is_counted(empty):
    found = empty.results
    layers = row(found, "appendix F", "alexnet: layers with a ReLU")
    assert (layers.ours, layers.verdict_text) == (7, "differs (the last of its eight layers has no ReLU)")
    assert row(found, "figures 10 and 12", "vgg19: depth of the last activation").verdict_text.startswith("reproduced")
    years = empty.table[empty.table["source"].str.endswith("section 4")].set_index("item")
    assert (years["way"] == "looked up").all()
    of_residual = years.pop("verdict")["residual connections: year of their proposal"]
    assert of_residual.startswith("differs (ours is the year in which it was first made public")


def test_only_years_that_are_printed_have_a_row(empty):
    """Section 4 dates seven architectures, and residual connections; the other years of the study are ours."""
    years = [one for one in empty.rows if one.printed.row.endswith("_year")]
    assert [one.printed.text for one in years] == ["2012", "2014", "2014", "2016", "2019", "2020", "2021", "2022"]
    assert [one.verdict for one in years] == ["reproduced"] * 3 + ["differs"] + ["reproduced"] * 4


def test_numbers_of_googlenet_are_its_ends_and_its_size():
    rows = numbers_in_text.rows(AllResults([synthetic([0.31, 0.62, 0.93], "googlenet")]))
    ours = {one.printed.row: one.our_number.value for one in rows if "googlenet" in one.printed.row}
    assert ours["googlenet_lowest_score"] == pytest.approx(0.31)
    assert ours["googlenet_highest_score"] == pytest.approx(0.93)
    assert ours["vgg16_per_googlenet"] == pytest.approx(138_357_544 / 6_624_904)


def test_counts_add_up(empty):
    counts = empty.counts
    assert list(counts.columns) == [*VERDICTS, "numbers"]
    assert (counts[list(VERDICTS)].sum(axis=1) == counts["numbers"]).all()
    totals = counts.xs(ALL, level="source")
    assert totals.index.tolist() == list(WAYS)
    assert totals["numbers"].sum() == len(empty.rows)
    for way in WAYS:
        members = counts.loc[way]
        assert members.drop(index=ALL).sum().tolist() == members.loc[ALL].tolist()
        for verdict in ("reproduced", "differs"):
            some = [one for one in empty.rows if one.our_number.way == way and one.verdict == verdict]
            assert totals.loc[way, verdict] == len(some)


def test_what_was_looked_up_is_not_counted_with_what_was_measured(empty):
    counts = empty.counts.reset_index()
    reproduced = counts[counts["reproduced"] > 0].set_index("way")["source"]
    assert reproduced["looked up"].str.contains("section 4|appendix|all").all()
    assert reproduced["measured"].str.contains("figure 7|all").all()  # nothing else can be here
    totals = empty.counts.xs(ALL, level="source")
    words = {"measured": "measured here", "computed": "computed from public metadata", "looked up": "looked up"}
    differ = {0: "0 differ", 1: "1 differs", 5: "5 differ"}
    told = [f"{words[way]}: {row.reproduced} reproduced, {differ[row.differs]}" for way, row in totals.iterrows()]
    assert str(empty).startswith(f"{len(empty.rows)} printed numbers; {'; '.join(told)}; needs data: ")


def test_the_command_measures_each_network_as_its_numbers_were_and_noise_apart():
    words = survey_command(["resnet18", "swin_t", "alexnet"], ["imagenet:here", "random"])
    assert words.split(" && ") == [
        "affscore survey --models resnet18,alexnet --datasets imagenet:here --store results",
        "affscore survey --models resnet18,alexnet --datasets random --images 10240 --store results",
        "affscore survey --models swin_t --datasets imagenet:here --reductions published --store results",
        "affscore survey --models swin_t --datasets random --images 10240 --reductions published --store results",
        "affscore ledger --results results",
    ]


def test_results_are_signatures():
    with pytest.raises(AffscoreError, match="results are signatures"):
        AllResults(["resnet18.parquet"])


def test_figure_7_is_reproduced_where_the_paper_says_what_it_shows(empty):
    rows = [one for one in empty.rows if one.printed.table == "figure7_activation_scores"]
    assert len(rows) == 36
    limits = {"reduced_mean": 0.014, "shrinkage": 0.0075}
    for one in rows:
        if one.printed.column in limits:
            assert one.verdict == "reproduced", one.printed.item
            assert one.tolerance < limits[one.printed.column], one.printed.item
            assert abs(one.ours - float(one.printed.text)) <= one.tolerance
        else:
            assert one.verdict == "needs data", one.printed.item
            assert ("consistent with ours" in one.reason) == (one.printed.column == "empirical")


@pytest.mark.slow
def test_what_comes_with_the_package(shipped):
    """The real thing: no number of a small network is ours, and every network that has an analogue shows it."""
    table = shipped.table
    networks = table[table["source"].str.contains("table|figures 10 to 13|figure 15|poster")]
    assert networks["ours"].isna().all()
    assert networks["verdict"].str.startswith("needs data").all()
    per_network = table[table["source"].str.endswith("table 2") & ~table["item"].str.startswith("Average")]
    assert per_network["analogue"].str.contains("mini:").all()
    reproduced = table["verdict"].str.startswith("reproduced")
    figure_7 = table["source"].str.contains("figure 7") & ~table["item"].str.contains("deviation|sample covariance")
    assert figure_7.sum() == 18
    assert reproduced[figure_7].all()
    assert reproduced[table["source"].str.endswith("figure 4")].sum() == 2
    assert set(shipped.claim_table["analogue"]) == {True, False}
    assert len(shipped.claims) > len(all_claims())
