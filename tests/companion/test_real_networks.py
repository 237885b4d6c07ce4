"""The networks that others trained: all of them have their scores, and what is said of their images is true."""

import pandas as pd
import pytest

from affscore.survey.store import Store
from companion.real_networks import FOLDER, real_multiverses, real_networks, real_scores
from companion.shipped import MULTIVERSES


@pytest.mark.parametrize("images", ["photographs", "CIFAR-10"])
def test_every_network_has_its_scores_once_and_under_every_choice(images):
    names = set(real_networks().query("images == @images").index)
    scores, every = real_scores(images), real_multiverses(images)
    assert set(scores["network"]) == set(every["network"]) == names
    assert not scores.duplicated(["network", "index"]).any()
    assert scores["score"].dropna().between(0, 1).all()
    choice = ["reduction", "order", "covariance", "coupling"]
    assert set(every.groupby(["network", "index"])[choice].apply(lambda rows: len(rows.drop_duplicates()))) == {12}
    default = every.query("reduction == 'mean' and order == 'activate-first' and covariance == 'ledoit-wolf'")
    both = default.query("coupling == 'exact'").merge(scores, on=["network", "index"])
    assert len(both) == len(scores)
    assert both["score_x"].to_numpy() == pytest.approx(both["score_y"].to_numpy(), abs=2e-4, nan_ok=True)


def test_what_jpeg_costs_is_what_the_captions_say():
    lossless, jpeg = (
        real_scores(f"CIFAR-10 {way}").groupby("network")["score"].mean() for way in ("lossless", "as JPEG")
    )
    assert len(lossless) == len(jpeg) == 12
    assert 0 < (jpeg - lossless).min() < (jpeg - lossless).max() < 0.0155
    of = real_networks().query("images == 'CIFAR-10'").set_index("model")["accuracy"]
    measured = {
        one["model"]: one["accuracy"]
        for folder in (MULTIVERSES, FOLDER / "multiverses")
        for one in Store(folder).descriptions().values()
        if one["model"] in of.index and one["weights"] != "random"
    }
    lost = of - 100 * pd.Series(measured)
    assert 5.5 < lost.min() < lost.max() < 13.5


def test_each_result_says_how_it_was_measured():
    for folder in ("results", "multiverses", "lossless"):
        for metadata in Store(FOLDER / folder).descriptions().values():
            assert metadata["command"].startswith("affscore survey")
            assert "/" not in metadata["command"]
