import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PIL import Image

from affscore import load_data
from affscore.errors import AffscoreError
from affscore.models import ImageSet, Preprocessing, digits

SMALL = Preprocessing(size=8, resize=8, mean=(0.0,) * 3, std=(1.0,) * 3)


def picture(colour=(255, 0, 0), size=(10, 7), mode="RGB"):
    return Image.new("RGB", size, colour).convert(mode)


def error_of(function):
    """The message of the one error that is meant for users, or None if there is no error."""
    try:
        function()
    except AffscoreError as error:
        return str(error)
    return None


@pytest.fixture
def folder(tmp_path):
    """Pictures of many kinds, in nested folders, beside files that are none."""
    root = tmp_path / "photos"
    (root / "b" / "c").mkdir(parents=True)
    picture().save(root / "rgb.png")
    picture(mode="L").save(root / "grey.PNG")
    picture(mode="P").save(root / "palette.png")
    picture(mode="RGBA").save(root / "b" / "alpha.png")
    picture(mode="CMYK").save(root / "b" / "cmyk.jpg")
    picture(size=(3, 40)).save(root / "b" / "c" / "tall.jpeg")
    picture(mode="1").save(root / "b" / "c" / "bits.bmp")
    Image.fromarray(np.full((6, 6), 65535, dtype=np.uint16)).save(root / "deep.tif")
    picture().save(root / "small.webp", lossless=True)
    (root / "notes.txt").write_text("not a picture")
    (root / "b" / "labels.csv").write_text("a,b")
    return root


def test_a_folder_gives_every_picture_below_it(folder):
    data = load_data(f"folder:{folder}", SMALL)
    assert len(data) == 9
    assert data.name == "folder:photos"
    images = torch.stack([*data])
    assert images.shape == (9, 3, 8, 8)
    assert torch.isfinite(images).all()
    files = sorted(p for p in folder.rglob("*") if p.suffix.lower() not in (".txt", ".csv") and p.is_file())
    for file, image in zip(files, images, strict=True):
        expected = {"grey": [0.3] * 3, "deep": [1.0] * 3}.get(file.stem, [1.0, 0.0, 0.0])
        if file.stem != "bits":  # dithered
            assert image[:, 4, 4].tolist() == pytest.approx(expected, abs=0.02), file.name


def test_without_a_preprocessing_pictures_come_as_they_are(folder):
    shapes = [tuple(image.shape) for image in load_data(f"folder:{folder}")]
    assert sorted(shapes) == sorted([(3, 7, 10)] * 5 + [(1, 7, 10)] * 2 + [(3, 40, 3), (1, 6, 6)])
    assert all(0 <= float(image.min()) <= float(image.max()) <= 1 for image in load_data(f"folder:{folder}"))


def test_the_home_folder(folder, monkeypatch):
    monkeypatch.setenv("HOME", str(folder.parent))
    assert len(load_data("folder:~/photos")) == 9


@pytest.mark.parametrize("place", [".", "val", "ILSVRC/Data/CLS-LOC/val"])
def test_imagenet_takes_the_validation_images(tmp_path, place):
    root = tmp_path / "imagenet"
    inner = root / place
    for name, colour in (("n01", (255, 0, 0)), ("n02", (0, 255, 0))):
        (inner / name).mkdir(parents=True)
        picture(colour).save(inner / name / "1.JPEG")
    if place != ".":
        (inner.parent / "train" / "n01").mkdir(parents=True)
        picture((0, 0, 255)).save(inner.parent / "train" / "n01" / "x.JPEG")
    data = load_data(f"imagenet:{root}", SMALL)
    assert (data.name, len(data)) == ("imagenet:imagenet", 2)
    assert [image.mean(dim=(1, 2)).argmax().item() for image in data] == [0, 1]
    assert data.labels == ["n01", "n02"]


@pytest.mark.parametrize("kind", ["folder", "imagenet"])
def test_folders_that_hold_nothing(tmp_path, kind):
    (tmp_path / "notes.txt").write_text("no picture")
    with pytest.raises(AffscoreError, match="found no image"):
        load_data(f"{kind}:{tmp_path}")
    with pytest.raises(AffscoreError, match=r"there is no folder .*missing"):
        load_data(f"{kind}:{tmp_path / 'missing'}")
    with pytest.raises(AffscoreError, match=r"there is no folder .*; that is a file"):
        load_data(f"{kind}:{tmp_path / 'notes.txt'}")
    with pytest.raises(AffscoreError, match=f"{kind}: needs a folder"):
        load_data(f"{kind}:")


@pytest.mark.parametrize("content", [b"", b"not a picture", b"\x89PNG\r\n\x1a\n" + bytes(50)])
def test_a_file_that_is_no_picture_is_named(tmp_path, content):
    (tmp_path / "broken.png").write_bytes(content)
    with pytest.raises(AffscoreError, match=r"the file 'broken.png' is not a readable image"):
        load_data(f"folder:{tmp_path}", SMALL)[0]


def test_digits_are_the_held_out_part():
    data = load_data("digits")
    assert (data.name, len(data)) == ("digits", 597)
    assert torch.equal(torch.stack([*data]), digits("test")[0])
    prepared = load_data("digits", SMALL)
    assert torch.equal(prepared[5], SMALL(digits("test")[0][5]))


def test_noise_is_fixed_by_the_seed_and_the_index():
    data, again, other = (load_data("random", SMALL, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(data[7], again[7])
    assert not torch.equal(data[7], other[7])
    assert not torch.equal(data[7], data[8])
    assert data[3].shape == (3, 8, 8)
    assert load_data("random")[0].shape == (3, 224, 224)
    many = torch.stack([data[index] for index in range(200)])
    assert float(many.mean()) == pytest.approx(0, abs=0.02)
    assert float(many.std()) == pytest.approx(1, abs=0.02)
    with pytest.raises(AffscoreError, match="'random' has no end: say how many images you want"):
        len(data)


def test_the_order_is_a_shuffle_that_the_seed_fixes():
    data = load_data("digits")
    everything = data.order(None, 0, 10)
    assert sorted(everything) == list(range(597))
    assert everything != sorted(everything)
    assert data.order(None, 0, 10) == everything
    assert data.order(50, 0, 10) == everything[:50]
    assert data.order(None, 1, 10) != everything
    assert list(load_data("random").order(None, 0, 10)) == list(range(10))
    assert list(load_data("random").order(3, 0, 10)) == list(range(3))
    with pytest.raises(AffscoreError, match="'digits' has 597 images, 598 were asked for"):
        data.order(598, 0, 10)


def test_preparing_for_a_network_keeps_the_rest():
    data = ImageSet("name", 2, lambda index, p: p(torch.full((1, 4, 4), float(index))))
    prepared = data.prepared_for(SMALL)
    assert (prepared.name, len(prepared), prepared.preprocessing) == ("name", 2, SMALL)
    assert data.preprocessing is None
    assert prepared[1].mean() == 1.0


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        ("digit", "did you mean 'digits'"),
        ("cifar-10", "did you mean 'cifar10'"),
        ("fashionmnist", "did you mean 'fashion-mnist'"),
        ("folders:x", "unknown data set 'folders:x'"),
        ("digit:3", "did you mean 'digits:3'"),
        ("foldr:my/photos", "did you mean 'folder:my/photos'"),
        ("imagnet", "did you mean 'imagenet:DIR'"),
        ("texts:a.txt", "did you mean 'text:a.txt'"),
        ("random:3", "did you mean 'random'"),
        ("", "unknown data set ''"),
    ],
)
def test_unknown_names(spec, hint):
    with pytest.raises(AffscoreError, match=hint) as caught:
        load_data(spec)
    known = "known: digits, digits-inverted, digits-shuffled, digits-noisy, docstrings, random, cifar10"
    assert known in str(caught.value)


def test_names_in_other_letters_get_a_hint():
    for spec, meant in (("CIFAR10", "cifar10"), ("Digits", "digits"), ("FashionMNIST", "fashion-mnist")):
        with pytest.raises(AffscoreError, match=f"did you mean '{meant}'"):
            load_data(spec)


@pytest.mark.parametrize("seed", [-1, 2**63, 1.5, "0", None, True])
def test_impossible_seeds(seed):
    with pytest.raises(AffscoreError, match="seed must be an integer of at least 0"):
        load_data("random", seed=seed)


def test_a_file_without_its_prefix_gets_a_hint(tmp_path):
    (tmp_path / "book.txt").write_text("a text")
    with pytest.raises(AffscoreError, match="for a text write text: in front of it, for token ids tokens:"):
        load_data(str(tmp_path / "book.txt"))


def test_a_folder_without_its_prefix_gets_a_hint(tmp_path):
    with pytest.raises(AffscoreError, match="for a folder of images write folder: in front of it"):
        load_data(str(tmp_path))


@settings(max_examples=40)
@given(st.text(max_size=30) | st.text(st.characters(exclude_characters="/.~"), max_size=20).map("folder:{}".format))
@example("x" * 300)
@example("folder:" + "x" * 300)
@example("folder:~nobody-of-this-name/x")
@example("folder:a\0b")
def test_any_text_is_a_data_set_or_one_error(spec):
    assert error_of(lambda: load_data(spec)) != ""
