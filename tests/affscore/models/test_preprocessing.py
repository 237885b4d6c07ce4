import numpy as np
import pytest
import torch
import torchvision
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from torchvision.transforms import functional as T

from affscore.errors import AffscoreError
from affscore.models import Preprocessing
from affscore.models.preprocessing import image_tensor

PLAIN = Preprocessing(size=8, resize=8, mean=(0.0,) * 3, std=(1.0,) * 3)
GREY = Preprocessing(channels=1, size=8, resize=8, mean=(0.0,), std=(1.0,))


def photo(height=37, width=61):
    """Smooth colours with an edge."""
    rows, columns = np.mgrid[:height, :width]
    colours = np.stack([rows * 255 // height, columns * 255 // width, np.where(columns > rows, 240, 20)], axis=2)
    return Image.fromarray(colours.astype(np.uint8))


PRESETS = {
    f"{name}.{weight.name}": weight.transforms()
    for name in ("resnet18", "inception_v3", "swin_t", "efficientnet_b3", "resnet50", "vit_b_16", "mnasnet1_0")
    for weight in torchvision.models.get_model_weights(name)
}


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
@pytest.mark.parametrize("size", [(37, 61), (61, 37), (50, 50)])
def test_pictures_and_tensors_are_prepared_as_by_the_presets_of_torchvision(preset, size):
    ours = Preprocessing.from_torchvision(preset)
    picture = photo(*size)
    torch.testing.assert_close(ours(picture), preset(picture), rtol=0, atol=1e-6)
    values = T.pil_to_tensor(picture).float() / 255
    torch.testing.assert_close(ours(values), preset(values), rtol=0, atol=1e-6)


@pytest.mark.parametrize("mode", "1 L LA P PA RGB RGBA RGBX CMYK YCbCr HSV".split())
@pytest.mark.parametrize("prepare", [PLAIN, GREY])
def test_every_mode_of_picture_gives_the_same_colours(mode, prepare):
    red = Image.new("RGB", (12, 9), (255, 0, 0))
    grey = Image.new("RGB", (12, 9), (255, 255, 255))
    for picture in (red, grey):
        converted = picture.convert("P").convert("PA") if mode == "PA" else picture.convert(mode)
        found = prepare(converted)
        assert found.shape == (prepare.channels, 8, 8)
        colourless = mode in ("1", "L", "LA") or prepare is GREY
        expected = prepare(picture.convert("L" if colourless else "RGB"))
        if mode == "1" and picture is red:  # dithered
            continue
        torch.testing.assert_close(found, expected, rtol=0, atol=0.02)


def test_transparent_palettes_are_colours_and_not_indices():
    picture = Image.new("P", (8, 8), 1)
    picture.putpalette([0, 0, 0, 51, 102, 204])
    picture.info["transparency"] = 0
    assert PLAIN(picture)[:, 4, 4].tolist() == pytest.approx([0.2, 0.4, 0.8])
    assert image_tensor(picture)[:, 4, 4].tolist() == pytest.approx([0.2, 0.4, 0.8])


@pytest.mark.parametrize("dtype", ["<u2", ">u2"])
def test_sixteen_bits_keep_their_grey_values(dtype):
    values = np.linspace(0, 65535, 64).astype(dtype).reshape(8, 8)
    picture = Image.frombytes("I;16" if dtype == "<u2" else "I;16B", (8, 8), values.tobytes())
    expected = torch.from_numpy(values.astype(np.float32) / 65535)
    torch.testing.assert_close(GREY(picture)[0], expected, rtol=0, atol=1e-6)
    torch.testing.assert_close(PLAIN(picture), expected.expand(3, -1, -1), rtol=0, atol=1e-6)


@pytest.mark.parametrize("mode", ["I", "F"])
def test_pictures_without_a_white_are_refused(mode):
    with pytest.raises(AffscoreError, match=f"of mode '{mode}' does not say which value is white"):
        PLAIN(Image.new(mode, (8, 8)))


@given(st.integers(1, 40), st.integers(1, 40), st.sampled_from([1, 3]), st.sampled_from([1, 3]), st.booleans())
def test_any_tensor_comes_to_the_shape_of_the_network(height, width, before, after, bytes_):
    prepare = PLAIN if after == 3 else GREY
    image = torch.rand(before, height, width, generator=torch.Generator().manual_seed(0))
    image = (image * 255).byte() if bytes_ else image
    found = prepare(image)
    assert found.shape == (after, 8, 8)
    assert found.dtype == torch.float32
    assert float(found.min()) >= -1e-6
    assert float(found.max()) <= 1 + 1e-6


def test_bytes_and_fractions_are_the_same_image():
    image = (torch.arange(64).reshape(1, 8, 8) * 4).byte()
    assert torch.equal(GREY(image), GREY(image.float() / 255))
    assert torch.equal(GREY(image[0]), GREY(image))


@pytest.mark.parametrize(
    ("shape", "message"),
    [((2, 4, 4), r"1 or 3 channels, .* got \(2, 4, 4\)"), ((1, 3, 4, 4), r"or \(H, W\), got \(1, 3, 4, 4\)")],
)
def test_what_is_no_image(shape, message):
    with pytest.raises(AffscoreError, match=message):
        PLAIN(torch.zeros(shape))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"channels": 4, "mean": (0.0,) * 4, "std": (1.0,) * 4}, "1 or 3 channels, got channels=4"),
        ({"mean": (0.5,)}, "mean and std must hold 3 numbers"),
        ({"std": (1.0, 0.0, 1.0)}, "std above 0"),
        ({"size": 300, "resize": 256}, "resize at least as large, got 300 and 256"),
        ({"mean": 0.49}, "mean and std must hold 3 numbers"),
        ({"mean": (float("nan"),) * 3}, "mean and std must hold 3 numbers"),
        ({"size": 0}, "size must be positive"),
    ],
)
def test_impossible_preprocessings(options, message):
    with pytest.raises(AffscoreError, match=message):
        Preprocessing(**options)


def test_without_resize_the_whole_image_is_seen_but_for_the_224_pixels_of_imagenet():
    assert {size: Preprocessing(size=size).resize for size in (32, 224, 299)} == {32: 32, 224: 256, 299: 299}
    assert Preprocessing(size=32) == Preprocessing(size=32, resize=32)
    cornered = torch.zeros(3, 32, 32)
    cornered[:, 0, 0] = 1
    seen = Preprocessing(size=32, mean=(0.0,) * 3, std=(1.0,) * 3)(cornered)
    assert torch.equal(seen, cornered)
