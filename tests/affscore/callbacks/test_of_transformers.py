"""The tracker in the Trainer of transformers: the same record as in a loop of one's own, and in checkpoints."""

import json

import pandas as pd
import pytest
import torch
from torch import nn
from transformers import Trainer, TrainerCallback, TrainingArguments

import affscore
from affscore import AffscoreError
from affscore.callbacks import TrainerTracker

pytestmark = pytest.mark.slow


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.network = nn.Sequential(nn.Linear(5, 8), nn.LayerNorm(8), nn.GELU(), nn.Dropout(0.3), nn.Linear(8, 3))

    def forward(self, x, labels=None):
        logits = self.network(x)
        if labels is None:
            return {"logits": logits}
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


class Samples(torch.utils.data.Dataset):
    def __init__(self):
        self.x = torch.randn(64, 5, generator=torch.Generator().manual_seed(1))

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return {"x": self.x[index], "labels": index % 3}


class Killed(TrainerCallback):
    """Ends the training as a signal would, at once."""

    def __init__(self, step):
        self.step = step

    def on_step_end(self, args, state, control, **_):
        if state.global_step == self.step:
            raise KeyError


def train(folder, *callbacks, steps=9, resume=None, **options):
    torch.manual_seed(0)
    arguments = {"save_steps": 4, "save_strategy": "steps", "report_to": [], "disable_tqdm": True, **options}
    arguments = TrainingArguments(
        folder, max_steps=steps, per_device_train_batch_size=8, learning_rate=0.01, use_cpu=True, seed=3, **arguments
    )
    trainer = Trainer(Classifier(), arguments, train_dataset=Samples(), callbacks=list(callbacks))
    trainer.train(resume_from_checkpoint=resume)
    return trainer


def test_it_measures_and_changes_nothing(tmp_path):
    tracker = TrainerTracker(Samples(), every=4, n=40)
    tracked, alone = train(tmp_path, tracker).model, train(tmp_path).model
    assert all(torch.equal(*pair) for pair in zip(tracked.parameters(), alone.parameters(), strict=True))
    table = tracker.tracker.table
    assert table["step"].unique().tolist() == [0, 4, 8, 9]
    assert set(table["n"]) == {40}
    last = affscore.multiverse(tracked, Samples(), n=40, images=40, reductions="mean").signature(coupling="paired")
    assert table["score"].tolist()[-1:] == pytest.approx(last.scores.tolist(), abs=1e-12)


def test_a_killed_training_resumes_with_its_record(tmp_path):
    undisturbed = TrainerTracker(Samples(), every=3)
    whole = train(tmp_path / "whole", undisturbed).model

    with pytest.raises(KeyError):
        train(tmp_path / "killed", TrainerTracker(Samples(), every=3), Killed(7))
    checkpoint = tmp_path / "killed" / "checkpoint-4"
    kept = json.loads((checkpoint / "trainer_state.json").read_text())["stateful_callbacks"]["affscore.track 3"]
    assert set(kept["table"]["step"]) == {0, 3}

    resumed = TrainerTracker(Samples(), every=3)
    model = train(tmp_path / "killed", resumed, resume=str(checkpoint)).model
    assert all(torch.equal(*pair) for pair in zip(whole.parameters(), model.parameters(), strict=True))
    pd.testing.assert_frame_equal(resumed.tracker.table, undisturbed.tracker.table, check_exact=True)
    assert resumed.tracker.table["step"].unique().tolist() == [0, 3, 6, 9]
    records = [{**one.tracker.record.metadata, "created": ""} for one in (resumed, undisturbed)]
    assert records[0] == json.loads(json.dumps(records[1]))


def test_a_checkpoint_without_a_record(tmp_path):
    train(tmp_path, steps=4)
    tracker = TrainerTracker(Samples(), every=3)
    train(tmp_path, tracker, steps=7, resume=str(tmp_path / "checkpoint-4"))
    assert tracker.tracker.table["step"].unique().tolist() == [4, 6, 7]
    assert any("begins at step 4" in note for note in tracker.tracker.record.notes)


def test_the_last_step_is_not_that_of_other_weights(tmp_path):
    """The Trainer may load its best weights in the end."""
    tracker = TrainerTracker(Samples(), every=4)
    torch.manual_seed(0)
    best = {"eval_strategy": "steps", "eval_steps": 2, "save_steps": 2, "load_best_model_at_end": True}

    class Worse(Trainer):
        def evaluate(self, *_, **__):
            metrics = {"eval_loss": float(self.state.global_step)}
            self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
            return metrics

    arguments = TrainingArguments(
        tmp_path, max_steps=6, per_device_train_batch_size=8, learning_rate=0.1, use_cpu=True, report_to=[],
        disable_tqdm=True, save_strategy="steps", **best,
    )  # fmt: skip
    trainer = Worse(Classifier(), arguments, train_dataset=Samples(), eval_dataset=Samples(), callbacks=[tracker])
    trainer.train()
    table = tracker.tracker.table
    assert table["step"].unique().tolist() == [0, 4, 6]
    now = affscore.multiverse(trainer.model, Samples(), reductions="mean").signature(coupling="paired").scores
    assert trainer.state.best_global_step == 2
    assert table["score"].tolist()[-1] != pytest.approx(now[0], abs=1e-9)


def test_wrong_options_stop_it_at_the_beginning(tmp_path):
    with pytest.raises(AffscoreError, match="coupling must be one of"):
        train(tmp_path, TrainerTracker(Samples(), coupling="none"))
