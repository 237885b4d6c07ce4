"""Folders as people have them: photos that lie on their side, hidden copies, links, closed folders."""

import os

import numpy as np
import pytest
from PIL import Image

from affscore import load_data
from affscore.errors import AffscoreError
from affscore.models import Preprocessing
from affscore.models.data.folders import IMAGE_SUFFIXES, read_picture
from affscore.models.named_data import UnreadableImageError

SMALL = Preprocessing(size=8, resize=8, mean=(0.0,) * 3, std=(1.0,) * 3)
ORIENTATION = 0x0112


def save(path, colour=(255, 0, 0), size=(10, 7), **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, colour).save(path, **options)
    return path


def photo_on_its_side(path):
    """Stored 8 high and 16 wide, left half white; seen 16 high and 8 wide, upper half white."""
    path.parent.mkdir(parents=True, exist_ok=True)
    values = np.zeros((8, 16), dtype=np.uint8)
    values[:, :8] = 255
    exif = Image.Exif()
    exif[ORIENTATION] = 6  # turn it by 90 degrees, clockwise
    Image.fromarray(values).save(path, exif=exif, quality=95)


def test_photos_are_turned_upright_and_those_of_imagenet_lie_as_torchvision_leaves_them(tmp_path):
    photo_on_its_side(tmp_path / "photo.jpg")
    (upright,) = load_data(f"folder:{tmp_path}")
    assert upright.shape == (1, 16, 8)
    assert upright[0, :7].mean() > 0.95
    assert upright[0, 9:].mean() < 0.05
    (stored,) = load_data(f"imagenet:{tmp_path}")
    assert stored.shape == (1, 8, 16)
    assert stored[0, :, :7].mean() > 0.95


@pytest.mark.filterwarnings("ignore:Corrupt EXIF")
@pytest.mark.parametrize("exif", [b"", b"Exif\0\0", b"Exif\0\0II*\0\xff\xff\xff\xff", b"Exif\0\0" + bytes(range(256))])
def test_a_damaged_exif_entry_does_not_cost_the_image(tmp_path, exif):
    save(tmp_path / "photo.jpg", exif=exif)
    assert next(iter(load_data(f"folder:{tmp_path}", SMALL))).mean(dim=(1, 2)).argmax() == 0


def test_hidden_files_and_folders_are_passed_over(tmp_path):
    save(tmp_path / "photo.png")
    (tmp_path / "._photo.png").write_bytes(b"what macOS leaves beside a file")
    save(tmp_path / ".ipynb_checkpoints" / "photo.png")
    assert len(load_data(f"folder:{tmp_path}")) == 1


def test_links_are_followed_and_a_circle_ends(tmp_path):
    save(tmp_path / "elsewhere" / "cats" / "1.png")
    root = tmp_path / "photos"
    save(root / "dogs" / "1.png")
    (root / "cats").symlink_to(tmp_path / "elsewhere" / "cats")
    (root / "dogs" / "up").symlink_to(root)
    data = load_data(f"folder:{root}")
    assert (len(data), sorted(data.labels)) == (2, ["cats", "dogs"])


def test_a_folder_that_is_called_like_an_image(tmp_path):
    save(tmp_path / "cats.jpg" / "1.png")
    assert len(load_data(f"folder:{tmp_path}")) == 1


def test_a_link_to_nothing_is_an_unreadable_image(tmp_path):
    (tmp_path / "gone.png").symlink_to(tmp_path / "nothing")
    data = load_data(f"folder:{tmp_path}")
    with pytest.raises(UnreadableImageError, match=r"^the file 'gone.png' is not a readable image \(No such file"):
        data[0]


def closed(monkeypatch, folder):
    """As if this folder belonged to somebody else (whoever runs the tests may be allowed everything)."""
    scandir = os.scandir

    def refusing(path="."):
        if os.fspath(path) == str(folder):
            raise PermissionError(13, "Permission denied", str(folder))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)


def test_a_closed_folder_among_others_is_noted(tmp_path, monkeypatch):
    save(tmp_path / "photos" / "open" / "1.png")
    save(tmp_path / "photos" / "private" / "1.png")
    closed(monkeypatch, tmp_path / "photos" / "private")
    data = load_data(f"folder:{tmp_path / 'photos'}", SMALL)
    assert len(data) == 1
    assert data.notes == ["the folder 'private' cannot be read (Permission denied), and its images are missing"]


def test_a_closed_folder_is_an_error(tmp_path, monkeypatch):
    closed(monkeypatch, tmp_path)
    with pytest.raises(AffscoreError, match=rf"the folder '{tmp_path.name}' cannot be read \(Permission denied\)"):
        load_data(f"folder:{tmp_path}")


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    file = save(tmp_path / "cats" / "1.png")

    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Image, "open", refuse)
    with pytest.raises(UnreadableImageError) as caught:
        read_picture(file, SMALL, upright=True, in_class=True)
    assert str(caught.value) == "the file '1.png' in 'cats' is not a readable image (Permission denied)"


def test_no_message_holds_a_path(tmp_path):
    for content in (b"", b"text", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0" + bytes(30), b"P6 10 10 255\n", b"II*\0"):
        for suffix in IMAGE_SUFFIXES:
            file = tmp_path / f"x{suffix}"
            file.write_bytes(content)
            with pytest.raises(UnreadableImageError) as caught:
                read_picture(file, None, upright=True)
            assert str(tmp_path) not in str(caught.value), content


def test_the_folders_are_the_classes(tmp_path):
    for name in ("cats", "dogs"):
        save(tmp_path / name / "a.png")
        save(tmp_path / name / "young" / "b.png")
    data = load_data(f"folder:{tmp_path}")
    assert data.labels == ["cats", "cats", "dogs", "dogs"]
    assert [data.only("dogs").name, load_data(f"folder:{tmp_path / 'dogs'}").name] == ["folder:dogs"] * 2
    assert [file.name for file in data.only("dogs").files] == ["a.png", "b.png"]
    save(tmp_path / "loose.png")
    assert load_data(f"folder:{tmp_path}").labels is None


def test_imagenet_without_validation_images(tmp_path):
    save(tmp_path / "train" / "n01" / "1.JPEG")
    with pytest.raises(
        AffscoreError, match=r"has a folder 'train', but no 'val' .*; for the training images write fol"
    ):
        load_data(f"imagenet:{tmp_path}")


@pytest.mark.parametrize("size", [(1, 1), (2, 1), (1, 300), (4000, 3000)])
def test_tiny_and_large_images(tmp_path, size):
    save(tmp_path / "x.png", (0, 255, 0), size)
    (image,) = load_data(f"folder:{tmp_path}", Preprocessing())
    assert image.shape == (3, 224, 224)
    assert image.mean(dim=(1, 2)).argmax() == 1
