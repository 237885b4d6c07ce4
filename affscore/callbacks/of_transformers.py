"""The tracker as a callback of the Trainer of transformers (extra ``transformers``)."""

from __future__ import annotations

from typing import Any

from affscore.models.naming import needs
from affscore.network.tracker import Tracker, track

_TrainerCallback: Any = needs("transformers", "TrainerTracker", "transformers").TrainerCallback


class TrainerTracker(_TrainerCallback):
    """Measures a network while the Trainer of transformers trains it, as :func:`affscore.track` does.

    ``Trainer(..., callbacks=[tracker := TrainerTracker(probe, every=100)])``; then ``tracker.tracker.table``,
    ``.plot()``, ``.save(file)``. It measures where the training starts and after its last step, too. The record stands
    in ``trainer_state.json`` of each checkpoint, and ``trainer.train(resume_from_checkpoint=...)`` goes on with it.

    Its arguments are those of :func:`affscore.track` from ``probe`` on.

    Attributes:
        tracker: The :class:`affscore.Tracker` of the latest training; None before.

    >>> TrainerTracker("digits", every=50).tracker is None
    True
    """

    def __init__(self, probe: Any, every: int = 100, **options: Any) -> None:
        self.tracker: Tracker | None = None
        self._probe, self._every, self._options = probe, every, options
        self._key = " ".join(["affscore.track", str(every), *filter(None, [options.get("data_name")])])

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        """Measure the network before its first step, or go on with the record of the checkpoint."""
        kept = state.stateful_callbacks.get(self._key)
        if kept is not None:  # written at the last measurement, and there were steps since
            kept = {**kept, "steps": state.global_step}
        options = {"start": state.global_step, "state": kept, **self._options}
        self.tracker = track(model, self._probe, self._every, **options)
        state.stateful_callbacks[self._key] = self.tracker.state_dict()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Count a step. After the last one the network is measured now: the Trainer may load its best weights then."""
        if self.tracker is None:
            return
        self.tracker.step()
        if state.global_step >= state.max_steps:
            self.tracker.measure()
        if state.global_step >= state.max_steps or self.tracker.steps % self.tracker.every == 0:
            state.stateful_callbacks[self._key] = self.tracker.state_dict()

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Measure the last step of a training that was stopped early, unless these are other weights."""
        if self.tracker is not None and not args.load_best_model_at_end:
            self.tracker.measure()
