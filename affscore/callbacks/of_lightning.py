"""The tracker as a callback of Lightning (extra ``lightning``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from affscore.models.naming import needs
from affscore.network.tracker import Tracker, track

_Callback: Any = needs("lightning.pytorch", "LightningTracker", "lightning").Callback


class LightningTracker(_Callback):
    """Measures a ``LightningModule`` while Lightning's Trainer fits it, as :func:`affscore.track` does.

    ``Trainer(callbacks=[tracker := LightningTracker(probe, every=100)])``; then ``tracker.tracker.table``, ``.plot()``,
    ``.save(file)``. It measures where the training starts and where it ends, too. The record goes into Lightning's
    checkpoints, and ``trainer.fit(..., ckpt_path=...)`` goes on with it. Several trackers need another ``every`` or
    ``data_name`` each. A step is a batch after which Lightning's ``global_step`` is larger.

    Its arguments are those of :func:`affscore.track` from ``probe`` on.

    Attributes:
        tracker: The :class:`affscore.Tracker` of the latest fit; None before.

    >>> LightningTracker("digits", every=50).state_key
    "LightningTracker{'every': 50, 'data_name': None}"
    """

    def __init__(self, probe: Any, every: int = 100, **options: Any) -> None:
        self.tracker: Tracker | None = None
        self._probe, self._every, self._options = probe, every, options
        self._state: Mapping[str, Any] | None = None
        self._counted = 0

    @property
    def state_key(self) -> str:
        """Under which the record stands in a checkpoint."""
        return str(self._generate_state_key(every=self._every, data_name=self._options.get("data_name")))

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """Measure the network before its first step, or go on with the record of the checkpoint."""
        self._counted, state, self._state = trainer.global_step, self._state, None
        options = {"start": trainer.global_step, "state": state, **self._options}
        self.tracker = track(pl_module, self._probe, self._every, **options)

    def on_train_batch_end(self, trainer: Any, *_: Any) -> None:
        """Count a step, if this batch made one."""
        if self.tracker is not None and trainer.global_step != self._counted:
            self._counted = trainer.global_step
            self.tracker.step()

    def on_train_end(self, *_: Any) -> None:
        """Measure the last step."""
        if self.tracker is not None:
            self.tracker.measure()

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {} if self.tracker is None else self.tracker.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """What a checkpoint kept, for the fit that begins."""
        self._state = state_dict or None
