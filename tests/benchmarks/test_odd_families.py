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
    "a convolution whose weights depend on the sample": "tf_efficientnet_cc_b0_4e",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ODD.values(), ids=ODD)
def test_calls_and_widths_are_those_that_hooks_see(kind):
    library, builder = ("transformers", "transformers") if "efficientnet" not in kind else ("timm", "timm_network")
    pytest.importorskip(library)
    row = sweep.compared(getattr(tiny_networks, f"build_{builder}")(kind, sweep.SAMPLES))
    assert row["agreement"] in ("yes", "explained"), row["note"]
    assert row["calls"] > 0
