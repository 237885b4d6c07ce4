"""Figures in a notebook and in a script: each is drawn once."""

import os
import subprocess
import sys

import nbformat
import pytest
from nbclient import NotebookClient

START = """
import matplotlib.pyplot as plt
from affscore.plots import raw_signature
from tests.synthetic_signatures import synthetic
signature = synthetic([0.5, 0.6, 0.9])
"""
CELLS = {
    "signature.plot()": 1,
    "raw_signature(signature)": 1,
    "raw_signature(signature)\nplt.show()": 1,
    "figure = raw_signature(signature)": 1,
    "figure": 1,
    "display(signature.plot())": 1,
    "signature.plot()\nsignature.plot()": 2,
    "plt.plot([1, 2]);": 1,  # what is not ours is drawn as ever
    "plt.get_fignums()": 0,
}


@pytest.fixture(scope="module")
def outputs():
    """What each cell shows, in one kernel."""
    sources = [START, *CELLS]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    return dict(zip(CELLS, (cell.outputs for cell in notebook.cells[1:]), strict=True))


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.slow
def test_a_cell_draws_a_figure_once(outputs, cell):
    images = [output for output in outputs[cell] if "image/png" in output.get("data", {})]
    assert len(images) == CELLS[cell]


@pytest.mark.slow
def test_no_figure_stays_open_after_its_cell(outputs):
    assert outputs["plt.get_fignums()"][0]["data"]["text/plain"] == "[]"


@pytest.mark.slow
def test_a_script_writes_the_figure(tmp_path):
    code = f"{START}\nfigure = signature.plot()\nfigure.savefig('x.png')\nprint(plt.get_fignums() == [figure.number])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True,
        env={**os.environ, "MPLBACKEND": "agg"},
    )  # fmt: skip
    assert done.stdout == "True\n"
    assert (tmp_path / "x.png").stat().st_size > 1000
