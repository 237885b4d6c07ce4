"""What is said under "Whose code runs" (book/how_to_run_with_your_model.md) and no other test looks at."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from companion.exercises import check

REPOSITORY = Path(__file__).resolve().parents[2]

AUDITED = """
import json, os, sys
seen = []

def hook(event, arguments):
    if event == "open":
        mode, flags = str(arguments[1] or ""), arguments[2]
        if set(mode) & set("wax+") or isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR):
            seen.append([event, str(arguments[0])])
    elif event.startswith(("socket.connect", "socket.getaddr", "socket.sendto", "urllib.", "os.mkdir", "os.rename")):
        seen.append([event, str(arguments[0])])

sys.addaudithook(hook)
import affscore
affscore.signature("mini:digitsnet", "digits", n=64, images=64)
affscore.compare("mini:digitsnet", "mini:digitsnet@random", n=64, images=64)
print(json.dumps(seen))
"""


@pytest.mark.slow
def test_a_measurement_opens_no_connection_and_writes_no_file(tmp_path):
    places = {"HOME": str(tmp_path), "TMPDIR": str(tmp_path), "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-B", "-W", "ignore", "-c", AUDITED]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, **places}, capture_output=True, text=True, check=True
    )
    seen = json.loads(done.stdout.splitlines()[-1])
    assert not [one for one in seen if one[0].startswith(("socket.", "urllib."))]
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    written = [name for event, name in seen if event != "os.mkdir" and name != os.devnull]
    assert all(name.startswith(str(tmp_path)) for name in written), written  # of which nothing is left


def test_the_function_of_a_student_runs_in_the_session_of_the_caller():
    called = []

    def w2(x, y):
        called.append(os.getpid())
        return float(np.linalg.norm(x - y))

    assert not check("1.1", w2)
    assert set(called) == {os.getpid()}


def test_what_the_function_of_a_student_raises_is_a_verdict():
    def leave(x, y):
        raise SystemExit(3)

    assert "SystemExit" in check("1.1", leave).message


def test_only_these_read_pickles_and_run_code():
    """A new torch.load, pickle.load, exec or allow_pickle=True belongs in that section."""
    running = {"torch.load", "pickle.load", "pickle.loads", "joblib.load", "exec", "eval"}
    found = set()
    for path in [*(REPOSITORY / "affscore").rglob("*.py"), *(REPOSITORY / "notebooks" / "companion").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                given = {word.arg: ast.unparse(word.value) for word in node.keywords}
                if ast.unparse(node.func) in running or given.get("allow_pickle") == "True":
                    found.add((path.relative_to(REPOSITORY).as_posix(), ast.unparse(node.func)))
                    assert ast.unparse(node.func) != "torch.load" or given.get("weights_only") == "True"
    assert found == {("affscore/models/weight_files.py", "torch.load"), ("affscore/models/sources/own_file.py", "exec")}
