from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from affscore import AffscoreError, load_signature, signature
from affscore.models.naming import check_destination


@pytest.fixture(scope="module")
def result():
    measured = signature("mini:digitsnet", "digits", n=24, images=48)
    measured.notes.append("a note")
    return measured


def test_no_folder_of_the_machine_is_in_the_file(tmp_path):
    folder = tmp_path / "private-folder" / "photos"
    folder.mkdir(parents=True)
    from PIL import Image

    for index in range(4):
        Image.new("L", (8, 8), 60 * index).save(folder / f"{index}.png")
    source = tmp_path / "private-folder" / "own.py"
    source.write_text(
        "import torch\nfrom torch import nn\ndef make():\n    return nn.Sequential(nn.Conv2d(3, 2, 3), nn.ReLU())\n"
    )
    measured = signature(f"{source}:make", f"folder:{folder}", n=4)
    file = measured.save(tmp_path / "x.parquet")
    table = pq.read_table(file)
    content = file.read_bytes() + str(table.to_pylist()).encode() + str(table.schema.metadata).encode()
    for secret in (str(tmp_path), "private-folder", str(Path.home()), str(Path.cwd())):
        if len(secret) > 1:
            assert secret.encode() not in content
    assert measured.metadata["model"] == "own.py:make"
    assert measured.metadata["dataset"] == "folder:photos"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda f: None, "file not found: "),
        (lambda f: f.mkdir(), "there is a folder, not a file"),
        (lambda f: f.write_bytes(b"layer,score\n1,2\n"), "is not a Parquet file that can be read"),
        (lambda f: pq.write_table(pa.table({"a": [1]}), f), "is Parquet, but not a signature"),
        (
            lambda f: pq.write_table(pa.table({"a": [1]}).replace_schema_metadata({b"affscore": b"[]"}), f),
            "is Parquet, but not a signature",
        ),
    ],
)
def test_foreign_files(make, message, tmp_path):
    file = tmp_path / "x.parquet"
    make(file)
    with pytest.raises(AffscoreError, match=message) as caught:
        load_signature(file)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("result.xlsx", r"must end in .parquet.*, got 'result.xlsx'"),
        ("result", "must end in .parquet"),
        ("folder.parquet", "'folder.parquet' is a folder"),
        ("missing/x.parquet", "there is no folder .*missing"),
    ],
)
def test_places_that_cannot_be_written_are_found_out_first(result, tmp_path, name, message):
    (tmp_path / "folder.parquet").mkdir()
    for function in (check_destination, lambda path: result.save(path)):
        with pytest.raises(AffscoreError, match=message):
            function(tmp_path / name)
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder.parquet"]


def test_a_signature_is_written_as_its_ending_says(result, tmp_path):
    table = pd.read_csv(result.save(tmp_path / "x.csv"))
    assert table["score"].tolist() == pytest.approx(result.table["score"].tolist())
    assert "affinity score" in result.save(tmp_path / "x.svg").read_text()
    assert result.save(tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    assert result.save(tmp_path / "x.pdf").read_bytes().startswith(b"%PDF")
    assert len(list(tmp_path.iterdir())) == 4
