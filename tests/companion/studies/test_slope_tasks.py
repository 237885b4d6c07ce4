"""What the networks of chapter 16 learn: samples, labels, recipes."""

import pytest
import torch
from sklearn.linear_model import LogisticRegression
from torchvision.transforms import functional as T

from affscore import load_model
from affscore.models.data.images import digits
from companion.studies import tasks
from companion.studies.tasks import CIFAR, TASKS

pytestmark = pytest.mark.slow  # trains


NETWORKS = "examples/cifar_networks.py"


@pytest.mark.parametrize(
    ("name", "width", "counts"),
    [("digits", 16, (1200, 597)), ("few", 16, (1200, 597)), ("noise", 16, (1200, 597)), ("sum", 32, (2400, 1200))],
)
def test_shapes(name, width, counts):
    images, labels, test_images, test_labels = TASKS[name].samples()
    for some, named, count in ((images, labels, counts[0]), (test_images, test_labels, counts[1])):
        assert some.shape == (count, 1, 16, width)
        assert named.shape == (count,)
        assert set(named.tolist()) == set(range(10))
    assert all(torch.equal(*pair) for pair in zip(TASKS[name].samples(), (images, labels), strict=False))


def test_the_digits_are_normalised():
    images, labels, *_ = TASKS["digits"].samples()
    stored, named = digits("train")
    assert torch.equal(labels, named)
    corners = stored[:, 0, 0, 0], images[:, 0, 0, 0]  # a corner stays one when 8 x 8 pixels become 16 x 16
    torch.testing.assert_close(corners[1] * 0.359 + 0.305, corners[0], atol=1e-6, rtol=0)
    assert float(images.mean()) == pytest.approx(0, abs=0.02)


def test_few_repeats_its_images():
    images, labels, *test = TASKS["few"].samples()
    every, named, *others = TASKS["digits"].samples()
    assert len(images.unique(dim=0)) == 120
    for first in range(0, 1200, 120):
        assert torch.equal(images[first : first + 120], every[:120])
        assert torch.equal(labels[first : first + 120], named[:120])
    assert all(torch.equal(*pair) for pair in zip(test, others, strict=True))


def test_four_of_ten_labels_are_wrong_in_training_alone():
    images, labels, *test = TASKS["noise"].samples()
    every, named, *others = TASKS["digits"].samples()
    assert int((labels != named).sum()) == 480
    assert torch.equal(images, every)
    assert all(torch.equal(*pair) for pair in zip(test, others, strict=True))


def test_the_label_of_two_digits_is_the_last_one_of_their_sum():
    images, labels, test_images, test_labels = TASKS["sum"].samples()
    singles = TASKS["digits"].samples()
    for (some, named), (known, shown) in (((images, labels), singles[:2]), ((test_images, test_labels), singles[2:])):
        which = {image.numpy().tobytes(): int(label) for image, label in zip(known, shown, strict=True)}
        halves = [half.contiguous() for half in some.split(16, dim=3)]
        left, right = ([which[image.numpy().tobytes()] for image in half] for half in halves)
        assert [(one + other) % 10 for one, other in zip(left, right, strict=True)] == named.tolist()


def test_an_affine_classifier_names_digits_and_cannot_add_them():
    reached = {}
    for name in ("digits", "sum"):
        images, labels, test_images, test_labels = TASKS[name].samples()
        fitted = LogisticRegression(max_iter=200, C=0.01).fit(images.flatten(1), labels)
        reached[name] = fitted.score(test_images.flatten(1), test_labels)
    assert reached["digits"] > 0.9
    assert reached["sum"] < 0.3


def test_the_rate_falls_twice_to_zero():
    task = TASKS["digits"]
    rates = [task.annealed(0.5, epoch) for epoch in range(2 * task.half)]
    assert rates[: task.half] == rates[task.half :]
    assert rates[0] == 0.5
    assert rates == sorted(rates[: task.half], reverse=True) * 2
    assert rates[task.half - 1] < 0.05 * 0.5


@pytest.mark.usefixtures("small_cifar")
@pytest.mark.parametrize(("name", "classes"), [("cifar10", 10), ("cifar100", 100)])
def test_cifar_as_its_networks_expect_it(name, classes):
    images, labels, test_images, test_labels = TASKS[name].samples()
    assert len(images) == len(labels) == (100 if name == "cifar10" else 20)
    assert len(test_images) == len(test_labels) == 32
    assert 0 <= int(labels.min()) <= int(labels.max()) < classes
    mean, std = (torch.tensor(values)[:, None, None] for values in (CIFAR.mean, CIFAR.std))
    levels = (test_images * std + mean) * 255
    torch.testing.assert_close(levels, levels.round(), atol=1e-3, rtol=0)
    for depth in (18, 50):
        assert load_model(f"{NETWORKS}:resnet{depth}_{name}", 0).preprocessing == CIFAR


def test_black_comes_in_where_images_are_moved():
    """As if the image had been framed in black before it was normalised."""
    raw = torch.rand(3, 32, 32, generator=torch.Generator().manual_seed(0))
    framed = T.normalize(torch.nn.functional.pad(raw, (4,) * 4), list(CIFAR.mean), list(CIFAR.std))
    windows = [framed[:, top : top + 32, left : left + 32] for top in range(9) for left in range(9)]
    possible = torch.stack([*windows, *(window.flip(2) for window in windows)]).flatten(1)
    found = tasks._moved(CIFAR(raw).expand(300, -1, -1, -1), torch.Generator().manual_seed(1)).flatten(1)
    distances = torch.cdist(found, possible, compute_mode="donot_use_mm_for_euclid_dist")
    assert float(distances.min(dim=1).values.max()) < 1e-3
    assert len(distances.argmin(dim=1).unique()) > 100


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("resnet18_cifar10", 11_173_962), ("resnet50_cifar10", 23_520_842), ("resnet18_cifar100", 11_220_132)],
)
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
