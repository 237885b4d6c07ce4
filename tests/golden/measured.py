"""What the golden tables hold: the ledger, the shipped results, five signatures, and what each chapter found."""

import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
import pandas as pd

import affscore
from companion.shipped import RESULTS

FOLDER = Path(__file__).parent
REPOSITORY = FOLDER.parents[1]
NETWORKS = ("mini:digitsnet", "mini:resnet18", "mini:vit_b_16", "mini:mobilenet_v2", "squeezenet1_1@random")
CRITERIA = "cka,norm,sparsity,entropy,r2,cka_debiased,nlc"
HELD = {
    "ledger": ["source", "item", "published", "way", "ours", "verdict"],
    "claims": ["name", "on", "material", "units", "verdict", "specifications"],
}


def ledger():
    """The ledger and the claims, as the command writes them."""
    with tempfile.TemporaryDirectory() as folder:
        rows, claims = Path(folder, "ledger.csv"), Path(folder, "claims.csv")
        command = [sys.executable, "-m", "companion.ledger", "--csv", str(rows), "--claims", str(claims)]
        subprocess.run(command, check=True, capture_output=True)
        tables = [pd.read_csv(file, dtype=str, keep_default_na=False)[HELD[file.stem]] for file in (rows, claims)]
    for table in tables:
        table["verdict"] = table["verdict"].str.partition(" (")[0]  # not the reason, which is a sentence
    return tables


def shipped():
    """A row for each shipped result: a digest of its texts and counts, and a weighted sum of each column of numbers."""
    table = affscore.load_results(RESULTS).drop(columns="seconds")
    rows = []
    for _, result in table.groupby("job", sort=False):
        first = result.iloc[0]
        about = {name: first[name] for name in ("model", "weights", "dataset", "n", "reduction", "order", "covariance")}
        exact = result[["layer", "call", "activation", "kind", "depth", "width", "batch", "coupling", "flag"]]
        digest = hashlib.sha256(exact.to_csv(index=False).encode()).hexdigest()[:16]
        numbers = result.select_dtypes("float").reset_index(drop=True)
        sums = numbers.mul(1 + numbers.index.to_numpy(), axis=0).sum(min_count=1)
        rows.append({**about, "rows": len(result), "digest": digest, **sums})
    return (
        pd.DataFrame(rows)
        .sort_values(["model", "weights", "dataset", "n", "reduction", "order"])
        .reset_index(drop=True)
    )


def signatures():
    """The tables of five networks on the digits, two batches each."""
    tables = [affscore.signature(model, "digits", n=64, images=128, criteria=CRITERIA).table for model in NETWORKS]
    return pd.concat(tables, ignore_index=True).drop(columns="seconds")


def numbers():
    """The numbers that sentences of the chapters repeat, of the last ``make book``; no rows where one did not run."""
    sys.path.append(str(REPOSITORY / "scripts"))
    from front_page import glued

    rows = []
    for source in sorted((REPOSITORY / "notebooks").glob("[0-9][0-9]_*.py")):
        file = REPOSITORY / "_build" / "executed" / "mini" / "notebooks" / f"{source.stem}.ipynb"
        if not file.exists():
            return pd.DataFrame()
        ran = nbformat.read(file, as_version=4)
        said = source.read_text(encoding="utf-8")
        named = {name: shown for name, shown in glued(ran).items() if f"{{glue:text}}`{name}`" in said}
        plain = {name: shown.replace("\N{MINUS SIGN}", "-") for name, shown in named.items()}
        rows += [{"chapter": source.stem, "name": name, "shown": shown} for name, shown in plain.items()]
    return pd.DataFrame(rows)


def measured():
    """The golden tables by their names, but for these numbers."""
    rows, claims = ledger()
    return {"ledger": rows, "claims": claims, "shipped": shipped(), "signatures": signatures()}
