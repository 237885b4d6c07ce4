"""Two small networks, what they say of data, and files that were damaged."""

from hypothesis import settings
from hypothesis import strategies as st
from torch import nn

from affscore import AffscoreError, signature
from affscore.zoo import Preprocessing, TextPreprocessing

twenty = settings(max_examples=20)


def images_network():
    made = nn.Sequential(nn.Flatten(), nn.Linear(48, 6), nn.ReLU())
    made.preprocessing = Preprocessing(size=4, resize=4)
    return made


def text_network():
    made = nn.Sequential(nn.Embedding(32, 6), nn.Linear(6, 6), nn.GELU())
    made.preprocessing = TextPreprocessing(lambda text: [ord(letter) % 32 for letter in text], 4, 32, 8)
    return made


def outcome(network, data, **options):
    """The result, or the sentence; any other exception goes on to pytest."""
    try:
        return signature(network, data, **{"n": 2, "images": None, "criteria": False, **options})
    except AffscoreError as error:
        message = str(error)
        assert 10 < len(message) < 1000
        assert "\n" not in message
        assert "Traceback" not in message
        return message


@st.composite
def damaged(draw, contents):
    """A file name and what is left of the file."""
    name = draw(st.sampled_from(sorted(contents)))
    kind = draw(st.sampled_from(["empty", "cut off", "changed", "foreign", "another"]))
    content = bytearray(contents[name])
    if kind == "empty":
        content = bytearray()
    elif kind == "cut off":
        content = content[: draw(st.integers(1, len(content) - 1))]
    elif kind == "changed":
        for position, value in draw(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 255)), min_size=1)):
            content[position % len(content)] = value
    elif kind == "foreign":
        content = bytearray(draw(st.binary(min_size=1, max_size=60)))
    else:
        content = bytearray(contents[draw(st.sampled_from(sorted(contents)))])
    return name, bytes(content)
