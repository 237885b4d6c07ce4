"""A signature among the tools of its user: equality, indexing, loops, pickles, files, notebooks, figures."""

import copy
import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import torch
from PIL import Image
from torch import nn

from affscore import AffscoreError, Signature, load_signature, signature
from affscore.network import Note


@pytest.fixture(scope="module")
def result():
    return signature("mini:digitsnet", "digits", n=24, images=48)


def changed(result, **columns):
    return Signature(result.table.assign(**columns), result.metadata, result.notes)


def test_a_signature_that_was_saved_and_loaded_is_equal(result, tmp_path):
    result.metadata["nothing"] = float("nan")
    back = load_signature(result.save(str(tmp_path / "x.parquet")))
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.parquet"]
    assert back == result
    pd.testing.assert_frame_equal(back.table, result.table)
    assert repr(back) == repr(result)
    assert back._repr_html_() == result._repr_html_()
    assert result.sample_costs
    assert not back.sample_costs  # the only part that a file does not hold


def test_copies_are_equal_and_every_change_makes_them_differ(result):
    for again in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result), copy.copy(result)):
        assert again == result
        np.testing.assert_array_equal(again.scores, result.scores)
        np.testing.assert_array_equal(again.sample_costs[0], result.sample_costs[0])
    assert changed(result, score=result.table["score"]) == result
    for other in (
        changed(result, score=np.nextafter(result.table["score"], 2)),
        changed(result, layer="another"),
        changed(result, more=1),
        Signature(result.table.head(9), result.metadata, result.notes),
        Signature(result.table, {**result.metadata, "seed": 1}, result.notes),
        Signature(result.table, result.metadata, [*result.notes, "a note"]),
    ):
        assert other != result
    assert result != result.table["score"].tolist()


def test_a_layer_gives_its_rows_of_the_summary(result):
    for layer, rows in result.summary.groupby("layer"):
        pd.testing.assert_frame_equal(result[layer], rows)
    assert result["blocks.0.relu"]["call"].tolist() == [0, 1]


def test_an_unknown_layer_is_refused_with_near_matches(result):
    with pytest.raises(
        AffscoreError, match=r"layer 'block.0.relu'; did you mean blocks\.0\.relu or .*layers: 'stem.2'"
    ):
        result["block.0.relu"]
    with pytest.raises(AffscoreError, match=r"no activation runs in layer 'x' \(layers: 'stem.2'"):
        result["x"]
    for key in (None, 1.0, ["stem.2"], slice(2)):
        with pytest.raises(AffscoreError, match="no activation runs in layer"):
            result[key]


def test_loops_and_places_go_over_the_rows_of_the_summary(result):
    rows = list(result)
    assert len(rows) == len(result) == 9
    pd.testing.assert_frame_equal(pd.DataFrame(rows).infer_objects(), result.summary, check_names=False)
    for place in (0, 8, -1, np.int64(3)):
        pd.testing.assert_series_equal(result[place], rows[place])
    for place in (9, -10):
        with pytest.raises(AffscoreError, match=rf"has 9 activations, numbered from 0, got {place}"):
            result[place]


def test_a_notebook_shows_a_short_table_a_title_and_the_notes_with_names_escaped(result):
    foreign = changed(result, model="<script>m</script>", layer="a<b>", activation="x & y")
    foreign.notes.append(Note("the layer <i> & more", "warning"))
    shown = foreign._repr_html_()
    for name in ("&lt;script&gt;m&lt;/script&gt;", "a&lt;b&gt;", "x &amp; y", "the layer &lt;i&gt; &amp; more"):
        assert name in shown
    assert not any(raw in shown for raw in ("<script>", "a<b>", "<i>"))
    assert "9 activations" in shown
    columns = ["layer", "call", "activation", "kind", "depth", "width", "score", "score_std"]
    assert re.findall("<th>([a-z_]+)</th>", shown) == columns
    foreign.notes.clear()


def test_the_interval_holds_the_mean_and_shrinks_with_batches(tmp_path):
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 4), nn.Tanh()).double()
    points = torch.randn(100, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    one, twice = (signature(network, points[:size], n=50, criteria=False, progress=False) for size in (50, 100))
    low, high = one.mean_interval()
    assert 0 <= low < one.scores.mean() < high <= 1
    assert one.worst_bias == pytest.approx(2 * one.expected_bias.mean())  # with shrinkage
    assert one.mean_interval(seed=3) == one.mean_interval(seed=3)
    assert twice.mean_interval()[1] - twice.mean_interval()[0] < high - low
    with pytest.raises(AffscoreError, match="measure Sequential again to get an interval"):
        load_signature(one.save(tmp_path / "x.parquet")).mean_interval()


@pytest.mark.slow
def test_the_interval_of_the_mean_is_as_wide_as_repetition_says():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(20, 30), nn.ReLU(), nn.Linear(30, 30), nn.Tanh()).double()
    data = torch.randn(60 * 128, 20, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    table = signature(model, data, n=128, criteria=False, progress=False)
    spread = table.table.groupby("batch")["score"].mean().std()
    widths = []
    for batch in data.split(128)[:10]:
        found = signature(model, batch, n=128, criteria=False, progress=False)
        widths.append(found.mean_interval(level=0.6827)[1] - found.scores.mean())  # the other end holds the bias, too
    assert 0.5 < np.mean(widths) / spread < 2.0


def test_no_folder_of_the_machine_is_in_the_file(tmp_path):
    folder = tmp_path / "private-folder" / "photos"
    folder.mkdir(parents=True)
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


def test_a_signature_is_written_as_its_ending_says(result, tmp_path):
    table = pd.read_csv(result.save(tmp_path / "x.csv"))
    assert table["score"].tolist() == pytest.approx(result.table["score"].tolist())
    assert "affinity score" in result.save(tmp_path / "x.svg").read_text()
    assert result.save(tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    assert result.save(tmp_path / "x.pdf").read_bytes().startswith(b"%PDF")
    assert len(list(tmp_path.iterdir())) == 4
