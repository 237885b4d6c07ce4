"""Networks are measured with the reduction that gave their printed numbers."""

import pytest

from affscore.analysis import as_printed


@pytest.mark.parametrize("name", ["vit_h_14", "swin_v2_t", "convnext_large", "maxvit_t"])
def test_networks_with_their_channels_last_were_averaged_in_another_way(name):
    assert as_printed.printed_reduction(name) == "published"
    assert as_printed.by_printed_reduction([f"{name}@DEFAULT"]) == {"published": [f"{name}@DEFAULT"]}


@pytest.mark.parametrize("name", ["densenet121", "efficientnet_b1", "my_vit_file"])
def test_all_others_were_averaged_over_positions(name):
    assert as_printed.printed_reduction(name) == "mean"


def test_each_network_is_measured_with_its_reduction_and_in_the_order_asked_for(monkeypatch):
    def kept(models, dataset, store, **options):
        return dict.fromkeys(models, (dataset, store, options))

    monkeypatch.setattr(as_printed, "kept_signatures", kept)
    models = ["resnet18@DEFAULT", "swin_t@DEFAULT", "alexnet@DEFAULT"]
    found = as_printed.measure_as_printed(iter(models), "digits", "results", images=512)
    assert list(found) == models
    for model, reduction in zip(models, ["mean", "published", "mean"], strict=True):
        assert found[model] == ("digits", "results", {"reduction": reduction, "images": 512})
