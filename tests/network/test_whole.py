"""Scores of a whole data set: moments, or samples, under the paired coupling."""

import numpy as np
import pytest
import torch
from torch import nn

from affscore import AffscoreError, affinity_score, signature
from affscore.network.scoring import bytes_needed


def network(width=6):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, width), nn.ReLU(), nn.Linear(width, 4), nn.Tanh()).double()


@pytest.fixture(scope="module")
def points():
    return torch.randn(101, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def pairs(model, points):
    x = model[0](points)
    z = model[2](x.relu())
    return [(x.detach(), x.relu().detach()), (z.detach(), z.tanh().detach())]


@pytest.mark.parametrize("covariance", ["ledoit-wolf", "empirical"])
@pytest.mark.parametrize("width", [6, 80])  # 80: fewer than 2 c images, so that the samples are kept
def test_is_the_paired_score_of_all_images(points, covariance, width):
    model = network(width)
    found = signature(model, points, n=16, covariance=covariance, whole=True, progress=False)
    expected = [affinity_score(x, y, covariance, coupling="paired").raw for x, y in pairs(model, points)]
    np.testing.assert_allclose(found.table["raw"], expected, atol=1e-9)
    assert set(found.table["n"]) == {101}
    assert set(found.table["coupling"]) == {"paired"}
    assert found.table["pairing_optimal"].isna().all()
    assert not any("dropped" in note or "no more images" in note for note in found.notes)


def test_has_no_batch_size_in_it(points):
    model = network()
    results = [signature(model, points, n=n, whole=True, batch_size=7, progress=False) for n in (2, 10, 50, 200)]
    columns = ["raw", "cka", "norm", "r2", "entropy_before", "entropy_after", "sparsity_after"]
    for other in results[1:]:
        np.testing.assert_allclose(other.table[columns], results[0].table[columns], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("width", [6, 80])
def test_criteria_are_those_of_one_batch_of_all_images(points, width):
    model = network(width)
    whole = signature(model, points, n=16, whole=True, progress=False).table
    batch = signature(model, points, n=101, progress=False).table
    for name in ["cka", "norm", "r2", "entropy_before", "entropy_after", "sparsity_before", "sparsity_after"]:
        np.testing.assert_allclose(whole[name], batch[name], rtol=1e-8, atol=1e-8, err_msg=name)


def test_is_a_lower_bound_of_the_exact_score_of_all_images(points):
    for seed in range(5):
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Linear(5, 3), nn.ReLU(), nn.Linear(3, 2), nn.Tanh()).double()
        whole = signature(model, points, n=16, whole=True, criteria=False, progress=False)
        exact = signature(model, points, n=101, criteria=False, progress=False)
        assert (whole.scores <= exact.scores + 1e-12).all()


def test_constants_are_flagged(points):
    model = nn.Sequential(nn.Linear(5, 3), nn.ReLU(), nn.Linear(3, 3), nn.Tanh()).double()
    with torch.no_grad():
        model[0].weight.mul_(1e-3)
        model[0].bias.fill_(-1.0)
    found = signature(model, points, n=16, whole=True, progress=False)
    assert found.table["flag"].tolist() == ["constant output", "constant output"]
    assert found.scores.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("width", [6, 80])
def test_criteria_of_what_varies_by_rounding_only_are_missing(points, width):
    model = nn.Sequential(nn.Linear(5, width, bias=False), nn.Sigmoid())
    with torch.no_grad():
        model[0].weight.mul_(1e-7)
    table = signature(model, points.float(), whole=True, progress=False).table
    assert table["flag"].tolist() == ["constant output"]
    assert table[["cka", "r2"]].isna().all(axis=None)


@pytest.mark.parametrize("scale", [1e-150, 1e-100, 1e100, 1e150])
def test_no_size_of_the_activations_matters(points, scale):
    model, other = (nn.Sequential(nn.Linear(5, 6), nn.ReLU()).double() for _ in range(2))
    other.load_state_dict({name: value * scale for name, value in model.state_dict().items()})
    one, two = (signature(net, points, whole=True, progress=False).table for net in (model, other))
    np.testing.assert_allclose(one[["raw", "cka", "r2"]], two[["raw", "cka", "r2"]], rtol=1e-9)
    np.testing.assert_allclose(one["norm"], two["norm"] / scale, rtol=1e-9)


def test_more_moments_than_memory_are_refused_with_what_they_need(points, monkeypatch):
    monkeypatch.setattr("affscore.network.scoring._memory_of", lambda device: 1000)
    with pytest.raises(AffscoreError, match=r"needs 0\.0 GB for the moments of 2 activations \(widths up to 6\)"):
        signature(network(), points, whole=True, progress=False)


def test_what_needs_samples_is_refused(points):
    with pytest.raises(AffscoreError, match="cka_debiased needs the samples of a batch"):
        signature(network(), points, whole=True, criteria=["cka_debiased"], progress=False)


def test_an_interval_is_refused(points):
    found = signature(network(), points, whole=True, progress=False)
    with pytest.raises(AffscoreError, match="measure the signature in batches"):
        found.mean_interval()


def test_what_is_needed_is_what_is_kept():
    assert bytes_needed([10, 1000], 500) == 3 * 8 * 100 + 2 * 4 * 500 * 1000
    assert bytes_needed([10], None) == 2400


@pytest.mark.slow
def test_the_interval_of_the_mean_is_as_wide_as_repetition_says():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(20, 30), nn.ReLU(), nn.Linear(30, 30), nn.Tanh()).double()
    data = torch.randn(60 * 128, 20, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    table = signature(model, data, n=128, criteria=False, progress=False)
    spread = table.table.groupby("batch")["score"].mean().std()
    widths = []
    for batch in data.split(128)[:10]:
        found = signature(model, batch, n=128, criteria=False, progress=False)
        widths.append(found.mean_interval(level=0.6827)[1] - found.scores.mean())  # the other end holds the bias, too
    assert 0.5 < np.mean(widths) / spread < 2.0


def test_the_interval_holds_the_mean_and_shrinks_with_batches(points):
    one = signature(network(), points[:50], n=50, criteria=False, progress=False)
    low, high = one.mean_interval()
    assert 0 <= low < one.scores.mean() < high <= 1
    assert one.mean_interval(seed=3) == one.mean_interval(seed=3)
    twice = signature(network(), torch.cat([points[:50], points[50:100]]), n=50, criteria=False, progress=False)
    assert twice.mean_interval()[1] - twice.mean_interval()[0] < high - low
    for wrong, message in (({"level": 1.0}, "level must be in"), ({"resamples": 0}, "resamples must be at least 1")):
        with pytest.raises(AffscoreError, match=message):
            one.mean_interval(**wrong)
