"""The papers' claims in words: each test is flipped by data that flip the claim, and left open by too few."""

import claim_data as made
import numpy as np
import pytest
from claim_data import (
    EVEN,
    HIGH_PLATEAU,
    HIGH_SKEW,
    LOW_SKEW,
    ONE_MODE,
    RESNETS,
    RISING,
    TWO_MODES,
    low,
    of_networks,
    with_trainings,
)
from scipy import stats

from companion.chapter_13.claims import _beyond
from companion.claims import Decision, Verdict, above, all_claims, below, near, ratio_below
from companion.results import Results
from companion.statistics import Estimate, mean_of
from tests.synthetic_signatures import synthetic
from tests.synthetic_slopes import EASY, collapse, four_sizes, of_slopes, trainings_of

CLAIMS = {claim.name: claim for claim in all_claims()}
HOLDS, FAILS, OPEN = True, False, None
DENSE = ("densenet121", "densenet161")
SQUEEZE = ("squeezenet1_0", "squeezenet1_1")
TRANSITION, FIRE = "features.transition1.relu", "features.3.squeeze_activation"
STEP = [0.5, 0.31, 0.3, 0.31, 0.3, 0.31, 0.3]

# of each claim: results on which it holds, on which it does not, and which leave it open
CASES = {
    "relu-and-gelu-near-zero": [
        (HOLDS, lambda: made.domain(relu=low(0.02), gelu=low(0.09))),
        (FAILS, lambda: made.domain(relu=low(0.02), gelu=low(0.11))),
        (OPEN, lambda: made.domain(relu=low(0.02), gelu=low(0.101))),
    ],
    "sigmoid-not-near-zero": [
        (HOLDS, lambda: made.domain(sigmoid=low(0.12))),
        (FAILS, lambda: made.domain(sigmoid=low(0.09))),
        (OPEN, lambda: made.domain(sigmoid=low(0.101))),
    ],
    "wide-and-narrow": [
        (HOLDS, lambda: made.domain(sigmoid=low(0.5, 9), gelu=low(0.5, 6), relu=low(0.5, 2))),
        (FAILS, lambda: made.domain(sigmoid=low(0.5, 9), gelu=low(0.5, 5), relu=low(0.5, 2))),
        (OPEN, lambda: made.domain(sigmoid=low(0.5, 9), gelu=low(0.951, 3), relu=low(0.5, 1))),
    ],
    "tanh-lower-than-sigmoid": [
        (HOLDS, lambda: made.domain(tanh=low(0.05), sigmoid=low(0.2))),
        (FAILS, lambda: made.domain(tanh=low(0.15), sigmoid=low(0.2))),
        (OPEN, lambda: made.domain(tanh=low(0.1), sigmoid=low(0.2))),
    ],
    "leaky-relu-more-linear": [
        (HOLDS, lambda: made.domain(leaky_relu=[0.97] * 20, relu=[0.96] * 20, relu6=[0.9] * 20)),
        (FAILS, lambda: made.domain(leaky_relu=[0.95] * 20, relu=[0.96] * 20, relu6=[0.9] * 20)),
        (OPEN, lambda: made.domain(leaky_relu=[0.96] * 20, relu=[0.96] * 20, relu6=[0.9] * 20)),
    ],
    "modern-functions-lower": [
        (HOLDS, lambda: made.domain(silu=[0.5] * 20, hardswish=[0.8] * 20, relu=[0.9] * 20)),
        (FAILS, lambda: made.domain(silu=[0.5] * 20, hardswish=[0.95] * 20, relu=[0.9] * 20)),
        (OPEN, lambda: made.domain(silu=[0.5] * 20, hardswish=[0.9] * 20, relu=[0.9] * 20)),
    ],
    "relu-more-than-sigmoid": [
        (HOLDS, lambda: made.wide(relu=(0.6, 0.6), tanh=(0.8, 0.7), sigmoid=(0.9, 0.8))),
        (FAILS, lambda: made.wide(relu=(0.6, 0.6), tanh=(0.8, 0.55), sigmoid=(0.9, 0.7))),
        (OPEN, lambda: made.wide(relu=(0.6, 0.6), tanh=(0.8, 0.6), sigmoid=(0.9, 0.7))),
    ],
    "reductions-agree": [
        (HOLDS, lambda: made.reduced(0.6, 0.6, 0.61)),
        (FAILS, lambda: made.reduced(0.6, 0.6, 0.63)),
        (OPEN, lambda: made.reduced(0.6, 0.6, 0.61, noise=0.01)),
    ],
    "sample-covariance-drifts": [
        (HOLDS, lambda: made.along("empirical", (0.1, 0.3))),
        (FAILS, lambda: made.along("empirical", (0.1, 0.11))),
        (OPEN, lambda: made.along("empirical", (0.1, 0.13), noise=0.01)),
    ],
    "shrinkage-is-constant": [
        (HOLDS, lambda: made.along("ledoit-wolf", (0.0, 0.01))),
        (FAILS, lambda: made.along("ledoit-wolf", (0.0, 0.2))),
        (OPEN, lambda: made.along("ledoit-wolf", (0.0, 0.01), noise=0.01)),
    ],
    "googlenet-range": [
        (HOLDS, lambda: of_networks({"googlenet": [0.58, 0.7, 0.93]})),
        (FAILS, lambda: of_networks({"googlenet": [0.5, 0.7, 0.93]})),
        (OPEN, lambda: Results("", signatures={"googlenet": synthetic([0.6, 0.7, 0.9], "googlenet", noise=0.1)})),
    ],
    "inception-v3-further": [
        (HOLDS, lambda: of_networks({"googlenet": [0.6, 0.9], "inception_v3": [0.6, 0.95]})),
        (FAILS, lambda: of_networks({"googlenet": [0.6, 0.9], "inception_v3": [0.7, 0.95]})),
        (OPEN, lambda: of_networks({"googlenet": [0.6, 0.9], "inception_v3": [0.6, 0.9]})),
    ],
    "transitions-linearise": [
        (HOLDS, lambda: made.with_layers(DENSE, 0.95, 0.7, TRANSITION)),
        (FAILS, lambda: made.with_layers(DENSE, 0.8, 0.7, TRANSITION)),  # a third of the way
        (OPEN, lambda: made.with_layers(DENSE[:1], 0.95, 0.7, TRANSITION)),
    ],
    "densenet-below-resnet": [
        (HOLDS, lambda: of_networks({"densenet161": [0.6, 0.7], "resnet152": [0.7, 0.8]})),
        (FAILS, lambda: of_networks({"densenet161": [0.7, 0.8], "resnet152": [0.6, 0.7]})),
        (OPEN, lambda: of_networks({"densenet161": [0.7, 0.8], "resnet152": [0.7, 0.8]})),
    ],
    "squeeze-layers-linearise": [
        (HOLDS, lambda: made.with_layers(SQUEEZE, 0.95, 0.7, FIRE)),
        (FAILS, lambda: made.with_layers(SQUEEZE, 0.6, 0.7, FIRE)),
        (OPEN, lambda: made.with_layers(SQUEEZE[:1], 0.95, 0.7, FIRE)),
    ],
    "efficient-designs-shake": [
        (HOLDS, lambda: made.zigzags(0.2, 0.05)),
        (FAILS, lambda: made.zigzags(0.05, 0.2)),
        (OPEN, lambda: made.zigzags(0.1, 0.1)),
    ],
    "small-patches-early": [
        (HOLDS, lambda: of_networks({"vit_l_16": np.linspace(0.2, 0.6, 12)})),
        (FAILS, lambda: of_networks({"vit_l_16": np.linspace(0.6, 0.2, 12)})),
        (OPEN, lambda: of_networks({"vit_l_16": [0.3, 0.5] * 6})),
    ],
    "large-patches-plateau": [
        (HOLDS, lambda: of_networks({"vit_l_32": [*STEP, 0.95]})),
        (FAILS, lambda: of_networks({"vit_l_32": [*STEP, 0.7]})),  # a step, and not linear
        (OPEN, lambda: of_networks({"vit_l_32": [*HIGH_PLATEAU, 0.93]})),  # linear all along
    ],
    "training-bends": [
        (HOLDS, lambda: made.trained_vggs(RISING, [0.6] * 9)),
        (FAILS, lambda: made.trained_vggs(RISING[::-1], [0.6] * 9)),
        (OPEN, lambda: made.trained_vggs(RISING, [0.6] * 9, seeds=2, noise=0.1)),
    ],
    "after-sums-more-linear": [
        (HOLDS, lambda: made.residual((0.6, 0.6, 0.6), (0.8, 0.81, 0.82))),
        (FAILS, lambda: made.residual((0.6, 0.6, 0.6), (0.4, 0.41, 0.42))),
        (OPEN, lambda: made.residual((0.6, 0.6, 0.6), (0.7, 0.8, 0.9))),
    ],
    "deeper-approaches-one": [
        (HOLDS, lambda: made.residual([0.6] * 5, (0.7, 0.8, 0.85, 0.9, 0.95))),
        (FAILS, lambda: made.residual([0.6] * 5, (0.95, 0.9, 0.85, 0.8, 0.7))),
        (FAILS, lambda: made.residual([0.5] * 5, (0.55, 0.6, 0.65, 0.7, 0.8))),  # not near 1
        (OPEN, lambda: made.residual([0.6] * 4, (0.7, 0.8, 0.9, 0.95))),  # of four networks no p is below 0.05
    ],
    "shortcuts-make-two-modes": [
        (HOLDS, lambda: made.pairs(TWO_MODES, ONE_MODE)),
        (FAILS, lambda: made.pairs(ONE_MODE, TWO_MODES, count=8)),
        (OPEN, lambda: made.pairs(TWO_MODES, ONE_MODE, count=5)),  # a chance of 1 in 16
        (FAILS, lambda: made.pairs(TWO_MODES, TWO_MODES)),  # without shortcuts, too
    ],
    "resnets-bimodal": [
        (HOLDS, lambda: of_networks(dict.fromkeys(RESNETS, TWO_MODES))),
        (OPEN, lambda: of_networks(dict.fromkeys(RESNETS, ONE_MODE))),  # no evidence of one mode
    ],
    "upper-group-is-linear": [
        (HOLDS, lambda: made.residual((0.6, 0.6, 0.6), (0.94, 0.945, 0.95))),
        (FAILS, lambda: made.residual((0.6, 0.6, 0.6), (0.7, 0.71, 0.72))),
        (OPEN, lambda: made.residual((0.6, 0.6, 0.6), (0.87, 0.91, 0.95))),
    ],
    "pure-convnets-low-spread": [
        (HOLDS, lambda: made.constant(Pure_convnets=[0.69, 0.7, 0.71])),
        (FAILS, lambda: made.constant(Pure_convnets=[0.2, 0.7, 0.9])),
        (OPEN, lambda: made.noise(30, 40)),
    ],
    "inception-widens": [
        (HOLDS, lambda: made.constant(Inception=[0.5, 0.7, 0.9])),
        (FAILS, lambda: made.constant(Inception=[0.65, 0.7, 0.9])),
        (OPEN, lambda: with_trainings("mean", min=0, max=0, of_seed=0.1)),
    ],
    "spread-grows-until-2020": [
        (HOLDS, lambda: made.decade(others=lambda year: [0.5, 0.6, 0.6 + (year - 2010) / 30])),
        (FAILS, lambda: made.decade(others=lambda year: [0.5, 0.6, 0.95 - (year - 2010) / 30])),
        (OPEN, lambda: made.decade(others=lambda year: [0.5, 0.6, 0.7 + (3 * year % 11) / 60 + (year - 2010) / 200])),
    ],
    "less-non-linear-until-2020": [
        (HOLDS, lambda: made.decade(others=lambda year: [0.5, 0.5 + (year - 2010) / 30, 0.95])),
        (FAILS, lambda: made.decade(others=lambda year: [0.5, 0.9 - (year - 2010) / 30, 0.95])),
        (OPEN, lambda: made.decade(others=lambda year: [0.5, 0.6 + (3 * year % 11) / 60, 0.95])),
    ],
    "vits-most-non-linear": [
        (HOLDS, lambda: made.constant(ViTs=[0.1, 0.2, 0.8], Swins=[0.1, 0.1, 0.1])),  # the Swins are later
        (FAILS, lambda: made.constant(ResNets=[0.1, 0.2, 0.8])),
        (OPEN, lambda: made.noise(30, 40)),
    ],
    "efficientnets-skewed": [
        (HOLDS, lambda: made.constant(EfficientNets=HIGH_SKEW)),
        (FAILS, lambda: made.constant(EfficientNets=LOW_SKEW)),
        (OPEN, lambda: of_networks({"efficientnet_b1": HIGH_SKEW, "efficientnet_b2": EVEN})),
    ],
    "densenets-skewed-against-vits": [
        (HOLDS, lambda: made.constant(DenseNets=HIGH_SKEW, ViTs=LOW_SKEW)),
        (FAILS, lambda: made.constant(DenseNets=HIGH_SKEW, ViTs=HIGH_SKEW)),
        (OPEN, lambda: of_networks({"densenet121": HIGH_SKEW, "vit_b_16": LOW_SKEW})),
    ],
    "back-to-convnets": [
        (HOLDS, lambda: made.constant(ViTs=[0.1, 0.1, 0.1])),
        (FAILS, lambda: made.constant(Swins=[0.1, 0.1, 0.1], ConvNeXts=[0.1, 0.1, 0.1])),
        (OPEN, made.noise),
    ],
    "vggs-alike": [
        (HOLDS, lambda: made.alike((0.5, 0.5, 0.501, 0.501), 0.05)),
        (FAILS, lambda: made.alike((0.1, 0.9, 0.1, 0.9), 0.05)),
        (OPEN, lambda: made.alike((0.3, 0.36, 0.42, 0.48), 0.05)),
    ],
    "families-are-found": [(HOLDS, made.levels_of_families), (FAILS, made.mixed_up), (OPEN, made.noise)],
    "no-outliers": [
        (HOLDS, made.levels_of_families),
        (FAILS, made.mixed_up),
        (OPEN, lambda: made.levels_of_families(resnet34="vgg13")),  # one outlier
    ],
    "no-criterion-says-the-same": [
        (HOLDS, lambda: made.with_correlations(cka=[0.9] * 11 + [-0.9])),
        (FAILS, lambda: made.with_correlations(cka=[0.9] * 12)),
        (OPEN, lambda: made.with_correlations(activations=12, cka=[0.8] * 11 + [0.3])),
    ],
    "cka-fits-densenets-only": [
        (HOLDS, lambda: made.with_correlations(cka=[0.9] * 6 + [0.2] * 5 + [-0.6])),
        (FAILS, lambda: made.with_correlations(cka=[0.9] * 5 + [0.1] * 6 + [-0.6])),
        (OPEN, lambda: made.with_correlations(cka=[0.9] * 6 + [0.2] * 5 + [-0.1])),
    ],
    "seeds-change-little": [
        (HOLDS, lambda: with_trainings("mean", of_seed=0.001)),
        (HOLDS, lambda: made.trained_again(0.02)),
        (FAILS, lambda: with_trainings("mean", of_seed=0.3)),
        (FAILS, lambda: made.trained_again(1.0)),
        (OPEN, lambda: made.trained_again(0.15)),
    ],
    "other-training-changes-little": [
        (HOLDS, lambda: made.trained_otherwise(*np.linspace(0.7, 0.71, 9))),
        (FAILS, lambda: made.trained_otherwise(*np.linspace(0.3, 0.9, 9))),
        (OPEN, lambda: made.trained_otherwise(0.6, 0.7, 0.75)),
        (OPEN, lambda: made.trained_otherwise(0.6, 0.65, 0.72, of_method=9)),  # seeds are no more methods
    ],
    "methods-are-found": [
        (HOLDS, lambda: made.by_method([[level, level + 0.001, level + 0.002] for level in (0.5, 0.6, 0.7)])),
        (OPEN, lambda: made.by_method([[seed / 3 + 0.01 * method for seed in range(3)] for method in range(3)])),
    ],
    "noise-is-further-than-cifar": [
        (HOLDS, lambda: made.on_data(0.1, 0.4)),
        (HOLDS, lambda: made.on_other_data(digits_noisy=0.1, digits_inverted=0.2, random=0.4)),
        (HOLDS, made.printed),
        (FAILS, lambda: made.on_data(0.4, 0.1)),
        (FAILS, lambda: made.figure_15(mean=[0.28, 0.26, 0.1])),
        (OPEN, lambda: made.on_data(0.1, 0.4, networks=1)),
    ],
    "nearer-data-are-like-the-first": [
        (HOLDS, lambda: made.on_other_data(digits_inverted=0.1, digits_shuffled=0.4)),
        (FAILS, lambda: made.on_other_data(digits_inverted=0.4, digits_shuffled=0.1)),
        (OPEN, lambda: made.on_other_data(digits_inverted=0.2, digits_shuffled=0.18)),
    ],
    "density-is-noisy": [
        (HOLDS, made.on_paths),
        (FAILS, lambda: made.on_paths(0.9)),
        (OPEN, lambda: made.on_paths(seeds=1)),
    ],
    "wide-networks-are-locally-linear": [
        (HOLDS, made.widths),
        (FAILS, lambda: made.widths(deviation=1)),
        (OPEN, lambda: made.widths(fitted=(2, 4, 8))),
    ],
    "signature-explains-accuracy": [
        (HOLDS, lambda: with_trainings("mean")),
        (HOLDS, lambda: made.figure_4(signature_r2=0.99, common_r2=0.1)),
        (FAILS, lambda: with_trainings(common=True)),
        (FAILS, lambda: made.figure_4(signature_r2=0.0, common_r2=0.99)),
        (OPEN, made.printed),
        (OPEN, lambda: made.figure_4(signature_r2=0.99, common_r2=0.95)),  # a lead that chance has often
    ],
    "spread-then-level": [
        (HOLDS, lambda: made.figure_4(signature_r2=0.99)),
        (FAILS, lambda: with_trainings("std", slope=-0.004, min=-0.002)),
        (OPEN, lambda: with_trainings("std", min=-0.002)),  # five ViTs with three sizes of patches decide nothing
        (OPEN, made.printed),
    ],
    "statistic-predicts-accuracy": [(OPEN, lambda: with_trainings("max")), (OPEN, with_trainings)],
    "efficient-networks-penalised": [
        (HOLDS, lambda: with_trainings("max", slope=-0.004)),
        (FAILS, lambda: with_trainings("max")),
        (OPEN, with_trainings),
    ],
    "transformers-better-when-bent": [(OPEN, lambda: with_trainings("mean", slope=-0.004))],
    "steadiest-criterion": [
        (HOLDS, lambda: made.steadiness(0.005)),
        (HOLDS, lambda: made.measured_steadiness(0.01, 0.1)),
        (FAILS, lambda: made.measured_steadiness(0.1, 0.01)),
        (OPEN, made.printed),
    ],
    "table-1-sums-up-table-2": [(HOLDS, made.consistent_rows), (FAILS, made.printed)],
    "average-of-table-2": [(HOLDS, made.average_rows), (FAILS, lambda: made.average_rows(apart=0.02))],
    "batch-size-keeps-the-signature": [
        (HOLDS, lambda: made.in_batches(*[0.02] * 4)),
        (FAILS, lambda: made.in_batches(*[-0.2] * 4)),
        (OPEN, lambda: made.in_batches(0.01, 0.01, 0.4, 0.4)),
    ],
    "batch-size-keeps-networks-apart": [
        (HOLDS, lambda: made.in_batches(*[0.02] * 4)),
        (FAILS, lambda: made.in_batches(*[0.2] * 4, apart=0.002)),
        (OPEN, lambda: made.in_batches(*[0.1] * 4)),
    ],
    "images-change-little": [
        (HOLDS, lambda: made.in_batches(*[0.01] * 4, noise=0.001)),
        (FAILS, lambda: made.in_batches(*[0.01] * 4, noise=0.5)),
        (OPEN, lambda: made.in_batches(0.01, 0.01, noise=0.05)),
    ],
    "seeds-keep-the-signature": [
        (HOLDS, lambda: made.trained_again(0.02)),
        (FAILS, lambda: made.trained_again(0.4)),
        (OPEN, lambda: made.trained_again(0.1, seeds=3)),
    ],
    "linear-early-costs-more": [
        (HOLDS, lambda: of_slopes(trainings_of("sum", collapse(4), collapse(2)))),
        (FAILS, lambda: of_slopes(trainings_of("sum", collapse(2), collapse(4)))),
        (OPEN, lambda: of_slopes(trainings_of("sum", collapse(2)))),
    ],
    "gap-vanishes-on-easy-tasks": [
        (HOLDS, lambda: of_slopes(trainings_of("digits", EASY))),
        (FAILS, lambda: of_slopes(trainings_of("digits", collapse(4, 0.05), collapse(1, 0.08)))),
        (OPEN, lambda: of_slopes(trainings_of("digits", EASY, noise=0.02))),
    ],
    "better-than-widened-plain-networks": [
        (HOLDS, lambda: of_slopes(trainings_of("sum", collapse(4), plain={3: 0.5, 5: 0.8}))),
        (FAILS, lambda: of_slopes(trainings_of("sum", collapse(4), plain={3: 0.5, 5: 0.95}))),
        (OPEN, lambda: of_slopes(trainings_of("sum", collapse(4), plain={3: 0.5, 5: 0.85}, noise=0.1))),
    ],
    "core-of-constant-size": [
        (HOLDS, lambda: four_sizes(0.25, 0.25)),
        (FAILS, lambda: four_sizes(0.25, 0.5)),
        (OPEN, lambda: four_sizes(0.25, 0.25, noise=0.05)),
    ],
    "core-depends-on-the-task": [
        (HOLDS, lambda: of_slopes(trainings_of("sum", collapse(4)), trainings_of("larger", collapse(8)))),
        (OPEN, lambda: of_slopes(trainings_of("sum", collapse(4)), trainings_of("larger", collapse(4)))),
    ],
}

# what no data refute, or leave open, or (of few networks) confirm: a test that rejects or not, arithmetic, five ViTs
NEVER = {
    "resnets-bimodal": {FAILS},
    "methods-are-found": {FAILS},
    "core-depends-on-the-task": {FAILS},
    "statistic-predicts-accuracy": {HOLDS, FAILS},
    "transformers-better-when-bent": {HOLDS, FAILS},
    "table-1-sums-up-table-2": {OPEN},
    "average-of-table-2": {OPEN},
}
EACH = [
    pytest.param(name, verdict, make, id=f"{name}-{verdict}-{n}", marks=() if verdict else pytest.mark.slow)
    for name, some in CASES.items()
    for n, (verdict, make) in enumerate(some)
]


def test_every_claim_that_is_tested_holds_fails_and_is_left_open_on_some_data():
    tested = {name for name, claim in CLAIMS.items() if claim.test}
    assert tested == set(CASES)
    assert len(CLAIMS) == len(all_claims())
    for name, some in CASES.items():
        assert {verdict for verdict, _ in some} == {HOLDS, FAILS, OPEN} - NEVER.get(name, set()), name


@pytest.mark.parametrize(("name", "verdict", "make"), EACH)
def test_a_claim_is_decided_as_the_data_are(name, verdict, make):
    found = CLAIMS[name].decide(make())
    assert found.holds is verdict, found.found
    assert found.n > 0


@pytest.mark.parametrize("claim", all_claims(), ids=lambda claim: claim.name)
def test_a_claim_is_left_where_nothing_is_known(claim):
    assert claim.decide(Results("nothing")) is None
    assert claim.decide(of_networks({"mobilenet_v2": [0.5, 0.6]})) is None
    assert claim.text
    assert claim.needs


def test_parts_hold_at_five_percent_each_and_fail_at_five_percent_together():
    """All parts: an intersection-union test. Some part is wrong by chance the more often, the more there are."""
    right, wrong, clear, maybe = (
        Decision("0.3", right, p, 5, "0.4 would have been seen")
        for right, p in ((True, 0.04), (False, 0.04), (False, 0.02), (True, 0.06))
    )

    def holds(*parts):
        return Verdict.all_of(dict(zip("abcd", parts, strict=False))).holds

    assert [holds(right, right, right), holds(right, maybe), holds(right, wrong), holds(right, clear)] == [
        True, None, None, False
    ]  # fmt: skip
    assert holds(wrong) is False
    found = Verdict.all_of({"one": maybe, "other": wrong, "third": right}, "Numbers").found
    assert found == (
        "Numbers: one 0.3, other 0.3, third 0.3. Undecided: one (0.4 would have been seen); other (the other way round "
        "at 5 %, and not at 1.7 %)."
    )


def test_the_smallest_effect_that_would_have_been_seen_is_where_the_decision_changes():
    number = mean_of([0.1, 0.3, 0.5, 0.2])
    half = float(above(number).seen.split()[0])
    decided = (above(Estimate(half + shift, number.error, 3, n=4)).at() for shift in (0.01, -0.01))
    assert list(decided) == [True, None]
    assert [below(mean_of([1.0, 1.1, 1.2]), limit).at() for limit in (1.5, 1.1, 0.5)] == [True, None, False]
    assert [near(mean_of([1.0, 1.1, 1.2]), 1.1, margin).at() for margin in (0.3, 0.2)] == [True, None]
    assert near(mean_of([1.0, 1.01]), 0.0, 0.5).at() is False
    assert near(mean_of([-1.0, 1.0]), 0.0, 0.05).seen == "an interval of 0.10 around it would have decided"
    ratios = [ratio_below(share**2, 8, 1.0, 35).at() for share in (0.1, 0.4, 2.0)]
    assert ratios == [True, None, False]
    assert above(mean_of([0.5])).seen == "measured once"


def test_a_statistic_that_only_tells_families_apart_is_no_evidence():
    """Within a group accuracy goes with the family alone, and so does the statistic; within families both are noise."""
    results = with_trainings("mean")
    task = results.tables["trainings"]
    family = [str(name)[:4] for name in task["name"]]
    level = {name: 50 + 5 * place for place, name in enumerate(dict.fromkeys(family))}
    shift = dict(zip(task["name"].unique(), np.random.default_rng(5).normal(size=(99, 2)), strict=False))
    task["accuracy"] = [level[own] + shift[name][0] for own, name in zip(family, task["name"], strict=True)]
    task["mean"] = [0.005 * level[own] + 0.002 * shift[name][1] for own, name in zip(family, task["name"], strict=True)]
    assert CLAIMS["signature-explains-accuracy"].decide(results).holds is None


def test_results_leave_out_missing_scores_and_take_parts_of_names_as_they_are():
    layers = ["block.1", "block_1", "block_1", "block.12"]
    results = of_networks({"resnet18": [0.5, np.nan, 0.6, 0.7]}, layers={"resnet18": layers})
    assert results.scores("resnet18").tolist() == [0.5, 0.6, 0.7]
    ((chosen, others),) = results.inside_and_outside("resnet", "layer", "block.1").values()
    assert (chosen.tolist(), others.tolist()) == ([0.5, 0.7], [0.6])


def test_the_error_of_a_network_is_that_of_its_trainings_or_of_its_batches():
    noisy = {"googlenet": synthetic([0.6, 0.9], "googlenet", noise=0.02, batches=4)}
    of_batches = Results("batches", signatures=noisy).estimate("googlenet", "min")
    assert of_batches.value == pytest.approx(0.6)
    assert of_batches.error == pytest.approx(np.std([-0.03, -0.01, 0.01, 0.03], ddof=1) / 2)
    assert (of_batches.freedom, of_batches.n) == (3, 4)
    assert with_trainings("mean", of_seed=0.1).estimate("googlenet", "mean").error == pytest.approx(0.05)


def test_one_number_beside_others_is_a_t_test_with_a_sample_of_one():
    sample = np.random.default_rng(3).normal(size=3)
    textbook = stats.ttest_ind([1.3], sample, equal_var=True)
    found = _beyond(1.3, sample)
    assert found.chance_of(0) == pytest.approx(textbook.pvalue)
    assert found.value / found.error == pytest.approx(textbook.statistic)
