"""The ledger: a row for each printed number, and verdicts that follow from the numbers."""

import csv
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import companion
from companion.all_results import AllResults
from companion.chapter_07 import claims as accuracy
from companion.chapter_09 import claims as criteria
from companion.chapter_12 import claims as other_data
from companion.chapter_13 import claims as inside
from companion.ledger import COLUMNS, Ledger
from companion.networks import ASK_AGAIN, printed_reduction, survey_command
from companion.printed import VERDICTS, WAYS, OurNumber, PrintedNumber, compare, printed_table, printed_tables
from tests.synthetic_signatures import synthetic

TABLE_2 = printed_table("table2_correlations")
MODULES = {
    "figure 4": accuracy,
    "figures 10 to 13": inside,
    "figure 15": other_data,
    "figures 10 and 12": inside,
    "appendix F": inside,
    "table 1": criteria,
    "table 2": criteria,
    "table 3": other_data,
}
SECOND = ("resnet50", "resnet101", "resnet152", "efficientnet_b1", "wide_resnet50_2", "wide_resnet101_2")
WEIGHTS = dict.fromkeys(SECOND, "IMAGENET1K_V2") | {"vit_h_14": "IMAGENET1K_SWAG_E2E_V1"}


def measured(scores, name, **about):
    """What a reader measures as the papers did."""
    weights = WEIGHTS.get(name, "IMAGENET1K_V1")
    return synthetic(scores, **{"model": name, "weights": weights, "reduction": printed_reduction(name), **about})


def with_correlations(name, **about):
    """A signature whose correlations with the criteria are these, or the printed ones."""
    wanted = TABLE_2.loc[name.removeprefix("mini:")].to_dict() | about.pop("wanted", {})
    generator = np.random.default_rng(len(name))
    scores = generator.uniform(0.4, 0.9, 40)
    x = (scores - scores.mean()) / scores.std()
    rest = generator.standard_normal(40)
    rest -= rest.mean() + x * (rest @ x) / 40
    values = {key: r * x + (1 - r**2) ** 0.5 * rest / rest.std() for key, r in wanted.items()}
    columns = {"cka": values["cka"], "norm": values["norm"], "r2": values["r2"]}
    for key in ("sparsity", "entropy"):
        columns |= {f"{key}_before": np.zeros(40), f"{key}_after": values[key]}
    return measured(scores, name, criteria=columns, **about)


def row(results, part, item):
    """A row of one figure or table, without the rest of the ledger."""
    rows = MODULES[part].rows(results if isinstance(results, AllResults) else AllResults(results))
    return next(one for one in rows if part in one.printed.source and one.printed.item == item)


def counted(name):
    """How many numbers a file of printed numbers has, read by another reader than the package's."""
    file = Path(companion.__file__).parent / "data" / "printed" / f"{name}.csv"
    with file.open(encoding="utf-8") as lines:
        header, *rows = csv.reader(line for line in lines if not line.startswith("#"))
    no_numbers = ("models", "best_signature_statistic", "best_common_characteristic", "place", "item", "how", "why")
    held = [column not in no_numbers for column in header]
    if name in ("study_networks", "figure16_checkpoints"):  # names and what is known of them
        return 0
    return sum(bool(cell) for cells in rows for cell, number in list(zip(cells, held, strict=True))[1:] if number)


def test_there_is_a_row_for_each_printed_number(empty):
    rows = Counter(one.printed.table for one in empty.rows)
    assert rows == Counter({name: count for name in printed_tables() if (count := counted(name))})
    assert len(empty.table) == 391
    assert not empty.table.duplicated(["source", "item"]).any()
    for number in (one.printed for one in empty.rows):
        assert number.value == float(number.text) == printed_table(number.table).loc[number.row, number.column]


def test_every_row_has_a_verdict_and_the_columns_are_those_agreed(empty):
    table = empty.table
    assert tuple(table.columns) == COLUMNS
    assert list(table.columns) == "source item published way ours analogue difference verdict command".split()
    assert table["verdict"].str.startswith(VERDICTS).all()
    assert set(table["way"]) == set(WAYS)
    missing = table["verdict"] == "needs data"
    assert (table.loc[missing, "command"] != "").all()
    assert table.loc[missing, "ours"].isna().all()
    short = table["verdict"].str.contains("the paper does not print")  # of some numbers of figure 7, what they are of
    assert table.loc[short, "ours"].isna().all()
    assert table.loc[short, "source"].str.contains("figure 7").sum() == short.sum() == 18
    poster = table["source"].str.contains("Linear Regions")  # whose networks have to be trained again
    made = "python -m companion.studies --only regions-{} --out results/studies && " + ASK_AGAIN
    studies = ("cifar10", "cifar10-resnet18", "cifar100")
    assert set(table.loc[poster, "command"]) == {made.format(study) for study in studies}


@pytest.mark.slow
def test_printed_correlations_in_a_readers_store_are_reproduced():
    ledger = Ledger(AllResults([with_correlations(str(name)) for name in TABLE_2.index]))
    for one in ledger.rows:  # every verdict follows from what the row shows
        unit = 10.0**-one.printed.decimals
        if one.verdict == "needs data":
            assert one.ours is None or one.our_number.error > unit
        elif one.ours is not None:
            assert one.difference == pytest.approx(one.ours - float(one.printed.text), abs=1e-9)
            tolerance = 0 if one.our_number.exact else unit / 2 + 2 * one.our_number.error
            assert (one.verdict == "reproduced") == (abs(one.difference) <= tolerance + 1e-6)
            assert one.reason or one.our_number.exact
    rows = {one.printed.item: one for one in ledger.rows}
    assert {one.verdict for one in ledger.rows if one.printed.table == "table2_correlations"} == {"reproduced"}
    # what the paper prints as the average of these rows is not their average
    average = rows["Average: mean of the correlation of score and norm"]
    assert average.ours == pytest.approx(TABLE_2["norm"].mean(), abs=1e-3)
    assert average.verdict_text.startswith("differs (")
    # table 1 has families whose networks are all there, and MNASNets, which are not
    assert rows["VGGs: mean of the correlation of score and entropy"].verdict == "reproduced"
    assert rows["MNASNets: mean of the correlation of score and CKA"].verdict_text == "needs data"


@pytest.mark.parametrize(
    ("our", "verdict"),
    [
        (OurNumber(0.6249), "reproduced (within 0.005)"),  # half a unit of the last digit
        (OurNumber(0.6251), "differs (by more than rounding and sampling explain; cut"),
        (OurNumber(float("nan")), "needs data"),
        (OurNumber(unprinted="d", between=(0.624, 0.7)), "needs data (consistent with ours"),  # as far as rounding goes
        (OurNumber(unprinted="d", between=(0.63, 0.7)), "differs (ours is 0.63 to 0.70; the paper does not print d)"),
        (OurNumber(unprinted="d"), "needs data (the paper does not print d)"),
        (OurNumber(0.636, error=0.01), "reproduced (within 0.025)"),
        (OurNumber(0.62, error=0.011, how="on few"), "needs data (more images: the standard error of ours is 0.011"),
        (OurNumber(0.7, error=5.0, exact=True), "differs ("),
        (OurNumber(0.62, undefined="no value"), "differs (no value)"),
    ],
)
def test_rounding_sampling_and_choices_that_are_not_printed(our, verdict):
    assert compare(PrintedNumber("", "", "", "0.62", "", ""), our).verdict_text.startswith(verdict)


def test_a_changed_correlation_differs_and_a_constant_score_has_none():
    item = "resnet18: correlation of score and CKA"
    found = row([with_correlations("resnet18", wanted={"cka": -0.2})], "table 2", item)
    assert (found.ours, found.verdict) == (pytest.approx(-0.2, abs=1e-4), "differs")
    assert row([measured([0.5, 0.5, 0.5], "resnet18")], "table 2", item).verdict_text.startswith(
        "differs (it has no value"
    )
    bare = measured([0.5, 0.6, 0.7], "resnet18")
    del bare.table["cka"]  # the criterion was not asked for
    assert row([bare], "table 2", item).verdict_text == "needs data"


@pytest.mark.parametrize("name", ["swin_t", "resnet18"])
def test_only_the_reduction_that_gave_the_printed_numbers_is_ours(name):
    right, other = ("mean", "published") if name == "resnet18" else ("published", "mean")
    as_printed = with_correlations(name, reduction=right)
    otherwise = with_correlations(name, wanted={"cka": 0.9}, reduction=other, images=40_000)
    fewer = with_correlations(name, wanted={"cka": 0.1}, reduction=right, images=512)
    item = f"{name}: correlation of score and CKA"
    analogue = f"0.900 ({name} with IMAGENET1K_V1 on imagenet:imagenet, reduction {other})"
    for order in ([as_printed, fewer, otherwise], [otherwise, fewer, as_printed]):
        both = row(order, "table 2", item)
        assert both.ours == pytest.approx(TABLE_2.loc[name, "cka"], abs=1e-4)
        assert (both.verdict, both.analogue) == ("reproduced", analogue)
    alone = row([otherwise], "table 2", item)
    assert (alone.ours, alone.verdict_text, alone.analogue) == (None, "needs data", analogue)


def test_analogues_say_what_they_are_and_are_no_verdict():
    digits = {"weights": "DEFAULT", "dataset": "digits", "reduction": "mean"}
    vggs = [with_correlations(f"mini:{name}", **digits) for name in ("vgg11", "vgg13", "vgg16", "vgg19")]
    cifar = synthetic([0.5, 0.7, 0.9], "cifar_networks.py:resnet20", "resnet20.pt", "folder:cifar10-test", noise=0.02)
    untrained = with_correlations("mini:alexnet", **digits | {"weights": "random"})
    found = AllResults([*vggs, cifar, untrained])
    one = row(found, "table 2", "vgg11: correlation of score and CKA")
    assert (one.analogue, one.verdict_text) == ("-0.070 (mini:vgg11 on digits)", "needs data")
    family = row(found, "table 1", "VGGs: mean of the correlation of score and norm")
    assert family.analogue == "-0.667 (the 4 networks mini: of the same names on digits)"
    assert row(vggs[:3], "table 1", family.printed.item).analogue == ""
    spread = row(found, "figures 10 to 13", "resnet18: standard deviation of the scores over batches")
    assert spread.analogue.startswith("0.0141 (resnet20 trained on CIFAR-10, on 2 batches")
    assert row(found, "table 2", "alexnet: correlation of score and CKA").analogue == ""


def test_the_spread_over_batches_and_its_error():
    item = "alexnet: standard deviation of the scores over batches"
    for noise, verdict in ((0.0005, "reproduced (within "), (0.001, "differs (")):
        found = row([synthetic([0.5, 0.7], "alexnet", noise=noise, batches=30)], "figures 10 to 13", item)
        # the batches lie at equal distances: the variance of 30 integers in a row is 30 * 31 / 12
        assert found.ours == pytest.approx(noise * (30 * 31 / 12) ** 0.5, abs=1e-5)
        assert found.verdict_text.startswith(verdict)
    generator = np.random.default_rng(0)
    one_deviation = 0.005 / (2 * 39) ** 0.5  # the error of that of forty normal numbers
    for independent in (1, 20):  # activations that move together tell no more than one of them
        one = synthetic([0.6] * 20, "alexnet", batches=40)
        moves = generator.normal(0, 0.005, (40, independent)) * np.ones((40, 20))
        one.table["score"] = 0.6 + moves.ravel()
        error = row([one], "figures 10 to 13", item).our_number.error
        assert error == pytest.approx(one_deviation / independent**0.5, rel=0.4)


@pytest.mark.slow
def test_figure_15():
    data = {"imagenet:val": 0.0, "cifar10": 0.28, "random": 0.3}
    there = [
        measured([0.4, 0.4 + gap + 0.01 * number * (dataset == "random")], name, dataset=dataset)
        for number, name in enumerate(other_data.networks())
        for dataset, gap in data.items()
    ]  # fmt: skip
    item = "mean over networks of the distance to the signature on ImageNet"
    cifar, noise, missing = (row(there, "figure 15", f"{one}: {item}") for one in ("cifar10", "random", "cifar100"))
    assert (cifar.ours, cifar.verdict) == (pytest.approx(0.28), "reproduced")
    assert (noise.ours, noise.verdict_text[:35]) == (pytest.approx(0.46), "differs (the caption says Euclidean")
    assert missing.verdict_text == "needs data"
    assert row(there[1:], "figure 15", f"cifar10: {item}").verdict_text == "needs data"  # every network must be there
    there[0].table.loc[there[0].table["index"] == 1, "score"] = np.nan
    assert row(there, "figure 15", f"cifar10: {item}").verdict_text.startswith("differs (it has no value")


def test_table_3():
    names = [str(name) for name in printed_table("figure16_checkpoints").index]
    there = [
        measured([0.5, 1.0 if number % 2 else 0.98], name)
        if name in ("resnet50", "wide_resnet50_2")
        else measured([0.5, 1.0 if number % 2 else 0.98], "resnet50", weights=f"{name}.pth")
        for number, name in enumerate(names)
    ]
    item = "affinity score: mean over checkpoints of ResNet-50"
    assert row(there, "table 3", item).ours == pytest.approx(0.7447, abs=1e-3)
    assert row(there, "table 3", "norm: mean over checkpoints of ResNet-50").verdict_text.startswith("differs (")
    assert row(there[1:], "table 3", item).verdict_text == "needs data"


def test_figure_4():
    found = AllResults([])
    assert row(found, "figure 4", "Residual: R2 of ops").verdict_text.startswith("reproduced (within 0.0005")
    cut = row(found, "figure 4", "NAS-based: R2 of num_params")
    assert (cut.ours, "cut after the last digit" in cut.verdict_text) == (pytest.approx(0.95596, abs=5e-6), True)
    assert row(found, "figure 4", "Post-ViT: R2 of depth").verdict_text.startswith(
        "differs (the paper does not say how"
    )
    item = "ViTs: R2 of min"
    assert row(found, "figure 4", item).verdict_text == "needs data"
    accuracy = {"vit_b_16": 81.072, "vit_b_32": 75.912, "vit_l_16": 79.662, "vit_l_32": 76.972, "vit_h_14": 88.552}
    vits = [measured([np.exp((percent - 110) / 10), 0.5], name) for name, percent in accuracy.items()]
    assert row(vits, "figure 4", item).ours == pytest.approx(1.0)
    task = pd.DataFrame([
        {"name": name, "seed": seed, "accuracy": 50.0 + number, "min": float(np.exp(number)), "mean": 0.5 + seed / 100}
        for number, name in enumerate(accuracy)
        for seed in range(2)
    ])  # fmt: skip
    zoo = pd.DataFrame({"name": list(accuracy), "depth": 3, "parameters": 10, "flops": [1, 2, 4, 8, 16]})
    small = AllResults([], zoo, task)
    assert row(small, "figure 4", item).analogue == "1.0000 (5 networks mini: of that group on the hard task)"
    assert row(small, "figure 4", "ViTs: R2 of ops").analogue.startswith("1.0000 (")
    assert row(small, "figure 4", "Post-ViT: R2 of median").analogue == ""


def test_numbers_in_sentences(empty):
    layers = row(empty.results, "appendix F", "alexnet: layers with a ReLU")
    assert (layers.ours, layers.verdict_text) == (7, "differs (the last of its eight layers has no ReLU)")
    depth = row(empty.results, "figures 10 and 12", "vgg19: depth of the last activation")
    assert depth.verdict_text == "reproduced (the most activations on a path)"
    years = [one for one in empty.rows if one.printed.row.endswith("_year")]  # only those that are printed
    assert [one.printed.text for one in years] == ["2012", "2014", "2014", "2016", "2019", "2020", "2021", "2022"]
    assert [one.verdict for one in years] == ["reproduced"] * 3 + ["differs"] + ["reproduced"] * 4
    assert years[3].verdict_text.startswith("differs (ours is the year in which it was first made public")
    ends = {one.printed.row: one for one in inside.rows(AllResults([measured([0.31, 0.62, 0.93], "googlenet")]))}
    assert (ends["googlenet_lowest_score"].ours, ends["googlenet_highest_score"].ours) == (0.31, 0.93)
    assert ends["vgg16_per_googlenet"].our_number.value == pytest.approx(138_357_544 / 6_624_904)


def test_the_command_measures_each_network_as_its_numbers_were_and_noise_apart():
    words = survey_command(["resnet18", "swin_t", "alexnet"], ["imagenet:here", "random"])
    assert words.split(" && ") == [
        "affscore survey --models resnet18,alexnet --datasets imagenet:here --store results",
        "affscore survey --models resnet18,alexnet --datasets random --images 10240 --store results",
        "affscore survey --models swin_t --datasets imagenet:here --reductions published --store results",
        "affscore survey --models swin_t --datasets random --images 10240 --reductions published --store results",
        "python -m companion.ledger --results results",
    ]
