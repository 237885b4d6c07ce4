"""Write the golden tables, and the claims under every specification that the ledger reads.

The numbers that sentences of the chapters repeat are those of the last ``make book``; ``numbers`` as an argument writes
these alone.
"""

import subprocess
import sys

from companion import specifications
from tests.golden.measured import FOLDER, measured, numbers

if __name__ == "__main__":
    if len(found := numbers()):
        found.to_csv(FOLDER / "numbers.csv", index=False)
    if sys.argv[1:] == ["numbers"]:
        sys.exit()
    command = [sys.executable, "-m", "companion.ledger", "--specifications", str(specifications.SHIPPED)]
    subprocess.run(command, check=True)
    for name, table in measured().items():
        table.to_csv(FOLDER / f"{name}.csv", index=False, float_format="%.7g")
