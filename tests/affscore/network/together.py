"""Two processes that train one network together, for the tests of the tracker.

python -m tests.affscore.network.together FOLDER
"""

import sys
from functools import partial
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.multiprocessing.spawn import spawn

from affscore import AffscoreError, track

from .trainings import probe, seeded


def layers() -> list[nn.Module]:
    """A small network's."""
    norm = nn.BatchNorm2d(4)
    return [nn.Conv2d(1, 4, 3), norm, nn.ReLU(), nn.Dropout(0.3), nn.Flatten(), nn.Linear(144, 4)]


def train(rank: int, folder: str) -> None:
    """What each process does: the same training, with a tracker and without."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2)
    for name in ("tracked", "alone"):
        seeded()
        inner = nn.Sequential(*layers())
        model = nn.parallel.DistributedDataParallel(inner)
        optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
        tracker = track(model, probe(), every=2) if name == "tracked" else None
        torch.manual_seed(10 + rank)
        for _ in range(5):
            optimiser.zero_grad()
            model(torch.randn(8, 1, 8, 8)).square().mean().backward()
            optimiser.step()
            measured = tracker is not None and tracker.step()
            assert measured == (rank == 0 and tracker is not None and tracker.steps % 2 == 0)
        state = {"model": inner.state_dict()}
        if tracker is not None:
            assert tracker.measure() == (rank == 0)
            state["tracker"] = tracker.state_dict()
            again = track(model, probe(), every=2)
            again.load_state_dict(state["tracker"])
            assert again.steps == 5
            if rank == 0:
                assert again.record == tracker.record
                tracker.save(Path(folder) / "record.parquet")
            else:
                for refused in (partial(again.save, Path(folder) / "x.parquet"), again.plot):
                    with pytest.raises(AffscoreError, match="process 0"):
                        refused()
        torch.save(state, Path(folder) / f"{name} {rank}.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    spawn(train, (sys.argv[1],), nprocs=2)
