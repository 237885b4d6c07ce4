"""``affscore.survey`` is a package and can be called, whatever was imported first."""

import subprocess
import sys

import pytest

CODE = """
import sys
import torch, torchvision, pandas  # so that only affscore is imported anew

for number, first in enumerate({orders!r}):
    for name in [name for name in sys.modules if name.partition(".")[0] == "affscore"]:
        del sys.modules[name]
    exec(first)
    import affscore
    report = affscore.survey(
        models=["mini:digitsnet"], datasets=["digits"], store=f"store {{number}}", n=8, images=8, criteria=False,
        progress=False,
    )
    assert affscore.survey.load_results is affscore.load_results
    assert affscore.survey is sys.modules["affscore.survey"]
    assert affscore.survey.store.load_results(f"store {{number}}")["n"].eq(8).all()
    print(str(report).splitlines()[0])
"""
ORDERS = ("import affscore", "import affscore.survey", "from affscore.survey import survey")


@pytest.mark.slow
def test_it_can_be_called_whatever_was_imported_first(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(orders=ORDERS)], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["1 job: 1 measured"] * len(ORDERS)
