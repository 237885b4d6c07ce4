"""Figure 5 D: the groups of scores of a network, and networks of which they cannot be asked."""

import pytest

from affscore import AffscoreError
from companion.chapter_05.measurements import groups_of_scores
from companion.studies import load_study, under


def test_too_few_resamples_to_reject_are_refused():
    study = under(load_study("shortcuts")).query("network == 'residual14' and seed == 1")
    with pytest.raises(AffscoreError, match=r"resamples must be .* at least 19"):
        groups_of_scores(study, 18)


def test_a_network_without_blocks_is_named():
    study = under(load_study("batch-size")).query("model == 'mini:vgg16' and n == 64")
    with pytest.raises(AffscoreError, match="blocks of two activations, got mini:vgg16"):
        groups_of_scores(study, 19)
