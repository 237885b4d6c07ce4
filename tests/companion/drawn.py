"""What a figure shows, for tests of figures."""

import numpy as np
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgb
from matplotlib.legend import Legend


def legend_entries(figure):
    return [text.get_text() for legend in figure.findobj(Legend) for text in legend.get_texts()]


def titles(figure):
    return [axes.get_title() for axes in figure.axes]


def words(labels):
    return [label.get_text() for label in labels]


def points(axes, colour):
    """The offsets of the scatter plots of one colour."""
    scatters = [artist for artist in axes.collections if isinstance(artist, PathCollection)]
    return np.concatenate([
        scatter.get_offsets() for scatter in scatters if np.allclose(scatter.get_edgecolor()[0][:3], to_rgb(colour))
    ])  # fmt: skip
