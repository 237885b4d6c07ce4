"""Write the golden tables, and the claims under every specification that the ledger reads.

The findings of the chapters are those of the last ``make book``; ``findings`` as an argument writes these alone.
"""

import subprocess
import sys

from companion import specifications
from tests.golden.measured import FOLDER, findings, measured

if __name__ == "__main__":
    if len(found := findings()):
        found.to_csv(FOLDER / "findings.csv", index=False)
    if sys.argv[1:] == ["findings"]:
        sys.exit()
    command = [sys.executable, "-m", "companion.ledger", "--specifications", str(specifications.SHIPPED)]
    subprocess.run(command, check=True)
    for name, table in measured().items():
        table.to_csv(FOLDER / f"{name}.csv", index=False, float_format="%.7g")
