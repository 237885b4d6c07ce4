"""Small language models: the networks, their training, and what the study says of it."""

import json
from pathlib import Path

import pytest
import torch

from affscore import load_model, signature
from companion.docstrings import docstrings
from companion.language import character_losses
from companion.studies import __main__ as make_studies
from companion.studies import language, load_study, under
from companion.studies.language import LanguageTraining
from companion.studies.measuring import encoded, sentences
from companion.studies.plans import STUDIES, Study

pytestmark = pytest.mark.slow  # trains


NETWORKS = Path(__file__).parents[3] / "examples" / "language_networks.py"
TINY = f"{NETWORKS}:tiny_char_gpt"


@pytest.mark.parametrize(("name", "kind"), [("tiny_char_gpt", "hidden"), ("tiny_gated_char_gpt", "gated-unit")])
def test_the_networks(name, kind):
    model = load_model(f"{NETWORKS}:{name}", 1)
    ids = model.preprocessing(docstrings("test")[: 64 * 40]).view(40, 64)
    found = signature(model, ids, n=40, criteria=False, progress=False)
    assert found.table["activation"].tolist() == ["gelu"] * 2
    assert found.table["kind"].tolist() == [kind] * 2
    assert found.table["width"].tolist() == [192] * 2
    other = ids.clone()
    other[:, 40:] = 0
    with torch.no_grad():  # nobody knows what comes behind
        torch.testing.assert_close(model(ids)[:, :40], model(other)[:, :40])
        assert not torch.allclose(model(ids)[:, 40:], model(other)[:, 40:])
    characters = model.preprocessing.tokenizer
    assert characters("\n ~é?") == [0, 1, 95, 32, 32]  # others are question marks


def test_a_training_is_reproducible_measured_and_tabled(tmp_path, monkeypatch):
    made = language.LanguageRecipe.__init__
    monkeypatch.setattr(
        language.LanguageRecipe,
        "__init__",
        lambda self, **given: made(self, **given | {"batch_size": 4, "steps": min(given.get("steps", 30), 30)}),
    )
    trained = LanguageTraining(TINY, "language", 1, every=10)
    record = trained.run(tmp_path / "weights")
    assert trained.is_done(tmp_path / "weights")
    again = trained.run(tmp_path / "again")
    assert trained.weights(tmp_path / "weights").read_bytes() == trained.weights(tmp_path / "again").read_bytes()
    assert record["bits"] == again["bits"] < record["losses"][0]
    assert sorted(map(int, record["losses"])) == [0, 10, 20, 30]
    begin = LanguageTraining(TINY, "untrained", 1)
    begin.run(tmp_path / "weights")
    assert begin.losses(tmp_path / "weights")[0] == record["losses"][0]
    study = Study([trained, begin], datasets=("docstrings",), n=(32,), images=32, at=(0, 63))
    course = make_studies.course(study, tmp_path / "weights")
    assert course.groupby("step")["bits"].first().tolist() == [*record["losses"].values()]
    table = make_studies.measure(study, tmp_path, jobs=1)
    reached = [one.further(tmp_path / "weights")["bits"] for one in (trained, begin)]
    assert table.groupby("way")["bits"].first().tolist() == reached
    assert table["by_character"].iloc[0] == pytest.approx(character_losses(docstrings("train"), docstrings("test"))[0])
    places = make_studies.by_position(study, tmp_path, jobs=1)
    assert places.groupby(["way", "position", "covariance"]).size().tolist() == [2] * 8
    assert str(tmp_path) not in json.dumps(places.astype(str).to_dict("list"))


def test_sentences_are_first_paragraphs_with_marks_and_padding(tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    found = sentences()
    assert len(set(found)) == len(found)
    assert not any("\n" in text for text in found)
    words = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "the": 4}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    marks = [("[CLS]", 2), ("[SEP]", 3)]
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing("[CLS] $A [SEP]", None, marks)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    data = encoded(tmp_path, 50, 12)
    ids, mask = data["input_ids"], data["attention_mask"]
    assert ids.shape == mask.shape == (50, 12)
    assert (ids[:, 0] == 2).all()
    last = mask.sum(dim=1) - 1
    assert (ids[torch.arange(50), last] == 3).all()
    assert ((ids == 0) == (mask == 0)).all()


def test_a_row_of_the_shipped_study_is_measured_again():
    """Untrained networks, which need nothing but the seed; other versions of Python have other windows."""
    training = next(one for one in STUDIES["language"].trainings if (one.way, one.seed) == ("untrained", 1))
    found = signature(load_model(str(NETWORKS.with_name("language_networks.py")) + ":char_gpt", 1), "docstrings", n=512,
                      images=1024, criteria=False, progress=False)  # fmt: skip
    shipped = under(load_study("language")).query("network == 'char_gpt' and way == 'untrained' and seed == 1")
    assert training.network == "char_gpt"
    assert found.scores.tolist() == pytest.approx(shipped["score"].tolist(), abs=0.01)
