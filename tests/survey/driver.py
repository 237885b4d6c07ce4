"""A survey in a process that kills itself at a chosen point, or finds the disk full. Logs what it did.

Run by the tests: reads one JSON object a line from stdin, forks a process for each, and answers with its end.
"""

from __future__ import annotations

import errno
import json
import os
import random
import resource
import signal
import sys
import threading
import time
from pathlib import Path

import torch

from affscore.network import batch, parquet
from affscore.survey import survey
from affscore.survey.parts import Parts


def log(file, *words):
    """One line, on the disk before this function returns."""
    handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, (" ".join(map(str, words)) + "\n").encode())
    os.close(handle)


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def kind_of(file):
    return "part" if Path(file).name.lstrip(".").startswith("part-") else "result"


def install(task):
    """Count the batches that go through the network and those that are finished, and put the fault in its place."""
    at, count, file = task.get("at"), task.get("count", 0), task["log"]
    seen = {"events": 0}

    def reached(point):
        if point != at:
            return False
        seen["events"] += 1
        return seen["events"] > count

    key = {"now": ""}
    begin, write, replace = Parts.begin, Parts.write, os.replace
    forward, write_table = batch.forward, parquet.pq.write_table

    def taken_up(self, run):
        key["now"] = self.folder.name
        return begin(self, run)

    def passed(network, recorder, collector, images, name):
        if not collector.collected():
            log(file, "begun", key["now"], collector.first // collector.options.n)
        if reached("in a batch"):
            die()
        return forward(network, recorder, collector, images, name)

    def finish(self, number, *part):
        if reached("before a part"):
            die()
        write(self, number, *part)
        log(file, "finished", key["now"], number)
        if reached("after a part"):
            die()

    def renamed(source, target, **more):
        kind = kind_of(target)
        if reached(f"before the rename of a {kind}"):
            die()
        if reached(f"full disk at the rename of a {kind}"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace(source, target, **more)
        if kind == "result":
            log(file, "result", key["now"])
        if reached(f"after the rename of a {kind}"):
            if kind == "part":
                number = int(Path(target).stem.partition("-")[2])
                log(file, "finished", key["now"], number)
            die()

    def table_written(table, where, **more):
        kind = kind_of(where)
        if reached(f"while writing a {kind}"):
            write_table(table, where, **more)
            os.truncate(where, Path(where).stat().st_size // 2)
            die()
        if reached(f"full disk while writing a {kind}"):
            Path(where).write_bytes(b"PAR1 half")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write_table(table, where, **more)

    Parts.begin, Parts.write = taken_up, finish
    batch.forward, parquet.pq.write_table = passed, table_written
    os.replace = renamed
    if at == "at a random moment":
        seconds = random.Random(task["seed"]).uniform(0, task["within"])
        threading.Thread(target=lambda: (time.sleep(seconds), die()), daemon=True).start()
    if at == "largest file":
        resource.setrlimit(resource.RLIMIT_FSIZE, (task["bytes"], task["bytes"]))


def work(task):
    """Every job of a survey, one after the other, in this process."""
    install(task)
    reports = [
        survey(store=task["store"], only=number, progress=False, threads=1, **task["survey"])
        for number in range(task["jobs"])
    ]
    for report in reports:
        for _, outcome in report.outcomes:
            log(task["log"], "outcome", outcome.state, outcome.message)
    return 0 if all(report.complete for report in reports) else 1


def main():
    torch.set_num_threads(1)  # a process with threads of OpenMP cannot be forked
    for line in sys.stdin:
        task = json.loads(line)
        child = os.fork()
        if child == 0:
            code = 3
            try:
                code = work(task)
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        print(json.dumps({"code": os.waitstatus_to_exitcode(status)}), flush=True)


if __name__ == "__main__":
    main()
