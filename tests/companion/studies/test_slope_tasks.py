"""What the networks of chapter 16 learn: samples, labels, recipes."""

import pytest
import torch

from affscore import load_model
from affscore.models.data.images import digits
from companion.studies.tasks import CIFAR, TASKS

pytestmark = pytest.mark.slow  # trains


NETWORKS = "examples/cifar_networks.py"


def test_the_digits_are_normalised_repeated_and_named_wrongly():
    images, labels, *test = TASKS["digits"].samples()
    stored, named = digits("train")
    assert torch.equal(labels, named)
    corner = images[:, 0, 0, 0] * 0.359 + 0.305  # a corner stays one when 8 x 8 pixels become 16 x 16
    torch.testing.assert_close(corner, stored[:, 0, 0, 0], atol=1e-6, rtol=0)
    assert float(images.mean()) == pytest.approx(0, abs=0.02)
    few, their_labels, *of_few = TASKS["few"].samples()
    assert torch.equal(few, images[:120].repeat(10, 1, 1, 1))
    assert torch.equal(their_labels, labels[:120].repeat(10))
    noisy, wrong, *of_noise = TASKS["noise"].samples()
    assert torch.equal(noisy, images)
    assert int((wrong != labels).sum()) == 480  # four of ten
    assert all(torch.equal(a, b) and torch.equal(a, c) for a, b, c in zip(test, of_few, of_noise, strict=True))


def test_the_label_of_two_digits_is_the_last_one_of_their_sum():
    images, labels, test_images, test_labels = TASKS["sum"].samples()
    singles = TASKS["digits"].samples()
    for (some, named), (known, shown) in (((images, labels), singles[:2]), ((test_images, test_labels), singles[2:])):
        which = {image.numpy().tobytes(): int(label) for image, label in zip(known, shown, strict=True)}
        halves = [half.contiguous() for half in some.split(16, dim=3)]
        left, right = ([which[image.numpy().tobytes()] for image in half] for half in halves)
        assert [(one + other) % 10 for one, other in zip(left, right, strict=True)] == named.tolist()


def test_the_rate_falls_twice_to_zero():
    task = TASKS["digits"]
    rates = [task.annealed(0.5, epoch) for epoch in range(2 * task.half)]
    assert rates == sorted(rates[: task.half], reverse=True) * 2
    assert rates[0] == 0.5 > 20 * rates[task.half - 1]


@pytest.mark.usefixtures("small_cifar")
def test_cifar_as_its_networks_expect_it():
    images, labels, test_images, test_labels = TASKS["cifar100"].samples()
    assert len(images) == len(labels) == 20
    assert len(test_images) == len(test_labels) == 32
    assert 0 <= int(labels.min()) <= int(labels.max()) < 100
    mean, std = (torch.tensor(values)[:, None, None] for values in (CIFAR.mean, CIFAR.std))
    levels = (test_images * std + mean) * 255
    torch.testing.assert_close(levels, levels.round(), atol=1e-3, rtol=0)
    assert load_model(f"{NETWORKS}:resnet18_cifar100", 0).preprocessing == CIFAR


@pytest.mark.parametrize(("name", "parameters"), [("resnet50_cifar10", 23_520_842), ("resnet18_cifar100", 11_220_132)])
def test_the_residual_networks_for_small_images(name, parameters):
    """torchvision's numbers of parameters, 11,689,512 and 25,557,032, with a smaller stem and fewer classes."""
    model = load_model(f"{NETWORKS}:{name}", 0).eval()
    assert sum(values.numel() for values in model.parameters()) == parameters
    of_stem, of_head = 64 * 3 * (7 * 7 - 3 * 3), (2049 if "50" in name else 513) * (1000 - model.fc.out_features)
    assert parameters + of_stem + of_head == {"18": 11_689_512, "50": 25_557_032}[name[6:8]]
    seen = []
    model.layer1.register_forward_pre_hook(lambda module, given: seen.append(tuple(given[0].shape)))
    with torch.no_grad():
        assert model(torch.zeros(1, 3, 32, 32)).shape == (1, model.fc.out_features)
    assert seen == [(1, 64, 32, 32)]  # no pixel is left out before the first block
    assert float(model.conv1.weight.detach().std()) == pytest.approx((2 / (9 * 64)) ** 0.5, rel=0.05)
