"""Networks of token ids: the same signature from a text, a file of ids, a tensor or a loader."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

from affscore import AffscoreError, load_data, signature
from affscore.models import Preprocessing, TextPreprocessing

LETTERS = TextPreprocessing(lambda text: [ord(letter) - 97 for letter in text], vocabulary=26, maximum=12)
TEXT = "".join(chr(97 + letter) for letter in np.random.default_rng(0).integers(0, 26, 12 * 20 + 5))


class SmallText(nn.Module):
    def __init__(self, preprocessing=LETTERS):
        super().__init__()
        self.words, self.places = nn.Embedding(26, 8), nn.Embedding(12, 8)
        self.block = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, activation="gelu", dropout=0.0)
        self.head = nn.Linear(8, 26)
        self.preprocessing = preprocessing

    def forward(self, ids):
        return self.head(self.block(self.words(ids) + self.places(torch.arange(ids.shape[1]))))


def scores(data, **options):
    torch.manual_seed(0)
    return signature(SmallText(), data, **{"n": 20, "criteria": False, **options}).scores.tolist()


@pytest.fixture
def book(tmp_path):
    (tmp_path / "book.txt").write_text(TEXT)
    return tmp_path / "book.txt"


def test_a_text_is_the_same_as_its_tokens(book, tmp_path):
    torch.manual_seed(0)
    found = signature(SmallText(), f"text:{book}", n=20)
    assert (len(found), found.metadata["dataset"], found.metadata["images"]) == (1, "text:book.txt", 20)
    assert found.notes[0] == "dropped 5 tokens at the end of text:book.txt, too few for a window of 12"
    expected = {"tokenizer": "<lambda>", "length": 12, "vocabulary": 26, "maximum": 12}
    assert found.metadata["preprocessing"] == expected
    windows = LETTERS(TEXT)[: 12 * 20].view(20, 12)
    shuffled = windows[np.random.default_rng(0).permutation(20)]
    np.save(tmp_path / "ids.npy", windows.numpy().astype(np.uint16))
    assert scores(shuffled) == found.scores.tolist()
    assert scores(f"tokens:{tmp_path / 'ids.npy'}") == found.scores.tolist()


IDS = torch.randint(0, 26, (20, 12), generator=torch.Generator().manual_seed(0))


class Dictionaries(Dataset):
    """As a collator of transformers makes them: the ids are not the first tensor."""

    def __len__(self):
        return len(IDS)

    def __getitem__(self, index):
        return {"attention_mask": torch.ones(12), "labels": torch.tensor(1), "input_ids": IDS[index]}


class Padded(Dictionaries):
    def __getitem__(self, index):
        item = super().__getitem__(index)
        item["attention_mask"][-1] = 0
        return item


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (IDS + 1, "from 0 to 25; these go from 1 to 26"),
        (torch.cat([IDS, IDS], dim=1), "takes at most 12 tokens, these windows have 24"),
        (IDS.float(), "expects token ids, .*got torch.float32"),
        (IDS[0], r"token ids, .* of shape \(12,\)"),
        (DataLoader(TensorDataset(IDS - 1), batch_size=4), "these go from -1"),
        (Padded(), r"the data marks padding \(attention_mask\)"),
        ("digits", "'digits' holds images, and the network expects token ids"),
        (load_data("digits", Preprocessing()), "token ids, .*got torch.float32"),
    ],
)
def test_data_that_is_not_for_this_network(data, message):
    with pytest.raises(AffscoreError, match=message):
        signature(SmallText(), data, n=4, criteria=False)


def test_embeddings_that_the_forward_names_take_the_place_of_ids():
    class Embedded(SmallText):
        def forward(self, input_ids=None, inputs_embeds=None):
            words = self.words(input_ids) if inputs_embeds is None else inputs_embeds
            return self.head(self.block(words))

    torch.manual_seed(0)
    network = Embedded()
    options = {"n": 20, "criteria": False, "progress": False}
    of_words = signature(network, {"inputs_embeds": network.words(IDS).detach()}, **options)
    assert of_words.scores.tolist() == signature(network, {"input_ids": IDS}, **options).scores.tolist()
    with pytest.raises(AffscoreError, match="expects token ids"):
        signature(network, {"input_ids": network.words(IDS).detach()}, **options)
