"""Random networks on a square: what is exact of them, closed forms of scores and images, and slow references."""

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

from affscore import AffscoreError, affinity_score, signature
from affscore.experiments import RandomMLP, limit_score, mean_frequency, mean_scores, mlp_scores, output_image, square

SMALL = RandomMLP(width=12, depth=3)


def pixels(points, seed=0):
    return square()[torch.from_numpy(np.random.default_rng(seed).permutation(64 * 64)[:points])]


class TestNetworks:
    @pytest.mark.parametrize("scale", [4.0, 3.0])
    def test_without_biases_the_size_of_the_weights_changes_neither_relu_images_nor_scores(self, scale):
        one, other = SMALL, SMALL._replace(scale=scale)
        images = [output_image(mlp.network(), 16) for mlp in (one, other)]
        np.testing.assert_allclose(images[1], scale ** (SMALL.depth + 1) * images[0], rtol=1e-12)
        table = mlp_scores([one, other], points=64, resolution=16)
        scores = table.pivot_table(index=["layer", "covariance"], columns="scale", values=["score", "paired"])
        for column in ("score", "paired"):
            np.testing.assert_allclose(scores[column][scale], scores[column][1.0], atol=1e-9)
        assert np.ptp(table["frequency"]) < 1e-9

    @pytest.mark.parametrize("mlp", [SMALL._replace(bias=0.5), SMALL._replace(activation="tanh")])
    def test_with_biases_or_another_activation_it_changes_both(self, mlp):
        small, large = (mlp._replace(scale=scale) for scale in (0.5, 4.0))
        one, other = (output_image(each.network(), 16) for each in (small, large))
        assert np.corrcoef(one.ravel(), other.ravel())[0, 1] < 0.99
        means = mean_scores(mlp_scores([small, large], points=64, resolution=16))["mean"]
        assert means[0] > means[1] + 0.02

    def test_networks_of_a_seed_share_their_draws(self):
        one, other = SMALL.network(), SMALL._replace(scale=2.0, shift=0.5, bias=3.0, depth=5).network()
        for place, inputs in ((0, 2), (2, 12), (4, 12)):
            expected = 2.0 * (one[place].weight + 0.5 / inputs**0.5)
            torch.testing.assert_close(other[place].weight, expected)
        assert one[0].bias is None
        again = SMALL.network()
        assert torch.equal(again[0].weight, one[0].weight)
        assert not torch.equal(SMALL._replace(seed=1).network()[0].weight, one[0].weight)

    def test_draws_are_standard_normal_and_leave_the_global_generator_alone(self):
        state = torch.get_rng_state()
        weights = RandomMLP(width=400, depth=2, shift=0.25).network()[2].weight * 20
        assert torch.equal(torch.get_rng_state(), state)
        assert weights.mean().item() == pytest.approx(0.25, abs=0.01)
        assert weights.std().item() == pytest.approx(1.0, abs=0.01)

    @pytest.mark.parametrize(
        ("numbers", "message"),
        [
            ({"activation": "cosine"}, "no activation 'cosine'; known are .*relu.*sign"), ({"scale": 0.0}, "positive"),
            ({"bias": -1.0}, "at least 0"), ({"shift": np.nan}, "finite"), ({"width": 0}, "at least 1"),
            ({"depth": 0}, "at least 1"), ({"seed": -1}, "at least 0"),
        ],
    )  # fmt: skip
    def test_numbers_out_of_range(self, numbers, message):
        with pytest.raises(AffscoreError, match=message):
            SMALL._replace(**numbers).network()


class TestImages:
    def test_the_first_coordinate_goes_right_and_the_second_up(self):
        for coordinate, expected in ((0, [[-0.5, 0.5]] * 2), (1, [[0.5, 0.5], [-0.5, -0.5]])):
            network = nn.Linear(2, 1, bias=False, dtype=torch.float64)
            network.weight.data = torch.eye(2, dtype=torch.float64)[[coordinate]]
            assert output_image(network, 2).tolist() == expected

    def test_a_wave_has_its_frequency(self):
        x = (np.arange(48) + 0.5) / 48
        for across, along in ((1, 0), (6, 8), (0, 47)):
            image = np.cos(np.pi * across * x) * np.cos(np.pi * along * x)[:, None]
            assert mean_frequency(3 * image - 7) == pytest.approx(np.hypot(across, along) / 2)

    @pytest.mark.parametrize("resolution", [32, 256])
    def test_a_plane_has_its_closed_form_at_every_resolution(self, resolution):
        odd = np.arange(1, 20001, 2.0)
        expected = 0.5 * (odd**-3).sum() / (odd**-4).sum()
        x = np.arange(resolution) / resolution
        for image in (np.tile(x, (resolution, 1)), np.tile(x[:, None], (1, resolution))):
            assert mean_frequency(image) == pytest.approx(expected, abs=1e-3)

    def test_noise_has_the_mean_of_all_frequencies(self):
        image = np.random.default_rng(0).standard_normal((64, 64))
        assert mean_frequency(image) == pytest.approx(np.hypot(*np.ogrid[:64, :64]).mean() / 2, rel=0.03)

    def test_a_slow_reference_and_invariances(self):
        image = np.random.default_rng(1).standard_normal((5, 7))
        height, width = image.shape
        power = np.zeros(image.shape)
        for k in range(height):
            for m in range(width):
                rows = np.cos(np.pi * k * (np.arange(height) + 0.5) / height) * (1 if k else 0.5**0.5)
                columns = np.cos(np.pi * m * (np.arange(width) + 0.5) / width) * (1 if m else 0.5**0.5)
                power[k, m] = (rows @ image @ columns) ** 2
        power[0, 0] = 0
        expected = (power * np.hypot(*np.ogrid[:5, :7])).sum() / 2 / power.sum()
        for same in (image, -1e6 * image, image + 3, image[::-1], image[:, ::-1], image.T, 1e-200 * image):
            assert mean_frequency(same) == pytest.approx(expected)

    def test_a_constant_has_no_frequency(self):
        assert mean_frequency(np.full((4, 4), 7.0)) == 0
        assert mean_frequency(1.0 + 1e-14 * np.random.default_rng(0).standard_normal((4, 4))) == 0

    @pytest.mark.parametrize("image", [np.ones(4), np.ones((1, 4)), [[1.0, np.nan], [0.0, 1.0]]])
    def test_what_is_no_image(self, image):
        with pytest.raises(AffscoreError, match="image"):
            mean_frequency(image)

    def test_too_few_pixels(self):
        with pytest.raises(AffscoreError, match="at least 2 pixels"):
            square(1)


class TestScores:
    def test_they_are_those_of_the_network_s_signature(self):
        mlp = RandomMLP("tanh", 2.0, 0.25, 0.5, width=12, depth=3)
        table = mlp_scores([mlp], points=100)
        for covariance, rows in table.groupby("covariance"):
            x = pixels(100)
            expected = signature(mlp.network(), x, n=100, covariance=covariance, criteria=False, progress=False, seed=0)
            np.testing.assert_allclose(rows["score"], expected.scores, atol=1e-12)
            np.testing.assert_allclose(rows["paired"], expected.summary["paired"], atol=1e-12)

    def test_one_row_for_each_network(self):
        mlps = [SMALL, SMALL._replace(seed=1), SMALL._replace(depth=1)]
        table = mlp_scores(mlps, points=64, resolution=16)
        found = mean_scores(table, "empirical", "paired")
        assert [RandomMLP(*row) for row in found[list(RandomMLP._fields)].itertuples(index=False)] == mlps
        own = table[(table["covariance"] == "empirical") & (table["seed"] == 1)]
        row = found.iloc[1]
        assert row["mean"] == pytest.approx(own["paired"].mean())
        assert row["spread"] == pytest.approx(own["paired"].std(ddof=0))
        assert row["total"] == pytest.approx((1 - own["paired"]).sum())
        assert row["frequency"] == mean_frequency(output_image(mlps[1].network(), 16))

    def test_a_dead_network_is_constant_and_says_so(self):
        table = mlp_scores([SMALL._replace(shift=-50.0, depth=3)], points=64, resolution=16)
        assert table["constant"].any()
        assert (table.loc[table["constant"], "score"] == 1).all()
        assert np.isfinite(table[["score", "paired", "frequency"]]).all(axis=None)

    @pytest.mark.slow
    def test_the_number_of_processes_changes_nothing(self):
        mlps = [SMALL._replace(seed=seed) for seed in range(3)]
        alone, together = (mlp_scores(mlps, points=64, n_jobs=jobs) for jobs in (1, 2))
        pd.testing.assert_frame_equal(alone, together)

    @pytest.mark.parametrize(
        ("mlps", "options", "message"),
        [
            ([], {}, "at least one network"), ([SMALL], {"covariances": []}, "one covariance"),
            ([SMALL], {"points": 1}, "2 to 4096 points"), ([SMALL], {"points": 17, "resolution": 4}, "2 to 16 points"),
        ],
    )  # fmt: skip
    def test_bad_requests(self, mlps, options, message):
        with pytest.raises(AffscoreError, match=message):
            mlp_scores(mlps, **options)

    def test_scores_that_were_not_measured(self):
        table = mlp_scores([SMALL], points=64, resolution=16, covariances=["empirical"])
        with pytest.raises(AffscoreError, match="no scores of the covariance 'ledoit-wolf'"):
            mean_scores(table)
        with pytest.raises(AffscoreError, match="coupling 'none'"):
            mean_scores(table, "empirical", "none")


class TestLimits:
    """Closed forms of what scores tend to."""

    @pytest.mark.parametrize("covariance", ["ledoit-wolf", "empirical"])
    def test_the_first_layer_sees_a_plane(self, covariance):
        """On inputs that are alike in all directions; shares of the variance by the Fourier series over the angle."""
        rng = np.random.default_rng(0)
        angle, radius = 2 * np.pi * np.arange(500) / 500, rng.permutation(np.sqrt((np.arange(500) + 0.5) / 500))
        z = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        units = np.stack([np.cos(turn := 2 * np.pi * np.arange(200) / 200), np.sin(turn)])
        x = z @ units
        m = radius.mean() / np.sqrt((radius**2).mean())
        p = {"relu": 1 / (2 - 8 * m**2 / np.pi**2), "sign": 8 / np.pi**2}
        expected = {"relu": 1 - np.sqrt((1 - p["relu"]) / 2), "sign": 1 - np.sqrt((1 + p["sign"] * (1 - 2 * m)) / 2)}
        for name, y in (("relu", np.maximum(x, 0)), ("sign", np.sign(x))):
            score = affinity_score(x, y, covariance)
            assert score.value == pytest.approx(expected[name], abs=0.02)
            assert score.degenerate_input == (covariance == "empirical")

    def test_a_large_tanh_network_is_the_sign_network(self):
        large, sign = (
            mlp_scores([mlp], points=128) for mlp in (RandomMLP("tanh", 2.0**40, depth=3), RandomMLP("sign", depth=3))
        )
        np.testing.assert_allclose(large["score"], sign["score"], atol=1e-6)

    def test_independent_signs(self):
        x = torch.from_numpy(np.random.default_rng(0).standard_normal((1000, 100)))
        expected = 1 - (1 - (2 / np.pi) ** 0.5) ** 0.5
        assert affinity_score(x, x.sign()).value == pytest.approx(expected, abs=0.01)
        assert limit_score(torch.sign) == pytest.approx(expected, abs=1e-3)

    def test_a_small_tanh_network_is_affine(self):
        mlp = RandomMLP("tanh", 2.0**-10, depth=3)
        assert mlp_scores([mlp], points=64, covariances=["empirical"])["score"].min() > 0.999
        assert mean_frequency(output_image(mlp.network())) < 0.53
