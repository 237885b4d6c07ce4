# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#       jupytext_version: 1.19.6
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Your network in five minutes
#
# You have a network in a file, weights that you trained, and images. This page takes such a file from nothing to a
# signature beside those of networks that you know. With your names in the cell below it is
# yours.

# %% tags=["remove-cell", "setup"]
# Where this runs: with the book's code, or not.
import importlib.util

if not all(map(importlib.util.find_spec, ("affscore", "companion"))):
    raise ModuleNotFoundError(
        "this notebook needs affscore and the book's companion: get the "
        "files of the book, run `make book` there, and `make lab`"
    )

# %% tags=["parameters"]
model: str = "../examples/small_network.py:small"  # path/to/file.py:factory
train: bool = True  # on digits, the example alone: yours has its weights
dataset: str = "digits"  # digits, cifar10, imagenet:DIR, folder:DIR ...
n: int = 512  # images in a batch of the statistic
beside: list = ["resnet20", "squeezenet1_1"]  # stored results to compare with
device: str = "auto"  # cpu, cuda or auto
seed: int = 0  # of random weights and of the choice of images

# %% tags=["remove-cell"]
from companion.parameters import check_parameters

check_parameters(globals())
if model != "../examples/small_network.py:small":
    train = False

# %% [markdown]
# ## 1. The file
#
# A function without arguments that returns the network is all that is needed. Two attributes help: `preprocessing` says
# what the network expects of an image, and `declared_activations` names an activation that PyTorch does not have. This
# is the file, `examples/small_network.py` unless another one was given as the parameter `model`:

# %% tags=["hide-input"]
import tempfile
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import torch
from IPython.display import Code, Markdown

import affscore
from affscore.models import digits
from affscore.plots import raw_signature
from companion.shipped import shipped_signature
from companion.style import table

warnings.simplefilter("ignore", UserWarning)  # warnings stand among the notes

source = model.partition("@")[0].rpartition(":")[0]
Code(filename=source, language="python") if source.endswith(
    ".py"
) else Markdown(f"`{model}` comes from no file of one's own.")

# %% [markdown]
# ## 2. The weights
#
# You have yours already. For this page the network is trained for a few seconds on 8 x 8 digits, and its state dictionary is
# saved as you would save it.

# %%
if train:
    network = affscore.load_model(model, seed=seed)
    images, labels = digits("train")
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-3)
    torch.manual_seed(seed)
    for _ in range(12):
        for chosen in torch.randperm(len(images)).split(100):
            loss = torch.nn.functional.cross_entropy(
                network((images[chosen] - 0.5) / 0.5), labels[chosen]
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    folder = Path(tempfile.mkdtemp())
    torch.save(network.state_dict(), folder / "my_weights.pt")
    model = f"{model}@{folder / 'my_weights.pt'}"

# %% tags=["hide-input"]
if train:
    held_out, held_out_labels = digits("test")
    with torch.no_grad():
        right = (
            (network((held_out - 0.5) / 0.5).argmax(dim=1) == held_out_labels)
            .float()
            .mean()
            .item()
        )
Markdown(
    f"{100 * right:.1f} % of the {len(held_out)} held-out digits "
    "are recognised."
) if train else None

# %% [markdown]
# ## 3. The signature
#
# The name of the file, the function and the weights, and the images: `folder:/data/photos` for a folder of yours. In
# the shell, where `torch.save(network.state_dict(), "my_weights.pt")` has put your weights into the working folder, it is
#
# ```sh
# affscore signature examples/small_network.py:small@my_weights.pt \
#   --dataset digits --out mine.parquet
# ```
#
# and in Python

# %%
mine = affscore.signature(
    model, dataset, n=n, seed=seed, device=device, progress=False
)
table(
    mine.summary,
    {
        "layer": "layer",
        "activation": "activation",
        "width": "channels",
        "score": "affinity score",
    },
    digits=3,
).set_index("layer")

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-five-minutes", "caption": "All activations of the network in the file bend its data, and not equally: the lower a point, the more. In this example the ReLUs of the first layers bend them most; colour and marker say what kind of activation each is (as paper Fig. 10; `affscore.plots.raw_signature`)."}, "image": {"alt": "Scatter plot of the affinity score, from 0 to 1, over the depth of the activation, one point for each of the seven activations."}}
raw_signature(mine)
plt.show()

# %% [markdown]
# A score of 1 means: on these images an affine map does the same. The lower, the more the activation bends its data.
# All columns, as `mine.table`, are explained in {doc}`../book/columns`.
#
# ## 4. Beside networks that you know
#
# Signatures of two trained networks come with the book ({ref}`shipped-results`). In the shell `affscore compare` takes
# files of results and names of networks, which it measures:
#
# ```sh
# affscore compare mine.parquet mini:digitsnet --out beside.svg
# ```

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-five-minutes-beside", "caption": "In this example the network of the file is farther from either of two trained ones than these are from each other. Left, the scores; right, how far apart the signatures are: a small distance means a similar course (as paper Fig. 5; `affscore.compare`, `affscore.plots.compared_signatures`)."}, "image": {"alt": "Left, one line for each network: affinity score over the relative position of the activation. Right, the matrix of the dynamic time warping distances between the networks."}}
comparison = affscore.compare(
    mine, *map(shipped_signature, beside), names=["yours", *beside]
)
comparison.figure()
plt.show()

# %%
table(
    comparison.statistics,
    {
        "activations": "activations",
        "mean": "mean score",
        "std": "SD",
        "min": "smallest",
        "median": "median",
        "max": "largest",
    },
)

# %% tags=["remove-input"]
notes = "\n".join(f"* {note}" for note in comparison.notes)
Markdown(
    "```{admonition} What the comparison notes\n:class: note\n"
    "Each network was measured on its own images, so compare courses and not hundredths.\n\n"
    f"{notes}\n```"
)

# %% [markdown]
# ## 5. The whole chapter with your model
#
# {doc}`04_the_signature_of_a_network` asks more of a network: other reductions, and what its scores say. It runs with yours by
#
# ```sh
# papermill --cwd notebooks notebooks/04_the_signature_of_a_network.ipynb \
#   mine.ipynb -p model ../examples/small_network.py:small@../my_weights.pt \
#   -p dataset digits
# ```
#
# and this page by `-p model ../my_file.py:my_function@../my_weights.pt`. Further: {doc}`../book/how_to_run_with_your_model` for all names of networks
# and data, {ref}`surveys` for many of them.
#
# ## What we found

# %% tags=["remove-input", "findings"]
scores = mine.summary.set_index("layer")["score"].dropna()
near = comparison.distances.iloc[0, 1:]
recognised = (
    f"This network recognises {100 * right:.1f} % of the held-out digits. "
    if train
    else ""
)
closest = (
    f"**Its signature is nearest to that of {near.idxmin()}**, at a distance of {near.min():.2f}"
    + (f" ({near.idxmax()}: {near.max():.2f})" if len(near) > 1 else "")
    + ". It is measured by dynamic time warping, which stretches one list of scores along the other; 0 means the same course."
)
Markdown(f"""
* **From a file with a network to its signature takes three lines**: import the library, measure, show. {recognised}Its {len(scores)} activations have scores from \
{scores.min():.2f} to {scores.max():.2f}, {scores.mean():.2f} on average.
* **Layer `{scores.idxmin()}` bends the data most** ({scores.min():.3f}), layer `{scores.idxmax()}` least ({scores.max():.3f}).
* {closest}
""")
