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
# # The mini zoo
#
# The papers compare 36 networks trained on ImageNet, whose weights and images do not fit into a book. So that
# everybody can run each section, the package has a small network for each of them, and for a few efficient ones:
# `mini:resnet50` stands for `resnet50`, and so on. This page says what they are, how they were trained, and what they
# reach. Results on them are *analogues* of the papers' numbers and are never shown as these.

# %% tags=["remove-cell", "setup"]
# Where this runs: with the library, or not.
import importlib.util

if importlib.util.find_spec("affscore") is None:
    raise ModuleNotFoundError(
        "this notebook needs the book's library, affscore: get the files of "
        "the book, run `make book` there, and open it with `make lab`"
    )

# %% tags=["parameters", "hide-input"]
group: str = ""  # of figure 4 of the paper; empty: all networks

# %% tags=["remove-cell"]
from affscore.parameters import check_parameters

check_parameters(globals())

# %% [markdown]
# ## The networks

# %% tags=["hide-input"]
import json
from pathlib import Path

import affscore
import matplotlib.pyplot as plt
import pandas as pd
from affscore.figures import table
from affscore.survey.store import Store
from IPython.display import Markdown

models, hard = affscore.zoo.list_models(), affscore.zoo.hard_task()
if group:
    models = models[models["group"] == group]
    hard = hard[hard["name"].isin(models["name"])]
listed = models.set_index("name")
error = listed["accuracy_standard_error"]
originals = listed.index.drop("digitsnet", errors="ignore")
table(
    listed.assign(
        reached=[
            f"{value:.1f} ± {more:.1f}"
            for value, more in zip(listed["accuracy"], error, strict=True)
        ],
        flops=listed["flops"] / 1e6,
        original=affscore.zoo.characteristics(originals)["depth"],
    ),
    {
        "family": "family",
        "group": "group",
        "reached": "accuracy, %",
        "parameters": "parameters",
        "flops": "multiply-adds, millions",
        "depth": "depth",
        "original": "depth of the original",
    },
    digits={"depth": 0, "original": 0},
)

# %% [markdown]
# *Depth* is the largest number of activations on a path through the network (`digitsnet` is ours and stands for none),
# *multiply-adds* are those of one image, and the *group* is that of the paper's figure 4. One standard error of the
# accuracy $p$ is $\sqrt{p(1-p)/m}$ with $m$ held-out images.
#
# ## What is small about them
#
# Where torchvision's class lets one choose widths and depths, the network *is* torchvision's: DenseNet, MNASNet,
# EfficientNet, MobileNetV2, ShuffleNetV2, ViT, Swin, ConvNeXt. VGG and ResNet are built from torchvision's layers and
# blocks; GoogLeNet, Inception v3 and SqueezeNet from its modules, with fewer channels; AlexNet is written out with
# its eight layers. We kept what defines an architecture: the activation functions, the shortcuts, the branches,
# squeeze and excitation, batch normalisation or none, the order of the members of a family by depth and width. What
# was changed:
#
# * the input is one channel of 32 x 32 pixels, so first layers and strides are smaller, but at least four positions are left
#   at the end of convolutional networks made of many stages;
# * most activations have between 8 and 128 channels, never fewer than 8, where the originals have 64 to 4096;
# * many networks have fewer blocks, above all transformers and ConvNeXts: the table has the depth of each beside that of
#   the original;
# * a ViT sees patches of 16, 8 and 4 pixels where the originals' are 32, 16 and 14;
# * no dropout and no dropped layers: the networks are too small to need it;
# * random weights have the scale for narrow layers where torchvision's default is for wide ones (Swin, ConvNeXt, VGG), and
#   the blocks of a ResNet begin as their shortcut, with a branch of zero.
#
# ## How they were trained
#
# The data are scikit-learn's handwritten digits: two thirds of them for training, one third held out ({doc}`../book/definitions` and all
# signatures on `digits` use the held-out ones). Every network is trained with AdamW and one cycle of the learning rate, on
# images that are moved by up to three pixels. Weights are kept with 16 bits; accuracies are those of the
# weights as they are kept. There is no third set of images: epochs and learning rates of a family were tried out while looking
# at the held-out ones, so the accuracies are a little too good. A signature does not use them. One command makes all of it, goes on where it was stopped, and does nothing twice:
#
# ```sh
# make zoo  # all networks, their tables and their signatures
# python scripts/make_zoo.py --only resnet18 --out somewhere  # one, anew
# ```
#
# From nothing it takes about an hour on two cores. Each network has a record beside its weights (`affscore/zoo/weights/NAME.json`) with recipe, versions and seconds.
#
# These are the recipes, those of the hard task (next section) beside them. A step takes 64 images (hard task: 20).
# Members of a family nearly always share theirs, so what one finds common to a family may be common to a recipe.

# %% tags=["hide-input"]
folder = Path(affscore.zoo.__file__).parent
of_hard_task = {
    about["name"]: about["job"]
    for about in Store(folder / "hard_task").descriptions().values()
}
rows = []
for name in models["name"]:
    recipes = [
        json.loads((folder / "weights" / f"{name}.json").read_text())[
            "recipe"
        ],
        of_hard_task[name]["recipe"],
    ]
    rows.append(
        [
            name,
            *(
                recipe[part]
                for recipe in recipes
                for part in ("epochs", "rate")
            ),
        ]
    )
columns = [
    "epochs",
    "largest rate",
    "epochs, hard task",
    "largest rate, hard task",
]
recipes = pd.DataFrame(rows, columns=["networks", *columns])
recipes = recipes.groupby(columns, sort=False)["networks"].agg(", ".join)
table(recipes.reset_index().set_index("networks"), digits=3)

# %% [markdown]
# ## A task that does not saturate
#
# On the digits nearly all networks are nearly perfect, and most accuracies differ by about their standard error
# (below the figure), too little for a section on accuracy. On the *hard task* a network sees 20 images of each digit,
# rotated by up to 20 degrees, scaled by up to 15 per cent, shifted by up to a tenth of the side, and with noise of
# 0.3 standard deviations, all drawn anew in each epoch; it is tested on the held-out images with one fixed draw
# of the same distortions. Training is as above, with steps of 20 images and the rates of the table. Each network is
# trained with five seeds, which change the training images, too. Right after the test, the signature of that very
# network on the undistorted held-out images was measured.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-92-accuracies", "caption": "The digits saturate, the hard task tells networks apart. Accuracy of the small networks on the digits (left, with one standard error to either side) and on the hard task (right: grey dots are seeds, markers their means), by the groups of paper Fig. 4 (`affscore.figures.zoo_accuracies`)."}, "image": {"alt": "A line for each network, grouped by colour and marker. Left, accuracies on the digits, close together below 100 per cent; right, accuracies on the hard task, spread widely."}}
affscore.figures.zoo_accuracies(models, hard)
plt.show()

# %% tags=["hide-input"]
by_network = hard.groupby("name")["accuracy"].agg(["mean", "std"])
between = by_network["mean"].std()
within = (by_network["std"] ** 2).mean() ** 0.5
apart = (models["accuracy"] - models["accuracy"].mean()).abs()
apart = apart / models["accuracy_standard_error"]
means = by_network["mean"].rename("accuracy").reset_index()
groups = (
    models[["name", "group"]]
    .merge(means, on="name")
    .fillna({"group": "no group"})
)
table(
    groups.groupby("group", sort=False)["accuracy"].agg(
        ["min", "mean", "max"]
    ),
    {"min": "worst network, %", "mean": "mean, %", "max": "best network, %"},
    digits=1,
)

# %% [markdown]
# Means over five seeds on the hard task.
#
# The order is not that of ImageNet. The ViTs with small patches and the larger EfficientNets, ahead there, are far
# behind here: 200 images of 8 x 8 pixels and a few hundred steps are too little for them. So these accuracies say
# nothing about the originals. The hard task serves another question: whether a statistic of the signature goes with
# accuracy among networks that saw the same images.
#
# ## What we found

# %% tags=["remove-input", "findings"]
harder = groups.groupby("group")["accuracy"].mean()
harder = harder.drop("no group", errors="ignore")
ends = (
    f"; the best group is {harder.idxmax()} ({harder.max():.0f} %), the last {harder.idxmin()} ({harder.min():.0f} %)"
    if len(harder) > 1
    else ""
)
Markdown(f"""
* **{len(models)} small networks stand for those of the papers**, with {models["parameters"].min() / 1000:.0f},000 to \
{models["parameters"].max() / 1000:.0f},000 parameters, so that everybody can run each section. They keep what defines an \
architecture; results on them are analogues.
* **Digits saturate**: accuracies go from {models["accuracy"].min():.1f} to {models["accuracy"].max():.1f} %, \
{100 * (apart <= 2).mean():.0f} % of them within two standard errors of their mean.
* **On the hard task networks differ by {between:.1f} points, seeds of one network by {within:.1f}** (standard deviations){ends}. The \
order is not that of ImageNet.
""")
