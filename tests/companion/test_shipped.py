"""Finished results by name; those that come with the companion are whole and small."""

import dataclasses
import re

import pyarrow.parquet as pq
import pytest

import affscore
from affscore import AffscoreError
from affscore.network.criteria import SCHEMA
from affscore.survey.job import describe, is_of_job, plan
from affscore.survey.store import Store
from companion.mini_zoo import list_models
from companion.networks import study_models
from companion.shipped import RESULTS, shipped_signature

FILES = Store(RESULTS).files()
TRAINED = {
    *(f"cifar_networks.py:{kind}{depth}" for kind in ("resnet", "plainnet") for depth in (20, 32, 44, 56)),
    "mobilenet_v2", "squeezenet1_0", "squeezenet1_1",
}  # fmt: skip
A_PATH = re.compile(r"(?<![\w.])/(?:[\w.-]+/)*[\w.-]+|[A-Za-z]:\\|~/|\.\./")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Results with the names of networks that they are not of: only names are looked at here."""
    made = affscore.signature("mini:digitsnet", "digits", n=16, images=16, criteria=False, progress=False)
    place = tmp_path_factory.mktemp("shipped")
    of = {
        "a": ("vgg11", "vgg11.pth", "mean"),
        "b": ("vgg11", "random", "mean"),
        "c": ("nets.py:tiny", "tiny.pt", "mean"),
        "d": ("nets.py:tiny", "tiny.pt", "sample"),
        "e": ("vgg13", "random", "mean"),
        "f": ("vgg16", "one.pth", "mean"),
        "g": ("vgg16", "two.pth", "mean"),
    }
    for name, about in of.items():
        columns = dict(zip(("model", "weights", "reduction"), about, strict=True))
        metadata = {**made.metadata, **columns, "key": name}
        dataclasses.replace(made, table=made.table.assign(**columns), metadata=metadata).save(place / f"{name}.parquet")
    return place


@pytest.mark.parametrize(
    ("name", "options", "key"),
    [
        ("vgg11", {}, "a"),
        ("vgg11@random", {}, "b"),
        ("nets.py:tiny", {}, "c"),
        ("vgg16@two.pth", {}, "g"),
        ("tiny", {"reduction": "sample", "order": "reduce-first"}, "d"),
    ],
)
def test_a_result_by_name(folder, name, options, key):
    assert shipped_signature(name, **options, folder=folder).metadata["key"] == key


@pytest.mark.parametrize(
    ("name", "options", "complaint"),
    [
        ("vgg12", {}, "did you mean .*vgg11"),
        ("zzz", {}, r"load_results\(companion.shipped.RESULTS\) shows"),
        ("vgg13", {}, "there are weights random: name them behind an @"),
        ("vgg11", {"reduction": "sum"}, "are for mean with activate-first; there is none for sum"),
        ("vgg16", {}, "2 results are called .*one.pth on digits, n=16 or two.pth on digits.*behind an @"),
        ("nets.py:tiny@x.pt", {}, "there are weights tiny.pt"),
    ],
)
def test_a_name_that_is_none(folder, name, options, complaint):
    with pytest.raises(AffscoreError, match=complaint):
        shipped_signature(name, **options, folder=folder)


def test_every_file_is_whole():
    table = affscore.load_results(RESULTS)  # reads every one
    for field in (one for one in SCHEMA if one.name in table):
        if field.kind in ("integer", "number"):
            assert table[field.name].dropna().between(*field.within).all(), field.name
        elif field.words:
            assert set(table[field.name].dropna()) <= set(field.words), field.name
    assert sum(path.stat().st_size for path in RESULTS.iterdir()) < 5e6


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem[-16:])
def test_a_file_tells_how_it_was_made_and_names_no_path_of_a_machine(path):
    schema = pq.read_schema(path)
    texts = [value.decode() for value in (schema.metadata or {}).values()]
    table = pq.read_table(path)
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name != "layer":
            texts += [str(value) for value in column.unique().to_pylist() if isinstance(value, str)]
    for text in [path.name, *texts]:
        for token in re.split(r"[\s\"',]+", text.replace("\\n", " ")):
            assert not A_PATH.search(token), token
    metadata = affscore.load_signature(path).metadata
    assert metadata["command"].startswith("affscore survey ")
    assert metadata["versions"]["torch"]


def test_what_there_is():
    table = affscore.load_results(RESULTS)
    small = table["model"].str.startswith("mini:")
    trained = table[(table["weights"] != "random") & ~small]
    assert set(trained["model"]) == TRAINED
    ways = trained.groupby("model")[["reduction", "order"]].apply(lambda rows: set(map(tuple, rows.to_numpy())))
    wanted = {("mean", "activate-first"), ("mean", "reduce-first"), ("sample", "activate-first")}
    assert all(found == wanted for found in ways)
    assert trained["n"].eq(512).all()
    criteria = ["cka", "norm", "sparsity_before", "entropy_after", "r2", "cka_debiased", "nlc"]
    assert trained[criteria].notna().mean().min() > 0.9
    cifar = trained[trained["model"].str.startswith("cifar")]
    assert cifar.groupby("job")["batch"].nunique().eq(10_000 // 512).all()
    random = table[(table["weights"] == "random") & ~small]
    assert set(random["dataset"]) == {"random"}
    assert set(random["model"]) < set(study_models(""))


@pytest.mark.slow
def test_every_small_network_is_there_with_its_present_weights():
    table = affscore.load_results(RESULTS)
    small = table[table["model"].str.startswith("mini:")]
    untrained = small[small["weights"] == "random"]
    assert set(untrained["model"]) == {"mini:vgg16"}
    trained = small[small["weights"] != "random"]
    names = [f"mini:{name}" for name in list_models()["name"]]
    assert set(trained["model"]) == set(names)
    assert set(trained["weights"]) == {"DEFAULT"}
    for column, value in {"dataset": "digits", "n": 512, "reduction": "mean"}.items():
        assert set(small[column]) == {value}
    assert small["order"].eq("activate-first").all()
    assert small[["cka", "norm", "sparsity_before", "entropy_after", "r2"]].notna().mean().min() > 0.9
    wanted = [describe(job) for job in plan([*names, "mini:vgg16@random"], "digits")]
    found = [about for about in Store(RESULTS).descriptions().values() if about["model"].startswith("mini:")]
    assert len(found) == len(wanted)
    assert all(any(is_of_job(about, job) for about in found) for job in wanted)
