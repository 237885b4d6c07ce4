"""Results that are damaged or foreign, and disks that are full: one sentence each, and no partial file."""

import contextlib
import json
import resource
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt

from affscore import AffscoreError, compare, load_results, signature
from affscore.network.result import load_signature
from affscore.survey import Store, survey

KEY = "0123456789abcdef"
NAME = f"m-w-d-n32-mean-{KEY}.parquet"
OPTIONS = {"n": 32, "images": 64, "criteria": False, "progress": False}
HERE = pa.array([1])


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A result, its table in Parquet, and its bytes."""
    result = signature("mini:digitsnet", "digits", **OPTIONS)
    result.metadata["key"] = KEY
    file = tmp_path_factory.mktemp("good") / NAME
    result.save(file)
    return result, pq.read_table(file), file.read_bytes()


def sentence(call):
    """What an AffscoreError says, or None where there is none; any other exception goes on to pytest."""
    try:
        call()
    except AffscoreError as error:
        message = str(error)
        assert 10 < len(message) < 1500
        assert "\n" not in message
        assert "Traceback" not in message
        return message
    return None


def look_in_every_way(folder, good):
    """Every way to a result; the file must end as one sentence, named, and be left as it is."""
    file = folder / NAME
    before = file.read_bytes()
    told = sentence(lambda: load_signature(file))
    if told is not None:
        assert NAME in told
        for call in (lambda: load_results(folder), lambda: compare(file, good[0]), lambda: compare(good[0], file)):
            assert NAME in (sentence(call) or "")
    assert file.read_bytes() == before
    assert [path.name for path in folder.iterdir()] == [NAME]
    return told


@contextlib.contextmanager
def folder_with(tmp_path, content):
    folder = tmp_path / "store"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / NAME).write_bytes(content)
    yield folder


@settings(max_examples=20)
@given(data=st.data())
def test_bytes_that_were_cut_changed_or_never_ours(good, tmp_path, data):
    content = bytearray(good[2])
    kind = data.draw(st.sampled_from(["empty", "cut off", "changed", "foreign", "with a Parquet ending"]))
    if kind == "empty":
        content = bytearray()
    elif kind == "cut off":
        content = content[: data.draw(st.integers(1, len(content) - 1))]
    elif kind == "changed":
        place = st.integers(0, len(content) - 1)
        for position, value in data.draw(st.lists(st.tuples(place, st.integers(0, 255)), min_size=1, max_size=20)):
            content[position] = value
    else:
        content = bytearray(data.draw(st.binary(min_size=1, max_size=60)))
        content += b"\x08\x00\x00\x00PAR1" if kind == "with a Parquet ending" else b""
    with folder_with(tmp_path, bytes(content)) as folder:
        told = look_in_every_way(folder, good)
    # one value of the file can be changed to what it was, or in a byte that nothing reads
    assert told is not None or kind == "changed"


def foreign_metadata():
    values = st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    )
    ours = st.fixed_dictionaries({"metadata": values, "notes": values}, optional={"checksum": values})
    raw = [b"[" * 200_000, b'{"metadata":{"n":' + b"9" * 5000 + b'},"notes":[]}', b"\xff\xfe\x00", b"null", b""]
    return (values | ours).map(lambda value: json.dumps(value).encode()) | st.sampled_from(raw)


@settings(max_examples=15)
@given(entry=foreign_metadata(), pandas=st.none() | st.sampled_from([b"{]", b"null", b'{"index_columns":["zzz"]}']))
def test_a_table_of_ours_with_metadata_of_others(good, tmp_path, entry, pandas):
    metadata = {b"affscore": entry, **({b"pandas": pandas} if pandas else {})}
    sink = pa.BufferOutputStream()
    pq.write_table(good[1].replace_schema_metadata(metadata), sink)
    with folder_with(tmp_path, sink.getvalue().to_pybytes()) as folder:
        assert look_in_every_way(folder, good) is not None


COLUMNS = st.sampled_from(
    [
        pa.array(["yes"]),
        pa.array([0.5]),
        pa.array([2**62]),
        pa.array([None], pa.float64()),
        pa.array([[1, 2]]),
        pa.array([{"a": 1}]),
        pa.array([None], pa.decimal128(38, 1)),
        pa.array([b"\xff"]),
    ]
)


@settings(max_examples=15)
@given(
    changed=st.dictionaries(st.sampled_from([f"column {i}" for i in range(22)]), COLUMNS | st.none(), min_size=1),
    rows=st.sampled_from([0, 1]),
)
def test_columns_of_other_types_and_names(good, tmp_path, changed, rows):
    table = good[1].slice(0, 1)
    for name, column in changed.items():
        place = int(name.removeprefix("column ")) % table.num_columns
        told = table.column_names[place]
        table = table.remove_column(place) if column is None else table.set_column(place, told, column)
    sink = pa.BufferOutputStream()
    pq.write_table(table.slice(0, rows), sink)
    with folder_with(tmp_path, sink.getvalue().to_pybytes()) as folder:
        look_in_every_way(folder, good)  # another number of the same type may stand there


@pytest.mark.parametrize("names", [["a", "a"], ["score", "score"], []])
def test_columns_with_the_same_name(good, tmp_path, names):
    entry = {b"affscore": b'{"metadata": {}, "notes": []}'}
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_arrays([HERE] * len(names), names=names).replace_schema_metadata(entry), sink)
    with folder_with(tmp_path, sink.getvalue().to_pybytes()) as folder:
        assert look_in_every_way(folder, good) is not None


@contextlib.contextmanager
def room_for(size):
    """No file of this process may grow beyond so many bytes, which ends a write as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


WRITERS = {
    "result.parquet": lambda result, file: result.save(file),
    "table.csv": lambda result, file: result.save(file),
    "comparison.csv": lambda result, file: compare(result, result).save(file),
    "comparison.svg": lambda result, file: compare(result, result).save(file),
}


@pytest.mark.parametrize(("share", "there"), [(0, True), (0.6, False), (0.99, True)])
@pytest.mark.parametrize("name", WRITERS)
def test_a_disk_that_fills_up_leaves_no_part_and_what_was_there(good, tmp_path_factory, name, share, there):
    folder = tmp_path_factory.mktemp("full")
    file = folder / name
    WRITERS[name](good[0], file)
    whole = file.read_bytes()
    if not there:
        file.unlink()
    with room_for(int(share * min(len(whole), 4000))):
        told = sentence(lambda: WRITERS[name](good[0], file))
    plt.close("all")
    assert told is not None
    assert name in told
    assert sorted(path.name for path in folder.iterdir()) == ([name] if there else [])
    assert not there or file.read_bytes() == whole


@pytest.mark.parametrize("share", [0.1, 0.9])
def test_a_survey_on_a_disk_that_fills_up_goes_on_afterwards(good, tmp_path_factory, share):
    folder = tmp_path_factory.mktemp("survey")
    with room_for(int(share * 6000)):
        report = survey("mini:digitsnet", "digits", folder, only=0, **OPTIONS)
    assert not report.complete
    assert len(report.failures) == 1
    assert Store(folder).files() == []
    assert survey("mini:digitsnet", "digits", folder, only=0, **OPTIONS).complete
    (file,) = Store(folder).files()
    assert load_signature(file).scores.tolist() == pytest.approx(good[0].scores.tolist(), abs=1e-12)
