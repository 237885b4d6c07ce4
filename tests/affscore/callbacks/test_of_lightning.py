"""The tracker in Lightning's Trainer: the same record as in a loop of one's own, and in checkpoints."""

import warnings

import lightning.pytorch as pl
import pandas as pd
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import affscore
from affscore.callbacks import LightningTracker

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::UserWarning:lightning.*"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


class Classifier(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.network = nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 3))

    def forward(self, x):
        return self.network(x)

    def training_step(self, batch, _):
        return nn.functional.cross_entropy(self(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)


def data():
    generator = torch.Generator().manual_seed(1)
    return torch.randn(64, 5, generator=generator), torch.arange(64) % 3


def fit(folder, *callbacks, steps=7, checkpoint=None, **options):
    torch.manual_seed(0)
    module = Classifier()
    trainer = pl.Trainer(
        max_steps=steps, callbacks=list(callbacks), accelerator="cpu", logger=False, enable_progress_bar=False,
        enable_model_summary=False, default_root_dir=folder, enable_checkpointing=False, **options,
    )  # fmt: skip
    torch.manual_seed(3)
    trainer.fit(module, DataLoader(TensorDataset(*data()), batch_size=16), ckpt_path=checkpoint)
    return trainer, module


def test_it_measures_and_changes_nothing(tmp_path):
    tracker = LightningTracker(data(), every=3, n=40)
    _, tracked = fit(tmp_path, tracker)
    _, alone = fit(tmp_path)
    assert all(torch.equal(*pair) for pair in zip(tracked.parameters(), alone.parameters(), strict=True))
    table = tracker.tracker.table
    assert table["step"].unique().tolist() == [0, 3, 6, 7]
    assert set(table["n"]) == {40}
    last = affscore.multiverse(tracked, data(), n=40, images=40, reductions="mean").signature(coupling="paired")
    assert table["score"].tolist()[-1:] == pytest.approx(last.scores.tolist(), abs=1e-12)


def test_a_step_is_one_of_the_optimiser(tmp_path):
    tracker = LightningTracker(data(), every=2)
    fit(tmp_path, tracker, steps=4, accumulate_grad_batches=2)
    assert tracker.tracker.steps == 4
    assert tracker.tracker.table["step"].unique().tolist() == [0, 2, 4]


def test_a_checkpoint_has_the_record(tmp_path):
    undisturbed = LightningTracker(data(), every=3)
    fit(tmp_path, undisturbed, steps=12)

    first = LightningTracker(data(), every=3)

    class Stopped(pl.Callback):
        def on_train_batch_end(self, trainer, *_):
            if trainer.global_step == 8:
                trainer.save_checkpoint(tmp_path / "last.ckpt")
                raise KeyError

    with pytest.raises(KeyError):
        fit(tmp_path, first, Stopped(), steps=12)
    assert first.tracker.table["step"].unique().tolist() == [0, 3, 6]

    second = LightningTracker(data(), every=3)
    with warnings.catch_warnings(action="ignore"):
        fit(tmp_path, second, steps=12, checkpoint=tmp_path / "last.ckpt")
    # dropout draws other numbers after a checkpoint, as Lightning keeps no state of the generators
    resumed, expected = second.tracker.table, undisturbed.tracker.table
    assert resumed["step"].tolist() == expected["step"].tolist()
    pd.testing.assert_frame_equal(resumed[resumed["step"] < 8], expected[expected["step"] < 8], check_exact=True)
    for name in ("every", "start", "steps", "probe"):
        assert second.tracker.record.metadata[name] == undisturbed.tracker.record.metadata[name]


def test_a_checkpoint_without_a_record(tmp_path):
    trainer, _ = fit(tmp_path, steps=4)
    trainer.save_checkpoint(tmp_path / "x.ckpt")
    tracker = LightningTracker(data(), every=3)
    fit(tmp_path, tracker, steps=7, checkpoint=tmp_path / "x.ckpt")
    assert tracker.tracker.table["step"].unique().tolist() == [4, 6, 7]
    assert any("begins at step 4" in note for note in tracker.tracker.record.notes)


def test_several_trackers(tmp_path):
    trackers = [LightningTracker(data(), every=3, data_name=name) for name in ("one", "two")]
    trainer, _ = fit(tmp_path, *trackers, steps=3)
    trainer.save_checkpoint(tmp_path / "x.ckpt")
    assert [tracker.tracker.record.metadata["dataset"] for tracker in trackers] == ["one", "two"]
    assert len({tracker.state_key for tracker in trackers}) == 2
    assert LightningTracker(data()).state_dict() == {}
