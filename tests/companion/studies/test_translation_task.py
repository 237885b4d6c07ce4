"""Sentences as tokens, French numbers and WMT14 among them, and the networks that translate them."""

import pytest
import torch

from affscore import AffscoreError, load_model
from affscore.nonlinear_advantage import average_path_length, slopes, to_prelu
from companion.studies import tasks
from companion.studies.tasks import TASKS
from companion.studies.translation import BEGIN, END, IGNORED, PAD, TOKENS, as_tensors, in_french, numbers, wmt14

pytestmark = pytest.mark.slow  # trains


NETWORKS = "notebooks/companion/studies/translation_networks.py"
Translator = type(load_model(f"{NETWORKS}:number_translator", 0))
NAMED = {number: word for word, number in TOKENS.items()}

UP_TO_SIXTEEN = "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize".split()
VALUES = {word: value for value, word in enumerate(UP_TO_SIXTEEN)}
VALUES |= {word: 10 * ten for ten, word in enumerate("vingt trente quarante cinquante soixante".split(), start=2)}


def read(words):
    """What a number in French words is worth; all words are added but mille, cent, and vingt after quatre."""
    thousands = rest = 0
    for word in words:
        if word == "mille":
            thousands, rest = max(rest, 1), 0
        elif word == "cent":
            rest = 100 * max(rest, 1)
        elif word == "vingt" and rest % 100 == 4:
            rest += 80 - 4
        elif word != "et":
            rest += VALUES[word]
    return 1000 * thousands + rest


IRREGULAR = {0: "zéro", 17: "dix sept", 21: "vingt et un", 71: "soixante et onze", 79: "soixante dix neuf",
             81: "quatre vingt un", 91: "quatre vingt onze", 101: "cent un", 1000: "mille",
             2080: "deux mille quatre vingt", 4120: "quatre mille cent vingt"}  # fmt: skip


def test_every_number_has_words_of_its_own():
    assert {number: in_french(number) for number in IRREGULAR} == IRREGULAR
    texts = [in_french(number) for number in range(10_000)]
    assert len(set(texts)) == 10_000
    assert [read(text.split()) for text in texts] == list(range(10_000))
    assert {word for text in texts for word in text.split()} == {word for word in TOKENS if not word.isdigit()}
    tokens = load_model(f"{NETWORKS}:number_translator", 0).tokens.num_embeddings
    assert sorted(TOKENS.values()) == list(range(END + 1, tokens))


def test_the_samples_are_numbers_and_their_digits():
    inputs, labels, test_inputs, test_labels = numbers(300, 200)
    assert inputs.shape == (300, 17)
    assert test_labels.shape == (200, 5)
    found = []
    for given, wanted in zip(torch.cat([inputs, test_inputs]), torch.cat([labels, test_labels]), strict=True):
        words = [NAMED[token] for token in given[:12].tolist() if token != PAD]
        digits = "".join(NAMED[token] for token in wanted.tolist() if token not in (END, IGNORED))
        assert str(read(words)) == digits
        found.append(digits)
    assert len(set(found)) == 500  # none is asked for in training and in the test
    assert all(torch.equal(*pair) for pair in zip(numbers(300, 200), (inputs, labels), strict=False))


def translator(norm_first=False):
    torch.manual_seed(0)
    sizes = {"width": 16, "heads": 2, "layers": 2, "hidden": 32, "dropout": 0.0}
    return Translator(20, 6, 5, **sizes, norm_first=norm_first).eval()


SOME = as_tensors([[5, 6, 7, 8], [9, 10], [4, 4, 4, 4, 4, 4]], [[11, 12, 13], [14], [15, 16]], 6, 5)[0]


def test_no_token_sees_a_later_one():
    net = translator().train()
    with torch.no_grad():
        before = net(SOME)
        assert before.shape == (3, 20, 5)
        for place in range(5):
            changed = SOME.clone()
            changed[:, 6 + place] = 17
            difference = (net(changed) - before).abs().amax(dim=(0, 1))
            assert not (difference[:place] > 1e-5).any()
            assert difference[place] > 1e-3
        changed = SOME.clone()
        changed[0, 0] = 17  # of the sentence all see all
        assert (((net(changed) - before).abs().amax(dim=1) > 1e-5).any(dim=1)).tolist() == [True, False, False]


def test_what_is_filled_up_does_not_count():
    """Another embedding of the token that fills up: what stands in its places changes, and nothing else."""
    net = translator(norm_first=True)
    with torch.no_grad():
        before = net(SOME)
        net.tokens.weight[PAD] += torch.randn(16)
        net.places[2] += torch.randn(16)  # where the second sentence has no token
        after = net(SOME)
    there = SOME[:, 6:] != PAD
    changed = (after - before).abs().amax(dim=1) > 1e-5
    assert not changed[1][there[1]].any()
    assert changed[0].any()
    assert changed[1][~there[1]].all()


@pytest.mark.parametrize(("norm_first", "dtype"), [(False, torch.int64), (True, torch.int32)])
def test_slopes_keep_the_function_of_a_translator(norm_first, dtype):
    net, some = translator(norm_first), SOME.to(dtype)
    sloped = to_prelu(net, some[:2])
    assert [unit.num_parameters for unit in slopes(sloped).values()] == [32] * 4
    with torch.no_grad():
        torch.testing.assert_close(sloped(some), net(some))
        found = average_path_length(net, some[:2])
        assert average_path_length(sloped, some[:2]) == found
        for unit in slopes(sloped).values():
            unit.weight.fill_(1.0)
        assert average_path_length(sloped, some[:2]) == 0
        assert float((sloped(some) - net(some)).abs().max()) > 1e-3
    assert 0 < found < 4  # four layers with ReLUs on the longest path, and around each a shortcut


ENGLISH = [f"the {adjective} {noun}" for adjective in ("red", "old", "big") for noun in ("house", "dog", "ox", "sea")]
GERMAN = [
    f"das {adjective} {noun}" for adjective in ("rote", "alte", "große") for noun in ("Haus", "Tier", "Ei", "Meer")
]


@pytest.fixture
def folder(tmp_path):
    """Twelve pairs to learn from, and two to test with; and pairs that are left out."""
    write(tmp_path, "train", [*ENGLISH, "", "the dog", "the sea " * 30], [*GERMAN, "nichts", "", "das Meer"])
    write(tmp_path, "test", [ENGLISH[0], "a\u2028b\rc"], [GERMAN[0], "ß"])
    return tmp_path


def write(folder, part, english, german):
    for language, lines in (("en", english), ("de", german)):
        (folder / f"{part}.{language}").write_bytes("".join(f"{line}\n" for line in lines).encode())


def tokens_of(inputs, labels, length):
    """The sentences and translations that tensors hold."""
    pairs = []
    for given, wanted in zip(inputs.tolist(), labels.tolist(), strict=True):
        known, named = given[length:], [label for label in wanted if label != IGNORED]
        assert known == [BEGIN, *named[:-1], *[PAD] * (length - len(named))]
        assert named[-1] == END
        pairs.append(([token for token in given[:length] if token != PAD], named[:-1]))
    return pairs


def test_wmt14_is_read(folder):
    pytest.importorskip("tokenizers")
    inputs, labels, test_inputs, test_labels = wmt14(folder, size=280, length=40)
    assert inputs.shape == (12, 80)
    assert labels.shape == (12, 40)
    assert {inputs.dtype, labels.dtype, test_inputs.dtype, test_labels.dtype} == {torch.int32}
    pairs = tokens_of(inputs, labels, 40)
    assert len({str(pair) for pair in pairs}) == 12
    assert {token for pair in pairs for part in pair for token in part} <= set(range(END + 1, 280))
    assert max(token for pair in pairs for part in pair for token in part) > 258  # pairs of bytes have tokens, too

    # of the test each token is a sample
    counts = (test_labels != IGNORED).sum(dim=1)
    assert set(counts.tolist()) == {1}
    first = len(pairs[0][1]) + 1
    assert len(test_labels) > first
    assert torch.equal(test_inputs[:first], inputs[:1].expand(first, -1))  # the same pair, in the same tokens
    assert test_labels[:first].amax(dim=0)[:first].tolist() == labels[0, :first].tolist()
    # a letter and separators that training has not seen are bytes
    assert len(test_labels) - first == 2 + 1 + 1  # space, two bytes of ß, end


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("train.de", b"eins\nzwei\n", "train.en and train.de must have a sentence a line.* 15 and 2 lines"),
        ("test.en", b"\n\n", "no pair of test.en and test.de has 1 to 63 tokens"),
        ("test.de", None, r"'test\.de' is missing in "),
    ],
)
def test_files_that_cannot_be_used(folder, file, content, message, monkeypatch):
    pytest.importorskip("tokenizers")
    (folder / file).write_bytes(content) if content else (folder / file).unlink()
    monkeypatch.setenv(tasks.WMT14, str(folder))
    with pytest.raises(AffscoreError, match=message):
        TASKS["wmt14"].samples()
    monkeypatch.delenv(tasks.WMT14)
    with pytest.raises(AffscoreError, match=r"set \$AFFSCORE_WMT14 to a folder with train.en, train.de"):
        TASKS["wmt14"].samples()
