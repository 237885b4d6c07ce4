"""The scores of a network while it trains, measured on fixed samples every so many steps; none of which changes it."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import nn

from affscore.errors import AffscoreError, AffscoreWarning, first_line, guarded
from affscore.network.criteria import choose_criteria
from affscore.network.inputs import Forward
from affscore.network.note import Note, give_warnings
from affscore.network.probe import Probe, places_of
from affscore.network.record import COLUMNS, NOT_FINITE, TrainingRecord, check_record, table_of_record
from affscore.network.reduction import OrderName, ReductionName
from affscore.options import MASK, CouplingName, Execution, Options, UnitsName, check_integer, checked
from affscore.recorder.model_state import check_whole, device_of, unwrapped
from affscore.transport.covariance import CovarianceName

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def track(
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

    The network is measured at once, before its first step, and then by :meth:`Tracker.step`, which is called after each
    step of the optimiser. As a context, the tracker measures the last step, too.

    The training is not changed: with and without a tracker the weights are the same to the last bit, where the device
    computes the same twice. The network runs in evaluation mode, where batch norms keep their statistics, without
    gradients, and outside of any autocast; flags, gradients and the states of random generators are as before. What a
    module of yours writes in evaluation mode (a cache, a counter) stays, and hooks of yours run, as in any validation.
    Of a network in DataParallel, DistributedDataParallel or
    ``torch.compile`` the inner module is measured, uncompiled. Where several processes train together, process 0
    measures, and the others only count.

    Args:
        model: The network that is being trained, on the device where it is.
        probe: Samples, as the data of :func:`affscore.signature`. They are read once, now, and kept in memory.
        every: How many steps lie between two measurements.
        n: How many samples of the probe to use, at most: one batch of the statistic. The others are not read.
        reduction: As in :func:`affscore.signature`.
        order: As there.
        covariance: As there.
        coupling: "paired" for the pairing of each input with its own output, which solves no assignment problem and
            gives a lower bound of the exact score; "exact" for the score of a signature.
        criteria: As there.
        batch_size: Samples that go through the network at once (a DataLoader decides for itself).
        seed: As there.
        activations: As there.
        forward: As there.
        data_name: As there.
        start: How many steps the network has made already, where its training goes on without a state of the tracker.
        state: What :meth:`Tracker.state_dict` returned in a training that goes on: its record is taken up, as by
            :meth:`Tracker.load_state_dict`, and nothing is measured now.
        units: As in :func:`affscore.signature`.
        size: As there.
        mask: As there.

    Returns:
        The tracker: ``.step()``, ``.table``, ``.plot()``, ``.save(file)``, ``.state_dict()``.

    Warns:
        AffscoreWarning: A number is likely wrong, as of a signature.

    Raises:
        AffscoreError: As :func:`affscore.signature` and :meth:`Tracker.load_state_dict`; weights that are spread over
            several processes.

    >>> from affscore import load_model
    >>> network = load_model("mini:digitsnet")
    >>> optimiser = torch.optim.SGD(network.parameters(), lr=0.1)
    >>> images, labels = torch.randn(64, 1, 8, 8), torch.randint(10, (64,))
    >>> with track(network, "digits", every=2, n=128) as tracker:
    ...     for _ in range(5):
    ...         optimiser.zero_grad()
    ...         torch.nn.functional.cross_entropy(network(images), labels).backward()
    ...         optimiser.step()
    ...         _ = tracker.step()
    >>> tracker.table["step"].unique().tolist(), len(tracker.table) // 9
    ([0, 2, 4, 5], 4)
    """
    every, start, network = check_integer("every", every, 1), check_integer("start", start, 0), unwrapped(model)
    check_whole(network)
    options = checked(Options(
        n=n, reduction=reduction, order=order, covariance=covariance, coupling=coupling,
        criteria=choose_criteria(criteria, units), seed=seed, units=units, size=size, mask=mask,
    ))  # fmt: skip
    how = Execution(str(device_of(network)), batch_size, progress=False)
    measures = Probe(network, probe, options, how, activations, forward, data_name) if _is_first_process() else None
    tracker = Tracker(measures, options, every, start)
    if state is None:
        tracker.measure()
    else:
        tracker.load_state_dict(state)
    return tracker


class Tracker:
    """Measures a network in training; :func:`track` makes one, and measures at once.

    Args:
        probe: What measures it; None where another process does.
        options: What is measured.
        every: As in :func:`track`.
        start: As there.

    Attributes:
        steps: How many optimisation steps there were.
        every: How many lie between two measurements.
    """

    def __init__(self, probe: Probe | None, options: Options, every: int, start: int = 0) -> None:
        self._probe, self._options, self.every, self._start, self.steps = probe, options, every, start, start
        self._rows: list[dict[str, Any]] = []
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
        last = max((self._rows[-1]["step"] if self._rows else -1), (self._failed[-1][0] if self._failed else -1))
        if self._probe is None or last == self.steps:
            return False
        if not self._metadata:
            self._begin(self._probe)
            return True
        try:
            rows = guarded(self._probe.again, "the measurement failed")
        except AffscoreError as error:
            sentence = str(error)
            if sentence not in [before for _, before in self._failed]:
                warnings.warn(f"step {self.steps} was not measured: {sentence}", AffscoreWarning, stacklevel=3)
            self._failed.append([self.steps, sentence])
            return False
        known = any(row["flag"] == NOT_FINITE for row in self._rows)
        self._rows += [{"step": self.steps, **row} for row in rows]
        if not known:
            give_warnings(self._on_infinity(), stacklevel=3)
        return True

    def _begin(self, probe: Probe) -> None:
        signature = probe.first()
        accuracy = signature.metadata.pop("accuracy")
        table = signature.table.assign(step=self.steps, accuracy=math.nan if accuracy is None else accuracy)
        self._rows = _rows({name: column.tolist() for name, column in table.items() if name in COLUMNS.names})
        self._metadata = {**signature.metadata, "probe": probe.identity, "every": self.every, "start": self._start}
        self._notes = list(signature.notes)
        if self._start:
            self._notes.append(Note(f"the record begins at step {self._start}: the network had been trained before"))
        give_warnings(self._notes, stacklevel=4)

    @property
    def record(self) -> TrainingRecord:
        """What has been measured up to now, frozen."""
        metadata = {**self._metadata, "steps": self.steps}
        notes = [*self._notes, *self._on_infinity()]
        for sentence in dict.fromkeys(sentence for _, sentence in self._failed):
            steps = ", ".join(str(step) for step, other in self._failed if other == sentence)
            notes.append(Note(f"not measured at step {steps}: {sentence}", "warning"))
        return TrainingRecord(self.table, metadata, notes)

    @property
    def table(self) -> pd.DataFrame:
        """A row for every measured step and activation; see the reference of columns in the book."""
        return table_of_record(self._rows)

    def plot(self, title: str | None = None) -> Figure:
        """As :meth:`TrainingRecord.plot`."""
        return self.record.plot(title)

    def save(self, file: str | Path) -> Path:
        """As :meth:`TrainingRecord.save`."""
        return self.record.save(file)

    def state_dict(self) -> dict[str, Any]:
        """All that a resumed training needs, in plain types: for ``torch.save``, beside the state of the optimiser.

        ``torch.load(..., weights_only=True)`` reads it, and JSON keeps it.
        """
        return {
            "steps": self.steps,
            "start": self._start,
            "asked": self._asked(),
            "table": {str(name): column.tolist() for name, column in self.table.items()},
            "metadata": json.loads(json.dumps(self._metadata)),
            "notes": [note.stored() for note in self._notes],
            "one_by_one": "" if self._probe is None else self._probe.one_by_one,
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
        try:
            given = json.loads(json.dumps({name: {"one_by_one": "", **state}[name] for name in own}))  # a copy
            rows, notes = _rows(given["table"]), list(map(Note.of, given["notes"]))
            if self._probe is not None:
                check_record(table_of_record(rows), given["metadata"])
        except Exception as error:
            raise AffscoreError(f"this is no state of a tracker: {first_line(error)}") from error
        if self._probe is not None:
            stored = {"network": own["asked"]["network"], **given["asked"]}  # states of 1.0 do not say which network
            for name, value in own["asked"].items():
                if (other := stored.get(name)) != value:
                    raise AffscoreError(
                        f"the state is of a tracker with {name}={other!r}, and this tracker has {name}={value!r}; make "
                        "the tracker as it was made before, or begin a new record"
                    )
            places = places_of(row for row in rows if row["step"] == rows[0]["step"])
            if self._probe.places not in ([], places):
                raise AffscoreError("the state is of a network with other activations; begin a new record")
            self._rows, self._probe.places = rows, places
            self._probe.one_by_one = given["one_by_one"]
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

    def _asked(self) -> dict[str, Any]:
        """What decides the numbers of the record, beside the numbers in the network."""
        options = {"n": self._options.n, **self._options.as_columns(), "seed": self._options.seed}
        options |= {"every": self.every, "criteria": list(self._options.criteria)}
        known = {"probe": "identity", "network": "structure"}
        return options | {name: getattr(self._probe, attribute, None) for name, attribute in known.items()}

    def _on_infinity(self) -> Iterator[Note]:
        """A warning on activations that hold NaN or infinity, if one does."""
        steps = [row["step"] for row in self._rows if row["flag"] == NOT_FINITE]
        if steps:
            yield Note(
                f"activations hold NaN or infinity at step {steps[0]} or later, and have no score there (flag "
                f"{NOT_FINITE!r}): the training has diverged",
                "warning",
            )


def _rows(columns: Mapping[Any, list[Any]]) -> list[dict[str, Any]]:
    """A dictionary for each row of these columns."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _is_first_process() -> bool:
    """Whether this is process 0 of those that train together, or the only one."""
    distributed = torch.distributed
    return not (distributed.is_available() and distributed.is_initialized()) or distributed.get_rank() == 0
