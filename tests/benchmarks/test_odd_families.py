"""The oddest networks of timm and of transformers, tiny: calls and widths are those that plain hooks see.

The whole table is made by benchmarks/sweep.py.
"""

import pytest
import sweep
import tiny_networks

ODD = {
    "a mixture of experts": "mixtral",
    "learned queries": "perceiver",
    "queries that find objects": "dab-detr",
    "an encoder with tokens of its own, and a decoder": "pegasus_x",
    "a state space beside attention": "falcon_h1",
    "patches that are unfolded": "mobilevitv2",
}


def agrees(built):
    row = sweep.compared(built)
    assert row["agreement"] in ("yes", "explained"), row["note"]
    assert row["calls"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ODD.values(), ids=ODD)
def test_transformers(kind):
    pytest.importorskip("transformers")
    agrees(tiny_networks.build_transformers(kind, sweep.SAMPLES))


@pytest.mark.slow
def test_a_convolution_whose_weights_depend_on_the_sample():
    pytest.importorskip("timm")
    agrees(tiny_networks.build_timm_network("tf_efficientnet_cc_b0_4e", sweep.SAMPLES))
