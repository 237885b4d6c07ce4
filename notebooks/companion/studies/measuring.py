"""What is measured of the networks of a study, once they are trained."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from joblib import Parallel, delayed
from torch import Tensor
from torch.nn.modules.batchnorm import _BatchNorm
from tqdm import tqdm

from affscore import Signature, load_data, load_model, load_record, multiverse
from affscore.linear_regions import along_paths
from affscore.models import card_of
from affscore.models.naming import needs
from affscore.models.preprocessing import TextPreprocessing, tokenizer_file
from affscore.models.sources import identity_of_model
from affscore.network.batch import subject_of
from affscore.network.multiverse import REDUCTIONS
from affscore.network.parquet import read_description, write_parquet
from affscore.network.signature import signatures
from affscore.options import DEFAULT, MOST_IN_A_BATCH, Execution, Options, ReductionName, Specification
from affscore.survey import load_or_measure
from affscore.transport.covariances import CovarianceName
from companion.docstrings import all_docstrings, fingerprint_of_docstrings, is_held_out
from companion.language import scores_by_position
from companion.mini_zoo.training import one_thread
from companion.planes import closed_paths
from companion.studies import study_of
from companion.studies.study import Study
from companion.studies.trainings import Training

COURSE = ["step", "index", "layer", "activation", "kind", "depth", "score", "accuracy"]
"""The columns of a record that a study keeps."""


WAYS_TO_A_POINT = ({"order": "activate-first"}, {"order": "reduce-first"}, {"reduction": "sample"})


def measure(study: Study, work: Path, jobs: int) -> pd.DataFrame:
    """The table of a study, whose networks are trained."""
    if study.blocks:
        return of_blocks(study, jobs)
    trained = {f"{one.model}@{one.weights(work / 'weights')}": one for one in study.trainings}
    models, store, tables = [*trained, *study.models], work / "results", []
    if study.sentences:
        (n,) = study.n
        return of_sentences(models, n, study.images or n, study.sentences)
    if study.norms:
        models += [with_statistics(model, study.datasets[0], study.norms, work / "norms") for model in models]
    together = [models] if jobs > 1 else [[model] for model in models]  # one alone needs no further process
    for (dataset, n, seed), some in itertools.product(study.measurements, together):
        options: dict[str, Any] = {"jobs": jobs, "threads": 1, "n": n, "progress": False}
        options |= {"images": study.images, "seed": seed}
        ways: dict[str, Any] = {"multiverse": REDUCTIONS, "bias": study.bias}
        multiverses = load_or_measure(some, dataset, store, **ways, **options)
        tables.append(study_of(multiverses.values()))
        if study.criteria:
            signatures = load_or_measure(some, dataset, store, **options)
            tables[-1] = with_criteria(tables[-1], study_of(signatures.values()))
        if study.subsets:
            tables[-1]["draw"] = seed
    for dataset, way in itertools.product(study.datasets if study.whole else (), WAYS_TO_A_POINT):
        tables.append(whole(models, dataset, jobs, **way))
    about = pd.DataFrame(
        [
            {"weights": one.weights(work).name, "network": one.network, "way": one.way, "seed": one.seed}
            | one.further(work / "weights")
            for one in trained.values()
        ]
    )
    table = pd.concat(tables, ignore_index=True)
    return table.merge(about, on="weights", how="left", validate="m:1") if trained else table


def of_blocks(study: Study, jobs: int) -> pd.DataFrame:
    """The blocks of networks that have their weights, all images as one batch."""
    tables = []
    reductions: tuple[ReductionName, ...] = ("mean", "sample")
    for images, reduction in itertools.product(study.blocks, reductions):
        options = Options(n=images, images=images, reduction=reduction, units="blocks", criteria=("affine_fit",))
        found = under_the_pairing(study.models, study.datasets[0], options, jobs)
        tables.append(study_of(found).assign(n=images, flag=[flag for one in found for flag in one.summary["flag"]]))
    return pd.concat(tables, ignore_index=True)


def course(study: Study, folder: Path) -> pd.DataFrame:
    """What was measured of the networks while they trained: a row for each step and activation."""
    tables = []
    for one in study.trainings:
        if one.every:
            record = load_record(one.course(folder))
            words = {name: record.metadata.get(name, getattr(DEFAULT, name)) for name in Specification._fields}
            about = {"model": one.model, "network": one.network, "way": one.way, "seed": one.seed, **words}
            tables.append(record.table[COURSE].assign(**about))
            if losses := one.losses(folder):
                tables[-1]["bits"] = tables[-1]["step"].map(losses)
    return pd.concat(tables, ignore_index=True)


def along(study: Study, work: Path, jobs: int) -> pd.DataFrame:
    """The linear regions of its networks along closed paths around images: a row for each segment."""
    folder = work / "paths"
    folder.mkdir(parents=True, exist_ok=True)
    return _each([delayed(follow)(training, study.paths, work) for training in study.trainings], jobs, "paths")


def of_slopes(name: str, study: Study, work: Path, jobs: int) -> dict[str, pd.DataFrame]:
    """What became of activations whose slopes were pulled to 1, and the scores that they had before, by table."""
    found = _each([delayed(one.run)(work) for one in study.slopes], jobs, name)
    scores = [pd.read_parquet(one.scores(work / "slopes")) for one in study.slopes if one.scored]
    return ({f"{name}-scores": pd.concat(scores, ignore_index=True)} if scores else {}) | {name: found}


def by_position(study: Study, work: Path, jobs: int) -> pd.DataFrame:
    """The scores of its networks at single positions: a row for each position, activation and covariance."""
    found: list[tuple[str, dict[str, Any]]] = [(model, {}) for model in study.models]
    for one in study.trainings:
        about = {"network": one.network, "way": one.way, "seed": one.seed}
        found.append((f"{one.model}@{one.weights(work / 'weights')}", about))
    (data,), (n,) = study.datasets, study.n
    folder = work / "positions"
    tasks = [
        delayed(at_positions)(folder, model, data, study.at, n, study.sentences, **about) for model, about in found
    ]
    return _each(tasks, jobs, "positions")


def _each(tasks: Sequence[Any], jobs: int, title: str) -> pd.DataFrame:
    """The tables of some tasks under each other, with a bar."""
    tables = Parallel(n_jobs=jobs, return_as="generator", inner_max_num_threads=1, backend="loky")(tasks)
    return pd.concat(tqdm(tables, total=len(tasks), desc=title), ignore_index=True)


def whole(models: Sequence[str], dataset: str, jobs: int, **way: Any) -> pd.DataFrame:
    """All images as one batch, under both covariances and the pairing."""
    several = [Options(n=MOST_IN_A_BATCH, covariance=one, criteria=(), **way) for one in COVARIANCES]
    table = study_of(one for options in several for one in under_the_pairing(models, dataset, options, jobs))
    return table.assign(n=table["images"])


def under_the_pairing(models: Sequence[str], dataset: str, options: Options, jobs: int) -> list[Signature]:
    """Signatures under the pairing alone, which solve no assignment problem, whatever n is; not kept in the store."""
    tasks = [delayed(paired)(model, dataset, replace(options, coupling="paired")) for model in models]
    return list(Parallel(n_jobs=jobs, inner_max_num_threads=1, backend="loky")(tasks))


def paired(model: str, dataset: str, options: Options) -> Signature:
    """The signature with these options."""
    return signatures(subject_of(model, dataset, options, Execution(progress=False)))[0]


def with_criteria(study: pd.DataFrame, measured: pd.DataFrame) -> pd.DataFrame:
    """The study with the criteria of the same samples: they depend on neither covariance nor coupling."""
    criteria = [name for name in measured if name not in study]
    shared = [*study.columns[: list(study).index("order") + 1].drop("accuracy")]
    return study.merge(measured[[*shared, *criteria]], on=shared, how="left", validate="m:1")


def with_statistics(model: str, dataset: str, images: int, folder: Path) -> str:
    """The same network with the means and variances of some images in its batch norms, as MODEL@FILE.

    Those of an untrained network are 0 and 1, so in evaluation mode its batch norms do nothing.
    """
    network = load_model(model, 0)
    file = folder / f"{model.rpartition(':')[2]}-norms.pt"
    if not file.is_file():
        data = load_data(dataset, card_of(network).preprocessing)
        chosen = torch.randperm(len(data), generator=torch.Generator().manual_seed(0))[:images]
        found = [data[int(place)] for place in chosen]
        batch = torch.stack([one[0] if isinstance(one, tuple) else one for one in found])
        for module in network.modules():
            if isinstance(module, _BatchNorm):
                module.momentum = None  # the plain mean over batches, of which there is one
        with torch.no_grad():
            network.train()(batch)
        folder.mkdir(parents=True, exist_ok=True)
        torch.save(network.state_dict(), file)
    return f"{model}@{file}"


MEASURED = ["length", "crossings", "breakpoints", "absolute_deviation", "deviation_upper_bound", "total_variation"]


def follow(training: Training, images: int, work: Path) -> pd.DataFrame:
    """Follow the paths, unless that was done.

    Args:
        training: Of the network, done.
        images: How many held-out images, from the first on; a path around each.
        work: Where the folders ``weights`` and ``paths`` are.

    Returns:
        A row for each segment: the network, how and from which seed it was trained, its accuracy and the share of the
        training labels that it fitted, path, segment, and what was measured
        (:func:`affscore.linear_regions.along_paths`; measures of logits are means over these).
    """
    file, job = work / "paths" / f"{training.name}.parquet", {**training.describe(), "paths": images}
    if read_description(file).get("job") == job:
        return pd.read_parquet(file)
    record = json.loads(training.weights(work / "weights").with_suffix(".json").read_text(encoding="utf-8"))
    with one_thread():
        model = load_model(f"{training.model}@{training.weights(work / 'weights')}")
        pictures, _ = training.images(model, "test")
        found = along_paths(model, closed_paths(pictures[:images]), progress=False)
    table = found.groupby(["path", "segment"])[MEASURED].mean().reset_index()
    about = {"network": training.network, "way": training.way, "seed": training.seed}
    about |= {name: record[name] for name in ("accuracy", "fitted")}
    table = pd.DataFrame(about, index=table.index).join(table)
    write_parquet(table, {"job": job}, [], file)
    return table


SHORTEST = 40
"""Characters of a sentence, at least."""


COVARIANCES: tuple[CovarianceName, ...] = ("ledoit-wolf", "empirical")


def sentences() -> list[str]:
    """The first paragraph of each docstring, in one line and each once, those that are held out first."""
    texts = sorted(all_docstrings(), key=is_held_out, reverse=True)
    first = (" ".join(re.split(r"\n\s*\n", text)[0].split()) for text in texts)
    return list(dict.fromkeys(text for text in first if len(text) >= SHORTEST))


def encoded(folder: Path, count: int, length: int) -> dict[str, Tensor]:
    """So many of :func:`sentences` as token ids (N, length) with marks at both ends, cut or padded, and their mask.

    Args:
        folder: Of the network, with a tokenizer.json.
        count: How many sentences.
        length: Tokens of each.
    """
    package = needs("tokenizers", "reading a tokenizer", "transformers")
    tokenizer = package.Tokenizer.from_file(str(tokenizer_file(str(folder))))
    padding = tokenizer.padding or {"pad_id": 0, "pad_token": "[PAD]"}
    tokenizer.enable_truncation(length)
    tokenizer.enable_padding(length=length, pad_id=padding["pad_id"], pad_token=padding["pad_token"])
    found = tokenizer.encode_batch(sentences()[:count])
    return {
        "input_ids": torch.tensor([one.ids for one in found]),
        "attention_mask": torch.tensor([one.attention_mask for one in found]),
    }


def of_sentences(models: Sequence[str], n: int, images: int, length: int) -> pd.DataFrame:
    """Networks ``hf:FOLDER`` on sentences, under every specification: as a study."""
    return study_of(
        multiverse(
            model, encoded(_folder(model), images, length), n=n, images=images, reductions=REDUCTIONS,
            data_name="docstrings", progress=False,
        )
        for model in models
    ).assign(text=fingerprint_of_docstrings())  # fmt: skip


def at_positions(
    folder: Path, model: str, data: str, at: Sequence[int], n: int, length: int = 0, **about: Any
) -> pd.DataFrame:
    """The scores of a network at single positions, under both covariances, unless they are there.

    Args:
        folder: Where they are kept.
        model: MODEL.
        data: SPEC; of sentences what they are called.
        at: Which positions.
        n: How many windows, or sentences.
        length: Of sentences; 0 for windows of running text.
        about: Further columns.
    """
    asked = {"data": data, "text": fingerprint_of_docstrings(), "at": list(at), "n": n, "length": length, **about}
    job = identity_of_model(model) | asked
    key = hashlib.sha256(json.dumps(job, sort_keys=True).encode()).hexdigest()[:16]
    if (file := folder / f"{key}.parquet").is_file():
        return pd.read_parquet(file)
    network = load_model(model)
    samples: Any = encoded(_folder(model), n, length) if length else data
    tables = [
        scores_by_position(network, samples, at, n, covariance=covariance).assign(covariance=covariance)
        for covariance in COVARIANCES
    ]
    card = card_of(network)
    longest = length or (card.preprocessing.window if isinstance(card.preprocessing, TextPreprocessing) else 0)
    found = pd.concat(tables, ignore_index=True).assign(model=card.name, length=longest, dataset=data, **about)
    folder.mkdir(parents=True, exist_ok=True)
    write_parquet(found, {"job": job}, [], file)
    return found


def _folder(model: str) -> Path:
    return Path(model.removeprefix("hf:").partition("@")[0])
