"""The scores of a network while it trains, measured on fixed samples every so many steps; none of which changes it."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pandas as pd
import torch
from torch import nn

from affscore.errors import AffscoreError, AffscoreWarning, guarded, guarding
from affscore.models.card import fingerprint
from affscore.models.data import load_data
from affscore.network.batch import Batch, Subject, recorded, run_batch, subject_of
from affscore.network.experts import Key, first_difference, numbered
from affscore.network.forward import accuracy_of
from affscore.network.inputs import Forward
from affscore.network.notes import Note, give_warnings
from affscore.network.probe import keep_samples, keys_of, structure_of
from affscore.network.record import NOT_FINITE, TrainingRecord, check_record, table_of_record
from affscore.network.scoring import NotFiniteError, Pair, columns_of_call, score_batch, score_pair
from affscore.network.signature import Rows, assemble, named_options
from affscore.options import (
    MASK,
    CouplingName,
    CovarianceName,
    Execution,
    OrderName,
    ReductionName,
    UnitsName,
    check_integer,
)
from affscore.recorder import Recorder
from affscore.recorder.model_state import check_whole, device_of, in_training, unwrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def track(  # the others are those of signature
    model: nn.Module,
    probe: Any,
    every: int = 100,
    n: int = 512,
    reduction: ReductionName = "mean",
    order: OrderName = "activate-first",
    covariance: CovarianceName = "ledoit-wolf",
    coupling: CouplingName = "paired",
    criteria: bool | str | Collection[str] = False,
    batch_size: int = 64,
    seed: int = 0,
    activations: Collection[Any] | Mapping[str, Any] | None = None,
    forward: Forward | None = None,
    data_name: str | None = None,
    start: int = 0,
    state: Mapping[str, Any] | None = None,
    units: UnitsName = "activations",
    size: int | None = None,
    mask: str | None = MASK,
) -> Tracker:
    """Measure a network while it trains: the affinity scores of all activations, every so many optimisation steps.

    As for :func:`affscore.signature`: reduction, order, covariance, criteria (but none by default), batch_size, seed,
    activations, forward, data_name, units, size, mask.

    The network is measured at once, before its first step, and then by :meth:`Tracker.step`, which is called after each
    step of the optimiser. As a context, the tracker measures the last step, too.

    The training is not changed: with and without a tracker the weights are the same to the last bit, where the device
    computes the same twice. The network runs in evaluation mode, where batch norms keep their statistics, without
    gradients, and outside of any autocast; flags, gradients and the states of random generators are as before. What a
    module of yours writes in evaluation mode (a cache, a counter) stays, and hooks of yours run, as in any validation.
    Of a network in DataParallel, DistributedDataParallel or ``torch.compile`` the inner module is measured, uncompiled.
    Where several processes train together, process 0 measures, and the others only count.

    Args:
        model: The network that is being trained, on the device where it is.
        probe: Samples, as the data of :func:`affscore.signature`. They are read once, now, and kept in memory.
        every: How many steps lie between two measurements.
        n: How many samples of the probe to use, at most: one batch of the statistic. The others are not read.
        coupling: "paired" for the pairing of each input with its own output, which solves no assignment problem and
            gives a lower bound of the exact score; "exact" for the score of a signature.
        start: How many steps the network has made already, where its training goes on without a state of the tracker.
        state: What :meth:`Tracker.state_dict` returned in a training that goes on: its record is taken up, as by
            :meth:`Tracker.load_state_dict`, and nothing is measured now.

    Returns:
        The tracker: ``.step()``, ``.table``, ``.plot()``, ``.save(file)``, ``.state_dict()``.

    Warns:
        AffscoreWarning: A number is likely wrong, as of a signature.

    Raises:
        AffscoreError: As :func:`affscore.signature` and :meth:`Tracker.load_state_dict`; weights that are spread over
            several processes.

    >>> from affscore import load_model
    >>> with track(load_model("mini:digitsnet"), "digits", every=2, n=128) as tracker:
    ...     for _ in range(5):
    ...         _ = tracker.step()  # after optimiser.step()
    >>> tracker.table["step"].unique().tolist(), len(tracker.table) // 9
    ([0, 2, 4, 5], 4)
    """
    every, start, network = check_integer("every", every, 1), check_integer("start", start, 0), unwrapped(model)
    check_whole(network)
    options = named_options(locals())
    tracker, distributed = Tracker(every, start), torch.distributed
    if not (distributed.is_available() and distributed.is_initialized()) or distributed.get_rank() == 0:
        probe = load_data(probe, seed=options.seed) if isinstance(probe, str) else probe
        how = Execution(str(device_of(network)), batch_size, progress=False)
        tracker.subject = subject_of(network, probe, options, how, activations, forward, data_name)
        tracker.identity = keep_samples(tracker.subject, probe)
    if state is None:
        tracker.measure()
    else:
        tracker.load_state_dict(state)
    return tracker


class Tracker:
    """Measures a network in training; :func:`track` makes one, and measures at once.

    Attributes:
        steps: How many optimisation steps there were.
        every: How many lie between two measurements.
        subject: The network and the samples of the probe; None where another process measures.
        identity: A hash of these samples.
    """

    def __init__(self, every: int, start: int = 0) -> None:
        self.every, self.steps, self._start = every, start, start
        self.subject: Subject | None = None
        self.identity: str | None = None
        self._keys = list[Key]()  # layer, call and name of each activation, once they are known
        self._rows: Rows = []
        self._failed: list[list[Any]] = []  # step and sentence
        self._metadata, self._notes = dict[str, Any](), list[Note]()

    def step(self) -> bool:
        """Count an optimisation step, and measure the network if its turn has come.

        Returns:
            Whether it was measured.

        Warns:
            AffscoreWarning: It could not be measured, or some of its activations hold NaN or infinity; once.
        """
        self.steps += 1
        return self.steps % self.every == 0 and self.measure()

    def measure(self) -> bool:
        """Measure the network now, unless that was done or tried after this step.

        An error of the first measurement is raised. A later one does not end the training: it becomes a note, and a
        warning when it first occurs.

        Returns:
            Whether it was measured.
        """
        tried = (*(row["step"] for row in self._rows[-1:]), *(step for step, _ in self._failed[-1:]))
        if self.subject is None or self.steps in tried:
            return False
        if not self._metadata:
            self._begin(self.subject)
            return True
        try:
            *_, rows = guarded(partial(self._run, self.subject), "the measurement failed")
        except AffscoreError as error:
            sentence = str(error)
            if sentence not in [before for _, before in self._failed]:
                warnings.warn(f"step {self.steps} was not measured: {sentence}", AffscoreWarning, stacklevel=3)
            self._failed.append([self.steps, sentence])
            return False
        before, now = ({row["flag"] for row in some} for some in (self._rows, rows))
        self._rows += table_of_record(rows).to_dict("records")
        if NOT_FINITE in now - before:
            says = f"activations hold NaN or infinity at step {self.steps} or later, and have no score there"
            self._notes.append(Note(f"{says} (flag {NOT_FINITE!r}): the training has diverged", "warning"))
            give_warnings(self._notes[-1:], stacklevel=3)
        return True

    def _begin(self, subject: Subject) -> None:
        """The first measurement, with all that the samples and the structure of the network have to say."""
        recorder, batch, rows = self._run(subject)
        about = {"fingerprint_weights": fingerprint(subject.network), "fingerprint_data": subject.stream.fingerprint}
        (signature,) = assemble(subject, recorder, [batch], [rows], about)
        self._rows += table_of_record(rows).to_dict("records")
        self._keys, self._notes = keys_of(rows), signature.notes
        self._metadata = {**signature.metadata, "probe": self.identity, "every": self.every, "start": self._start}
        del self._metadata["accuracy"]
        if self._start:
            self._notes.append(Note(f"the record begins at step {self._start}: the network had been trained before"))
        give_warnings(self._notes, stacklevel=4)

    def _run(self, subject: Subject) -> tuple[Recorder, Batch, Rows]:
        """Measure the network as it is now; later NaN or infinity in an activation leave it without a score."""
        subject.device = device_of(subject.network)  # it may have moved since
        with recorded(subject, in_training) as recorder:
            batch = cast("Batch", run_batch(subject, recorder, 0, subject.stream.chunks, bool(self._keys)))
        rows = score_batch(batch.passes, subject.options, _score_or_flag if self._keys else score_pair)
        rows = numbered([rows])[0] if subject.one_by_one else rows
        if self._keys and (difference := first_difference(self._keys, keys_of(rows))):
            raise AffscoreError(f"the network has another structure than at first: {difference}; begin a new record")
        accuracy, _ = accuracy_of(batch.predicted, subject.stream, subject.card.classes)
        about = {"step": self.steps, "accuracy": math.nan if accuracy is None else accuracy}
        return recorder, batch, [{**row, **about} for row in rows]

    @property
    def record(self) -> TrainingRecord:
        """What has been measured up to now, frozen."""
        metadata, notes = {**self._metadata, "steps": self.steps}, [*self._notes]
        for sentence in dict.fromkeys(sentence for _, sentence in self._failed):
            steps = ", ".join(str(step) for step, other in self._failed if other == sentence)
            notes.append(Note(f"not measured at step {steps}: {sentence}", "warning"))
        return TrainingRecord(self.table, metadata, notes)

    @property
    def table(self) -> pd.DataFrame:
        """A row for every measured step and activation; see the reference of columns in the book."""
        return table_of_record(self._rows)

    def plot(self, title: str | None = None) -> Figure:
        """Draw the record (:meth:`TrainingRecord.plot`)."""
        return self.record.plot(title)

    def save(self, file: str | Path) -> Path:
        """Write the record to a file (:meth:`TrainingRecord.save`)."""
        return self.record.save(file)

    def state_dict(self) -> dict[str, Any]:
        """All that a resumed training needs, in plain types: for ``torch.save``, beside the state of the optimiser.

        ``torch.load(..., weights_only=True)`` reads it, and JSON keeps it.
        """
        subject, asked = self.subject, dict[str, Any]()
        if subject is not None:  # what decides the numbers of the record, beside the numbers in the network
            options, network = subject.options, subject.network
            asked = {"n": options.n, **options.as_columns(), "seed": options.seed, "every": self.every}
            asked |= {"criteria": list(options.criteria), "probe": self.identity, "network": structure_of(network)}
        return {
            "steps": self.steps,
            "start": self._start,
            "asked": asked,
            "table": self.table.to_dict("list"),
            "metadata": json.loads(json.dumps(self._metadata)),
            "notes": [note.stored() for note in self._notes],
            "one_by_one": "" if subject is None else subject.one_by_one,
            "failed": [list(one) for one in self._failed],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on with the record of a training that was interrupted; what this tracker has measured is dropped.

        The record is then, on the CPU to the last bit, that of a training that was never interrupted. The network is
        known by the names and shapes of its weights, whether or not parts of it are compiled. Other activations between
        the same weights are noticed here if this tracker has measured, else when it measures next.

        Args:
            state: What :meth:`state_dict` returned there.

        Raises:
            AffscoreError: The state of another probe, of other options or of another network, or none at all; the
                tracker is then as it was.
        """
        own = self.state_dict()
        with guarding("this is no state of a tracker"):
            given = json.loads(json.dumps({name: {"one_by_one": "", **state}[name] for name in own}))  # a copy
            table, notes = pd.DataFrame(given["table"]), list(map(Note.of, given["notes"]))
            if self.subject is not None:
                check_record(table, given["metadata"])
        if self.subject is not None:
            asked, stored = own["asked"], {"network": own["asked"]["network"], **given["asked"]}  # 1.0 has no network
            for name, value in asked.items():
                if stored.get(name) != value:
                    differs = f"with {name}={stored.get(name)!r}, and this tracker has {name}={value!r}"
                    advice = "make the tracker as it was made before, or begin a new record"
                    raise AffscoreError(f"the state is of a tracker {differs}; {advice}")
            rows: Rows = table.to_dict("records")
            keys = keys_of(row for row in rows if row["step"] == rows[0]["step"])
            if self._keys not in ([], keys):
                raise AffscoreError("the state is of a network with other activations; begin a new record")
            self._rows, self._keys, self.subject.one_by_one = rows, keys, given["one_by_one"]
        self.steps, self._start, self._failed = given["steps"], given["start"], given["failed"]
        self._metadata, self._notes = given["metadata"], notes

    def __enter__(self) -> Tracker:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            if self.steps == self._start:
                warnings.warn("no step was counted: call step() after each step of the optimiser", AffscoreWarning, 2)
            self.measure()

    def __repr__(self) -> str:
        return f"Tracker at step {self.steps}, measuring every {self.every}\n{self.record!r}"


def _score_or_flag(pair: Pair, *options: Any) -> dict[str, Any]:
    try:
        return score_pair(pair, *options)
    except NotFiniteError:
        n, width = pair.x.shape
        return columns_of_call(pair.call) | {"n": n, "width": width, "bound_exceeded": False, "flag": NOT_FINITE}
