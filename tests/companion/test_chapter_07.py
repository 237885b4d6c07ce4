"""Accuracy explained by one number, and the best of several by chance: against brute force, SciPy and simulation."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import pearsonr, permutation_test

from affscore.errors import AffscoreError
from companion.chapter_07.claims import common_characteristics_again
from companion.chapter_07.measurements import explained_accuracy
from companion.chapter_07.selection import (
    best_fit_lead,
    best_fit_test,
    independent_best,
    independent_lead,
    independent_p_value,
)
from companion.networks import FIRST_PAPER_GROUPS, accuracy_groups, study_groups, table_1_families
from companion.printed import printed_table
from companion.regression import FITS, fit

STATISTICS, COMMON = list("abcdefg"), list("xyz")


def r2(x, y):
    return np.corrcoef(x, y)[0, 1] ** 2


def best(table, columns, accuracy):
    return max(r2(table[column], accuracy) for column in columns)


def networks():
    """Two groups, the second too small for a fit, and networks of no group."""
    rng = np.random.default_rng(0)
    accuracy = rng.uniform(60, 90, 13)
    table = pd.DataFrame({"group": ["A"] * 6 + ["B"] * 4 + [None] * 3, "family": [*"FFFGGGHHHHIII"]})
    return table.assign(
        accuracy=accuracy, mean=rng.uniform(0.2, 0.9, 13), depth=5.0, max=-accuracy, gflops=rng.uniform(1, 9, 13),
        accuracy_standard_error=1.0,
    )  # fmt: skip


def group(points, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.uniform(0.1, 1, (points, 11)), columns=["accuracy", *STATISTICS, *COMMON])


def two_families(seed=0, gap=5.0, sizes=(4, 3)):
    generator = np.random.default_rng(seed)
    family = np.repeat(["u", "v"], sizes)
    level = np.where(family == "u", 0.0, gap)
    noise = generator.normal(size=(3, sum(sizes)))
    numbers = {"accuracy": 50 + level + noise[0], "mean": 1 + level + noise[1], "max": 2 + noise[2] ** 2}
    return pd.DataFrame({"group": "G", "family": family, **numbers})


class TestExplained:
    @pytest.mark.parametrize("kind", FITS)
    def test_groups_are_told_apart_and_missing_numbers_left_out(self, kind):
        table = networks()
        table.loc[0, "mean"] = np.nan
        rows = explained_accuracy(table, ["mean", "gflops", "depth"], kind=kind).set_index(["group", "characteristic"])
        assert len(rows) == 6
        expected = fit(table["mean"][1:6], table["accuracy"][1:6], kind)
        row = rows.loc[("A", "mean")]
        assert row[["fit", "r2", "adjusted_r2"]].tolist() == [kind, expected.r2, expected.adjusted_r2]
        assert rows.loc["A", "points"].tolist() == [5, 6, 6]
        assert np.isnan(rows.loc[("A", "depth"), "r2"])
        assert rows.loc["B", ["r2", "adjusted_r2", "correlation"]].isna().all(axis=None)
        assert (rows.loc["B", "points"] == 4).all()


class TestFigure4:
    def test_one_definition_gives_the_three_numbers_that_need_no_depth(self):
        again = common_characteristics_again()
        depth = again["characteristic"] == "depth"
        assert ((~depth).sum(), again["difference"][~depth].abs().max() < 0.001) == (3, True)
        assert (again["difference"][depth].abs() > 0.03).all()
        # cut after the third digit, they are the printed ones
        ours = again["ours"][~depth].astype(float)
        assert (np.floor(1000 * ours) / 1000).tolist() == again["printed"][~depth].tolist()

    def test_groups_of_both_papers_and_families_of_table_1(self):
        groups = study_groups()
        assert list(map(len, groups.values())) == [7, 9, 8, 5, 7]
        models = [f"mini:{name}" for members in groups.values() for name in members]
        table = accuracy_groups([*models, "mini:shufflenet_v2_x0_5", "googlenet@IMAGENET1K_V1"])
        for name, members in groups.items():
            assert table.loc[[f"mini:{member}" for member in members], "group"].eq(name).all()
        first = table.groupby("first_paper_group")["family"].unique().map(set).to_dict()
        assert set(first) == set(FIRST_PAPER_GROUPS)
        assert first["Efficient"] == {"ShuffleNets", "ConvNeXts"}  # and SqueezeNets, of which none is here
        assert table["first_paper_group"].isna()["googlenet@IMAGENET1K_V1"]
        families = set(table_1_families(models).values()) - {"AlexNet", "Inception"}
        assert families == set(printed_table("table1_family_correlations").index) - {"Average"}


class TestIndependent:
    @pytest.mark.parametrize(("points", "candidates"), [(5, 1), (9, 7)])
    def test_statistics_by_simulation(self, points, candidates):
        rng = np.random.default_rng(0)
        y, x = rng.standard_normal((20_000, 1, points)), rng.standard_normal((20_000, candidates, points))
        x, y = (z - z.mean(axis=-1, keepdims=True) for z in (x, y))
        largest = ((x * y).sum(-1) ** 2 / np.square(x).sum(-1) / np.square(y).sum(-1)).max(axis=1)
        assert independent_best(points, candidates) == pytest.approx(np.median(largest), abs=0.015)
        assert independent_best(points, candidates, 0.95) == pytest.approx(np.quantile(largest, 0.95), abs=0.015)
        assert independent_p_value(0.7, points, candidates) == pytest.approx((largest >= 0.7).mean(), abs=0.01)

    def test_one_candidate_is_the_test_of_a_correlation(self):
        x, y = np.random.default_rng(2).standard_normal((2, 9))
        r, p = pearsonr(x, y)
        assert independent_p_value(r**2, 9, 1) == pytest.approx(p)
        assert [independent_p_value(r2, 9, 7) for r2 in (1.0, 0.0)] == [0, 1]

    @pytest.mark.parametrize("case", [(0.2, 7, 7, 3), (-0.3, 5, 1, 2)])
    def test_a_lead_by_simulation(self, case):
        lead, points, *tickets = case
        rng = np.random.default_rng(1)
        one, other = (rng.beta(0.5, (points - 2) / 2, (100_000, count)).max(axis=1) for count in tickets)
        assert independent_lead(*case) == pytest.approx((one - other >= lead).mean(), abs=0.006)


class TestBestFit:
    def test_the_exact_p_value_is_that_of_scipy_for_any_index(self):
        table = group(5)
        chance = best_fit_test(table.set_index(pd.Index(["net"] * 5)), STATISTICS, permutations=120)
        assert chance.observed == pytest.approx(best(table, STATISTICS, table["accuracy"]))
        expected = permutation_test(
            (table["accuracy"].to_numpy(),),
            lambda y: best(table, STATISTICS, y),
            permutation_type="pairings",
            n_resamples=np.inf,
            alternative="greater",
        )
        assert chance.p_value == pytest.approx(expected.pvalue)
        assert np.sort(chance.permuted) == pytest.approx(np.sort(expected.null_distribution))
        assert (chance.exact, best_fit_test(table, STATISTICS, permutations=119).exact) == (True, False)

    def test_what_only_tells_families_apart_is_evidence_in_the_free_shuffle_alone(self):
        table = two_families(gap=30.0)
        free, inside = (best_fit_test(table, ["mean", "max"], strata=of).p_value for of in (None, "family"))
        assert free < 0.05 < inside

    def test_what_cannot_compete_is_left_out(self):
        table = group(6).assign(b=0.5, c=np.nan)
        table.loc[0, "d"] = 0.0
        found = best_fit_test(table, ["a", "b", "c", "d"], kind="logarithm")
        assert found.best == "a"
        assert found.observed == pytest.approx(fit(table["a"], table["accuracy"], "logarithm").r2)
        table.loc[2, "a"] = np.nan
        assert len(best_fit_test(table, ["a", "g"]).permuted) == 120  # of the five others

    @pytest.mark.parametrize(
        ("table", "options", "complaint"),
        [
            (group(4), {}, "4 networks have all numbers"),
            (group(6).assign(family=None), {"strata": "family"}, "nothing in the column 'family'"),
        ],
    )
    def test_what_cannot_be_shuffled_is_refused(self, table, options, complaint):
        with pytest.raises(AffscoreError, match=complaint):
            best_fit_test(table, STATISTICS, **options)


class TestLead:
    @pytest.mark.parametrize("kind", FITS)
    def test_a_group_is_compared_with_its_common_characteristics(self, kind):
        table = group(6, seed=5)
        row = best_fit_lead(table, STATISTICS, COMMON, kind=kind)
        shown = np.log(table) if kind == "logarithm" else table
        common, chance = best(shown, COMMON, table["accuracy"]), best_fit_test(table, STATISTICS, kind=kind)
        assert row["common_r2"] == pytest.approx(common)
        assert row["common_p_value"] == pytest.approx(np.mean(chance.permuted >= common - 1e-9))
        assert row["statistic_r2"] == chance.observed == pytest.approx(best(shown, STATISTICS, table["accuracy"]))

    def test_seven_tickets_against_three(self):
        wins = [best_fit_lead(group(5, s), STATISTICS, COMMON)["wins_if_nothing_matters"] for s in range(20)]
        assert np.mean(wins) == pytest.approx(0.7, abs=0.05)

    def test_a_lead_by_chance(self):
        table = two_families(seed=4, gap=0.0, sizes=(3, 2)).assign(depth=np.random.default_rng(9).normal(size=5))
        y = table["accuracy"].to_numpy()
        leads = [
            best(table, ["mean", "max"], y[[*order]]) - r2(table["depth"], y[[*order]])
            for order in itertools.permutations(range(5))
        ]
        alike = table.set_index(pd.Index(["net"] * 5))
        found, inside = (best_fit_lead(alike, ["mean", "max"], ["depth"], strata=of) for of in (None, "family"))
        assert found["lead_p_value"] == pytest.approx(np.mean(np.array(leads) >= leads[0] - 1e-9))
        assert inside["p_value"] == best_fit_test(table, ["mean", "max"], strata="family").p_value

    def test_a_group_that_is_too_small_and_a_characteristic_that_nobody_has(self):
        assert best_fit_lead(group(4), STATISTICS, COMMON) == {"points": 4}
        row = best_fit_lead(group(6).assign(x=np.nan), STATISTICS, COMMON)
        assert row["points"] == 6
        assert row["best_common"] in "yz"
