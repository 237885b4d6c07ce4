"""Write the golden tables, and the claims under every specification that the ledger reads."""

import subprocess
import sys

from affscore.papers import specifications
from tests.golden.measured import FOLDER, measured

if __name__ == "__main__":
    command = [sys.executable, "-m", "affscore.cli", "ledger", "--specifications", str(specifications.SHIPPED)]
    subprocess.run(command, check=True)
    for name, table in measured().items():
        table.to_csv(FOLDER / f"{name}.csv", index=False, float_format="%.7g")
