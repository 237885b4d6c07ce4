"""``make book`` executes each notebook with it, with the parameters of a profile.

The executed copy is written under a temporary name and renamed. Beside it lies a file for make (``.d``) that
names the modules of the library and of the companion which the notebook used, so that a change of them re-runs
only the notebooks it concerns. If a cell fails, one message names the notebook, the cell and the error, and the copy
so far is kept as ``.failed.ipynb``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import grimp
import nbformat
import papermill
from nbclient.exceptions import CellTimeoutError
from nbformat import NotebookNode
from notebook_files import declared_parameters, error, read_profile, synchronize
from papermill.exceptions import PapermillExecutionError
from traitlets.config import Config

ROOMS = {"affscore": Path(), "companion": Path("notebooks")}
"""The packages whose modules a notebook depends on, and where they are."""

PACKAGES = ("affscore", "torch", "torchvision", "numpy", "scipy", "scikit-learn", "pandas", "matplotlib")
CLOSING = f"""
import json as _json, resource as _resource, sys as _sys
_peaks = [_resource.getrusage(_who).ru_maxrss for _who in (_resource.RUSAGE_SELF, _resource.RUSAGE_CHILDREN)]
_modules = [_name for _name in _sys.modules if _name.split(".")[0] in {list(ROOMS)}]
print(_json.dumps([_modules, sum(_peaks) / (2**20 if _sys.platform == "darwin" else 2**10)]))
"""
"""What the kernel says at the end: the modules it loaded, and its peak memory plus its largest child's, in MB."""


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("script", type=Path, help="the notebook's source, such as notebooks/01_name.py")
    parser.add_argument("--params", type=Path, required=True, help="the parameter file of the profile")
    parser.add_argument("--output", type=Path, required=True, help="where the executed notebook goes")
    arguments = parser.parse_args()
    synchronize(arguments.script)
    limit_threads()
    execute(arguments.script.with_suffix(".ipynb"), arguments.params, arguments.output)


def limit_threads() -> None:
    """One thread for the kernel where make runs several notebooks at once, unless the user has said how many.

    Each kernel would otherwise start as many threads as there are cores, and they would wait for one another.
    """
    if "jobserver" in os.environ.get("MAKEFLAGS", ""):
        os.environ.setdefault("OMP_NUM_THREADS", "1")


def execute(notebook: Path, params: Path, output: Path) -> None:
    """Run a notebook through papermill and write the executed copy and its dependencies."""
    declared = declared_parameters(notebook)
    parameters = {name: value for name, value in read_profile(params).items() if name in declared}
    source = nbformat.read(notebook, as_version=4)
    source.cells.append(nbformat.v4.new_code_cell(CLOSING))

    failed = output.with_suffix(".failed.ipynb")
    temporary = output.with_suffix(f".{os.getpid()}.ipynb")
    output.parent.mkdir(parents=True, exist_ok=True)
    print(f"running {notebook} with profile {params.stem}", flush=True)
    started, clock = datetime.now(UTC), time.perf_counter()
    try:
        executed = run(source, temporary, parameters, notebook.parent)
        seconds = time.perf_counter() - clock
        loaded, peak_mb = json.loads(executed.cells.pop().outputs[0].text)
        modules = with_imports(loaded)
        del executed.metadata["papermill"]  # it holds the temporary name
        executed.metadata["affscore"] = {
            "profile": params.stem,
            "parameters": parameters,
            "device": device((declared | parameters).get("device", "cpu")),
            "started": started.isoformat(timespec="seconds"),
            "seconds": round(seconds, 1),
            "peak_mb": round(peak_mb),
            "platform": f"{platform.system()} {platform.machine()}",
            "versions": {"python": platform.python_version()} | {package: version(package) for package in PACKAGES},
        }
        mark_slides(executed)
        nbformat.write(executed, temporary)
        write_dependencies(output, modules)
        temporary.replace(output)
    except PapermillExecutionError as failure:
        temporary.replace(failed)
        raise error(message(notebook, failure, bool(parameters), failed)) from None
    except (RuntimeError, CellTimeoutError) as failure:
        raise error(f"{notebook}: the kernel stopped before the end ({failure})") from None
    finally:
        temporary.unlink(missing_ok=True)
    failed.unlink(missing_ok=True)
    print(f"    {notebook} took {seconds:.1f} s", flush=True)


def run(source: NotebookNode, output: Path, parameters: dict[str, Any], folder: Path) -> NotebookNode:
    """Execute a notebook in a folder."""
    with TemporaryDirectory(prefix="affscore-") as sockets:
        # Sockets in a folder of its own: kernels that start at the same time do not compete for ports.
        kernel = Config({"KernelManager": {"transport": "ipc", "ip": f"{sockets}/kernel"}})
        return papermill.execute_notebook(
            source, str(output), parameters, cwd=str(folder), progress_bar=False, config=kernel
        )


def mark_slides(notebook: NotebookNode) -> None:
    """For ``make slides``: a slide for the title and its finding and for each figure; texts are the speaker's notes."""
    for number, cell in enumerate(notebook.cells):
        shown = not number or "figure" in cell.metadata.get("mystnb", {})
        kind = "slide" if shown else "notes" if cell.cell_type == "markdown" else "skip"
        cell.metadata["slideshow"] = {"slide_type": kind}


def message(notebook: Path, failure: PapermillExecutionError, added: int, copy: Path) -> str:
    """The message for a cell that failed. Cells are counted from 1, as they stand in the source."""
    first_line = failure.source.strip().partition("\n")[0]
    return (
        f"{notebook}, cell {failure.cell_index + 1 - added} ({first_line}): {failure.ename}: {failure.evalue}\n"
        f"    the traceback is in {copy}"
    )


def device(asked: str) -> str:
    """The device that a notebook ran on: what its parameter says, or what ``auto`` finds."""
    if asked != "auto":
        return asked
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def with_imports(modules: list[str]) -> set[str]:
    """The modules that a notebook loaded, and what these import (in another process, say)."""
    graph = grimp.build_graph(*ROOMS, exclude_type_checking_imports=True, cache_dir=None)
    loaded = set(modules) & graph.modules
    return loaded.union(*(graph.find_upstream_modules(module) for module in loaded))


def write_dependencies(output: Path, modules: set[str]) -> None:
    """Write a rule for make: the notebook depends on these modules, and one that vanished is no error."""
    folders = [ROOMS[module.partition(".")[0]].joinpath(*module.split(".")) for module in modules]
    candidates = [path for folder in folders for path in (folder.with_suffix(".py"), folder / "__init__.py")]
    files = sorted(str(path) for path in candidates if path.exists())
    lines = [f"{output}: {' '.join(files)}", *(f"{path}:" for path in files)]
    output.with_suffix(".d").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
