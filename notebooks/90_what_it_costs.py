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
# # What it costs
#
# Time and memory of one score against a reference implementation, time of a signature against the plain forward pass, and the differences between our
# numbers and the reference's. Nothing is measured while the book is built: the measurements lie as JSON in
# `benchmarks/results`, with the machine that they were made on, and this page draws them.

# %% tags=["remove-cell", "setup"]
# Where this runs: with the library, or not.
import importlib.util

if importlib.util.find_spec("affscore") is None:
    raise ModuleNotFoundError(
        "this notebook needs the book's library, affscore: get the files of "
        "the book, run `make book` there, and open it with `make lab`"
    )

# %% tags=["parameters", "hide-input"]
results: str = "../benchmarks/results"  # the folder with the files of results

# %% tags=["remove-cell"]
from affscore.parameters import check_parameters

check_parameters(globals())

# %% tags=["hide-input"]
import sys

import matplotlib.pyplot as plt
import pandas as pd
from affscore.figures import table
from IPython.display import Markdown

sys.path.insert(0, "../benchmarks")
import drawing
import reading

measured = reading.read_benchmarks(results)
affinity, signatures, gpu = (
    measured["affinity"],
    measured["signature"],
    measured["gpu"],
)
agreement, memory, survey = (
    measured["agreement"],
    measured["memory"],
    measured["survey"],
)
multiverse, track = measured["multiverse"], measured["track"]
notes = [benchmark.note for benchmark in measured.values() if benchmark.note]
Markdown("Not measured here: " + " ".join(notes)) if notes else None

# %% tags=["remove-cell"]


def table_or_note(benchmark, shown):
    """What a cell shows: a table, or the sentence that says why there is none."""
    return Markdown(benchmark.note) if benchmark.note else shown


def figure_or_note(draw, benchmark, *goals):
    """The same for a figure: without measurements there is none."""
    if not benchmark.note:
        draw(benchmark, *goals)
        plt.show()
    return table_or_note(benchmark, None)


# %% [markdown]
# ## One score

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-90-times", "caption": "Beyond a width of twice the number of points one score takes hardly longer here, and ever longer with the reference implementation. Time over the width $d$, for several numbers $n$ of points. Marks are the best times, bars reach to the largest. Drawn by `benchmarks/drawing.py`: `score_times`."}, "image": {"alt": "Two panels in double logarithms, seconds over widths from 64 to 4096, a rising line for each number of points. On the left, affscore, the lines bend to the horizontal where the width exceeds twice the number of points; on the right, the reference implementation, they keep rising."}}
figure_or_note(drawing.score_times, affinity)

# %% [markdown]
# Three things make the left panel differ from the right one.
#
# * **The span of the samples.** Two clouds of $n$ points never leave a space of $2n$ dimensions. Where $d \ge 2n$ everything is computed in
#   an orthonormal basis of that span; outside of it both covariances are multiples of the identity, and their traces, which
#   the shrinkage and the score need, are known from the full $d$. That is why the lines level off.
# * **One decomposition.** With a Cholesky factor $\Sigma_X = L L^\top$, the map of {eq}`eq-affine-map` is
#   $A = L^{-\top} (L^\top \Sigma_Y L)^{1/2} L^{-1}$: one symmetric root in the place of two general ones and an inverse.
# * **The certificate.** Often the pairing $i \to i$ is the optimal coupling, and then prices of the points (a solution of the dual problem) that prove it are
#   found in one pass over the cost matrix. Only where they are not, an assignment problem is solved.
#
# How fast do times grow? Exponents $a$ of $t \sim d^a$ for each number of points, fitted to the best times of all widths from 128 on, where there are at
# least three of them; and of $t \sim n^a$ for each width:

# %% tags=["hide-input"]
exponents = {
    along: reading.growth_exponents(affinity.table, along=along).rename(
        columns={"textbook": "reference"}
    )
    for along in ("d", "n")
}
table_or_note(affinity, table(exponents["d"]))

# %% tags=["hide-input"]
table_or_note(affinity, table(exponents["n"]))

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-90-ratio", "caption": "One score is faster than the reference implementation at every width and number of points, most where the width is many times the number of points. Bars mark what was aimed at for $n = 512$. Drawn by `benchmarks/drawing.py`: `speed_ups`."}, "image": {"alt": "Lines of the speed-up over the width in double logarithms, one for each number of points, with four short bars for the goals at widths 256, 512, 1024 and 2048."}}
goals = {256: 12, 512: 12, 1024: 15, 2048: 50}
figure_or_note(drawing.speed_ups, affinity, goals)

# %% tags=["hide-input"]
at_512 = (
    affinity.table.query("n == 512")
    .set_index("d")
    .reindex(list(goals))
    .assign(goal=pd.Series(goals))
)
at_512["met"] = at_512["ratio"].ge(at_512["goal"])
shown = {
    "affscore_best": "affscore, s",
    "affscore_largest": "at most, s",
    "textbook_best": "reference, s",
    "textbook_largest": "at most, s ",
    "ratio": "times faster",
    "goal": "goal",
    "met": "met",
}
table_or_note(
    affinity,
    table(
        at_512.rename_axis("d, at n = 512"),
        shown,
        {"ratio": 1} | dict.fromkeys(list(shown)[:4], 3),
    ),
)

# %% [markdown]
# Where a goal of the table is missed, what limits is the symmetric eigendecomposition behind the matrix root, the more the wider the
# layer. Single precision would be faster, but the matrix under the root is a product of
# two covariances, and single precision does not hold the spread of its eigenvalues (see the last section of this page).

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-90-memory", "caption": "Few points of great width need a small part of the memory that the reference implementation needs. Peak memory of one score above what the process held before. Drawn by `benchmarks/drawing.py`: `score_memory`."}, "image": {"alt": "Two panels in double logarithms, megabytes over widths from 64 to 4096, one line for each number of points, for affscore and for the reference implementation."}}
figure_or_note(drawing.score_memory, affinity)

# %% [markdown]
# ## A whole signature
#
# The recorder reduces each feature map inside the forward pass and keeps $n \times c$ numbers for each activation, never the maps;
# the scores are computed between two batches. So beside an expensive forward pass a signature takes hardly longer than the
# pass itself. Beside a cheap one with many activations it shows, as in MNASNet and MobileNetV2: a score costs the same wherever
# it comes from, and much of that is one symmetric eigendecomposition.
#
# The default criteria cost more, and one of them reads whole feature maps: the sparsity counts the small entries before and after
# each activation. The memory's bandwidth is the limit there. So on a CPU an activation that overwrites its input runs together with the two
# averages around it and with the counting, block by block in the cache; these need no further pass over the memory. For a ReLU, whose
# output is small exactly where its input is at most that, the input alone is counted.

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-90-signature", "caption": "A signature adds most to cheap networks with many activations. The time of a full signature in units of the plain forward pass of the same network on the same images, with random weights. Bars are medians over pairs, lines reach from the smallest ratio to the largest, marks are what was aimed at. Drawn by `benchmarks/drawing.py`: `signature_ratios`."}, "image": {"alt": "Two horizontal bars for each network, for the scores only and with all default criteria, beside a vertical line at 1, which is the plain forward pass."}}
aimed_at = {"resnet18": (1.10, 1.25), "resnet50": (1.10, 1.30)}
aimed_at |= dict.fromkeys(
    ["mobilenet_v2", "mnasnet0_5", "shufflenet_v2_x1_0", "efficientnet_b0"],
    (1.15, 1.35),
)
figure_or_note(drawing.signature_ratios, signatures, aimed_at)


# %% tags=["hide-input"]
def seconds_and_memory(benchmark):
    """Seconds with their spread, and memory above the plain pass."""
    rows = benchmark.table.set_index("model")
    shown = rows[["n"]].astype("Int64")
    for name, label in (
        ("plain", "plain pass, s"),
        ("scores", "scores, s"),
        ("criteria", "with criteria, s"),
    ):
        ends = zip(rows[f"{name}_best"], rows[f"{name}_largest"], strict=True)
        shown[label] = [f"{best:.2f} to {most:.2f}" for best, most in ends]
    shown["of these, s"] = rows.get("seconds_in_scores_and_criteria")
    shown["plain pass, MB"] = rows["memory_mb_plain"]
    above = rows["memory_mb_scores"] - rows["memory_mb_plain"]
    shown["above it, MB"] = above
    whole = {"plain pass, MB": 0, "above it, MB": 0}
    return table_or_note(benchmark, table(shown, digits=whole))


seconds_and_memory(signatures)

# %% tags=["remove-input"]
if not signatures.note:
    aims = pd.DataFrame(aimed_at, index=["aim_scores", "aim_criteria"]).T
    rows = signatures.table.set_index("model").join(aims, how="inner")
    met = (rows["ratio_scores"] <= rows["aim_scores"]) & (
        rows["ratio_criteria"] <= rows["aim_criteria"]
    )
    inside = (
        rows.reindex(columns=["seconds_in_scores_and_criteria"]).iloc[:, 0]
        / rows["plain_best"]
    )
    sentences = {
        "Both aims of the figure are met by": met,
        "One of them or both are missed by": ~met,
        "The scores and criteria alone take longer than the aim leaves for": inside
        > rows["aim_criteria"] - 1,
    }
None if signatures.note else Markdown(
    "\n".join(
        f"* {what}: {', '.join(rows.index[which]) or 'none'}."
        for what, which in sentences.items()
    )
)

# %% [markdown]
# The column *of these, s* is the time inside of scores and criteria; the rest of what a signature adds is
# spent inside the forward pass: seeing the calls, averaging, counting small entries.
#
# The last column is the peak memory of a signature (scores only) above that of the plain forward pass with batches of 64 images. The aim was
# less than 300 MB for ResNet-50. The signature holds the reduced
# samples of all $n$ images, whatever the size of the feature maps. A number below 0 is the scatter between two runs.
#
# How many images, then, fit in the memory of a few? The published code keeps what goes into each activation and what comes out of it
# until the batch is complete. Peaks of ResNet-152, 16 images at a time: the plain pass, a pass that keeps the feature maps of one batch
# of 16, and the signature of 16 and of 512 images.

# %% tags=["hide-input"]
headings = {"how": "what", "n": "n", "memory_mb": "peak, MB"}
table_or_note(
    memory, table(memory.table.set_index("model"), headings, {"memory_mb": 0})
)

# %% tags=["remove-input"]
on_a_gpu = """
On a GPU the forward pass is faster, so the share of the scores is larger. Everything but the assignment problems stays on the
device, and those are solved while the next batch goes through the network. The aim for ResNet-50 was twice the forward pass.
"""
None if gpu.note else Markdown(on_a_gpu)

# %% tags=["hide-input"] mystnb={"figure": {"name": "fig-90-gpu", "caption": "As {numref}`fig-90-signature`, on a GPU; the machine is the one in the table above. Drawn by `benchmarks/drawing.py`: `signature_ratios`."}, "image": {"alt": "Two horizontal bars for each network, for the scores only and with all default criteria, beside a vertical line at 1."}}
if not gpu.note:  # the list of files above says that it is missing
    figure_or_note(drawing.signature_ratios, gpu, {"resnet50": (2.0, 2.0)})

# %% tags=["hide-input"]
None if gpu.note else seconds_and_memory(gpu)

# %% [markdown]
# ### A multiverse of signatures
#
# `affscore.multiverse` scores a network under every combination of reduction, order, covariance and coupling, from one forward pass
# ({doc}`../book/definitions`). The table has its time in units of one signature (scores only) of the same network on the same images, beside that of the
# separate signatures, one for each combination of reduction, order and covariance. What it saves are the forward passes. So it
# gains most where these are expensive.


# %% tags=["hide-input"]
def with_spread(name):
    """The median of the ratios, with the smallest and the largest."""
    ends = (
        multiverse.table[f"spread_{name}_{which}"]
        for which in ("smallest", "largest")
    )
    ratios = zip(multiverse.table[f"ratio_{name}"], *ends, strict=True)
    return [
        f"{ratio:.2f} ({low:.2f} to {high:.2f})"
        for ratio, low, high in ratios
    ]


prices = multiverse.table.set_index("model").assign(
    times=with_spread("multiverse"), separate=with_spread("separate")
)
headings = {
    "dataset": "images",
    "activations": "activations",
    "signature_best": "one signature, s",
    "times": "multiverse, times",
    "separate": "separate signatures, times",
}
table_or_note(multiverse, table(prices, headings))

# %% tags=["remove-input"]
if not multiverse.note:
    ratios, separate = (
        multiverse.table[f"ratio_{name}"]
        for name in ("multiverse", "separate")
    )
    above = ", ".join(multiverse.table.loc[ratios > 4, "model"])
    verdict = f"missed by {above}" if above else "met by all"
None if multiverse.note else Markdown(
    f"A multiverse costs **{ratios.min():.1f} to {ratios.max():.1f} signatures**, where {multiverse.table['signatures'].max()} separate ones "
    f"cost {separate.min():.1f} to {separate.max():.1f}. The aim of at most 4 is {verdict}."
)

# %% [markdown]
# ### A network that trains
#
# `affscore.track` measures a network on a fixed probe while it trains, before the first step and every 100. Its price depends on the network, on the
# size of the probe, and on how often it measures. The first row of the table times two steps of a training of ResNet-18 (224 pixels, batches of 64) and one measurement of all its
# activations on a probe of 256, in turns: the overhead is one measurement over a hundred steps. The second row times whole trainings of 500 steps of
# a small network on digits, with a tracker and without, in the time of the processor, since other processes disturb minutes by more than the overhead. Overheads
# are medians over pairs, with the smallest and the largest. No GPU was measured: steps are faster there, and a measurement every 100 of them costs a larger share.

# %% tags=["hide-input"]
ends = ["overhead", "spread_overhead_smallest", "spread_overhead_largest"]
overheads = track.table.set_index("model").assign(
    percent=[
        f"{100 * median:.1f} ({100 * low:.1f} to {100 * high:.1f})"
        for median, low, high in track.table[ends].to_numpy(float)
    ]
)
headings = {
    "how": "what was timed",
    "n": "probe",
    "counted": "steps",
    "steps_median": "their time, s",
    "measurement_median": "one measurement, s",
    "percent": "overhead, %",
}
table_or_note(track, table(overheads, headings))

# %% tags=["remove-input"]
if not track.note:
    promised = track.table.set_index("model")["overhead"].get(
        "resnet18", float("nan")
    )
    kept = "met" if promised <= 0.03 else "missed"
None if track.note else Markdown(
    f"For ResNet-18 the overhead is **{100 * promised:.1f} % of the training**. The aim of at most 3 % is {kept}."
)

# %% [markdown]
# ### A network that trains with the score
#
# `affscore.AffinityPenalty` computes the scores of the batch within each step, and their gradients ({ref}`gradient-of-the-score`). The table has a step of
# ResNet-18 with the penalty on all activations beside the same step without, in pairs; on a CPU in the time of the processor. The aim was at most 1.5.

# %% tags=["hide-input"]
penalty = measured["penalty"]
ends = [
    "ratio_penalised",
    "spread_penalised_smallest",
    "spread_penalised_largest",
]
both = [penalty.table, measured["penalty_gpu"].table]
steps = pd.concat([one for one in both if len(one)] or both[:1])
steps = steps.set_index("model").assign(
    times=[
        f"{median:.2f} ({low:.2f} to {high:.2f})"
        for median, low, high in steps[ends].to_numpy(float)
    ]
)
headings = {
    "device": "device",
    "how": "what was timed",
    "batch_size": "batch",
    "activations": "activations",
    "plain_median": "a step, s",
    "times": "with the penalty, times",
}
table_or_note(penalty, table(steps, headings))

# %% tags=["remove-input"]
if not penalty.note:
    ratio = penalty.table.set_index("model")["ratio_penalised"].get(
        "resnet18", float("nan")
    )
    kept = "met" if ratio <= 1.5 else "missed"
None if penalty.note else Markdown(
    f"A step of ResNet-18 takes **{ratio:.2f} times** as long with the penalty. The aim is {kept}."
)

# %% [markdown]
# ### Linear regions of a segment
#
# Two exact methods ({doc}`16_are_all_linear_regions_equal`) on the same segments, in pairs in one run: the *line* pushes the whole segment through the network,
# the *walk* goes from region to region. A step of the walk is compared with a plain pass in double precision of its batch; the aim was at most 3 of these.

# %% tags=["hide-input"]
regions = measured["linear_regions"]
rows = regions.table.set_index("model")
rows["segments"] = (
    rows["n"].astype(str) + " (" + rows["dataset"] + "), " + rows["how"]
)
headings = {
    "segments": "segments",
    "regions": "regions",
    "line_median": "line, s",
    "ratio_walk": "walk / line",
    "passes_a_step": "plain passes a step",
}
digits = {"line_median": 3, "ratio_walk": 1, "passes_a_step": 1}
table_or_note(regions, table(rows, headings, digits))

# %% tags=["remove-input"]
if not regions.note:
    ratio = regions.table["ratio_walk"]
    memory = (
        regions.table[["memory_mb_32", "memory_mb_128", "memory_mb_512"]]
        .dropna()
        .iloc[0]
    )
None if regions.note else Markdown(
    f"The line is **{ratio.max():.0f} times** as fast where passes of few rows leave the machine idle, on a small network and one segment at a "
    f"time, and {ratio.min():.1f} times on VGG8 with images of 32 pixels. The aim, tenfold, is met in {(ratio >= 10).sum()} of {len(ratio)} rows."
    " Where arithmetic takes the time, the line needs nearly one row of a pass for each region and a step of the walk at most three, so "
    f"that tenfold is out of reach. Peak memory of the line on VGG8 with 32, 128 and 512 points at once: {memory.iloc[0]:.0f}, "
    f"{memory.iloc[1]:.0f} and {memory.iloc[2]:.0f} MB."
)

# %% [markdown]
# ### A survey of many networks
#
# Two jobs, each on one thread, on two cores: one after the other, and both at once in processes of their own ({doc}`../book/surveys`).
# The ratio is the time of both at once over that of one after the other; a half would be perfect, 0.65 was aimed at.

# %% tags=["hide-input"]
pairs = survey.table.reindex(
    columns=["models", "ratio", "one_by_one_best", "at_once_best"]
)
pairs["models"] = [", ".join(some) for some in pairs["models"]]
headings = {
    "one_by_one_best": "one after the other, s",
    "at_once_best": "both at once, s",
    "ratio": "ratio",
}
table_or_note(survey, table(pairs.set_index("models"), headings))

# %% [markdown]
# ## Is it the same number?
#
# A fast score that is wrong is of no use, and it is easily wrong: where few directions carry the variance, the published formula
# in single precision gives less than $-0.5$ where 0.7 is right (`tests/test_published.py`). Three comparisons with the reference implementation in double precision, all of them with the aim of $10^{-4}$:
#
# * in the benchmark of one score, on every pair that both routes have scored;
# * on every activation of real, trained networks on real images, by `benchmarks/check_real_networks.py`: both routes get the same
#   reduced samples;
# * on 1,000 random cases, in `test_textbook_agreement.py` of `tests/transport`: `make test-all` repeats them.

# %% tags=["remove-input"]
differences, compared = (
    affinity.table["difference"].dropna(),
    agreement.table["compared"].sum(),
)
pairs = f"benchmark of one score: {len(differences)} pairs, largest difference {differences.max():.1e}"
layers = f"real networks: {compared} activations, largest difference {agreement.table['largest_difference'].max():.1e}"
Markdown(f"* {affinity.note or pairs}\n* {agreement.note or layers}")

# %% tags=["hide-input"]
rows = agreement.table.set_index("model")
rows["most"] = rows["largest_difference"].map("{:.1e}".format)
headings = {
    "dataset": "images",
    "n": "n",
    "compared": "activations compared",
    "width_max": "widest",
    "most": "largest difference",
}
table_or_note(agreement, table(rows, headings))

# %% [markdown]
# ## How it was measured
#
# *In turns.* The contenders of a comparison run in one process, one after the other, round after round: first one round that
# does not count, then the others. Quick ones are repeated within their turn, and the first time does not count there either,
# since the threads of the contender before are not asleep yet. Runs of more than 20 seconds are made twice only, and there the first
# counts, too. Whatever else the machine is doing meets all of them alike. Reported are the best time, which is the least
# disturbed one, and the largest, which says how much disturbance there was.
#
# *In pairs.* A signature runs right before or right after the plain pass that it is compared with. The ratio of the page is the
# median over several such pairs, and the smallest and the largest say how far it can be trusted.
#
# *Ratios.* Seconds belong to a machine. What carries over to another one, more or less, is how many times longer one
# thing takes than another in the same process with the same number of threads.
#
# *Memory in a new process.* Each contender gets a process of its own. It warms up on something small, so that libraries are
# loaded; then the operating system's mark of the largest memory is reset, and what the mark says after the run, less what
# the process held before, is the peak.
#
# *The reference implementation* is equation {eq}`eq-affinity-score` written down with the usual libraries: scikit-learn's Ledoit-Wolf
# covariances, SciPy's `sqrtm`, an inverse, and POT's exact transport, all in double precision (`benchmarks/textbook.py`). It is
# not run where it takes many minutes.
# Inputs are those of a layer whose spectrum decays as in trained networks, outputs their ReLU.
#
# The machines, and when it was:

# %% tags=["hide-input"]
machines = pd.DataFrame(
    {
        f"{name}.json": benchmark.machine
        for name, benchmark in measured.items()
        if not benchmark.note
    }
).T
machines = machines.reindex(
    columns=["processor", "cores", "gpu", "torch", "measured", "allocator"]
)
machines["day"] = machines["measured"].astype("string").str[:10]
machines["memory"] = machines["allocator"].notna()
table(
    machines.assign(gpu=machines["gpu"].fillna("none")),
    {
        "processor": "processor",
        "cores": "cores",
        "gpu": "GPU",
        "torch": "torch",
        "day": "measured on",
        "memory": "allocator kept memory",
    },
)

# %% [markdown]
# ## On your machine
#
# ```sh
# python benchmarks/bench_affinity.py --n 512 --d 256 512 1024
# python benchmarks/bench_signature.py --models resnet18 --n 128
# python benchmarks/bench_multiverse.py --models mini:resnet18
# python benchmarks/bench_track.py --cases trainings --rounds 3
# python benchmarks/bench_penalty.py --size 64 --batch 32
# python benchmarks/bench_linear_regions.py --cases path --rounds 3
# python benchmarks/check_real_networks.py mobilenet_v2@DEFAULT \
#   --dataset folder:photos
# make book
# ```
#
# Each script writes its file into `benchmarks/results` and takes `--help`; keep the machine otherwise idle. Where freed
# memory goes back to the system at once, set `MALLOC_TRIM_THRESHOLD_=17179869184 MALLOC_MMAP_MAX_=0` for the times, as was done for
# `signature.json` (row `allocator` above; the memory is measured without). `make book` draws this
# page again when a file has changed.
#
# ## What we found

# %% tags=["remove-input", "findings"]
if affinity.note:
    speed = "**The speed of one score was not measured.**"
else:
    fast = affinity.table.query("n == 512").dropna(subset="ratio")
    most = fast.loc[fast["ratio"].idxmax()]
    speed = (
        f"**One score of 512 samples is {fast['ratio'].min():.0f} to {fast['ratio'].max():.0f} times as fast as the reference "
        f"implementation** (most at width {most['d']:.0f}), and differs from it by {differences.max():.0e} at most."
    )
if signatures.note:
    cost = "**The time of a signature was not measured.**"
else:
    by_model = signatures.table.set_index("model")["ratio_scores"]
    cost = (
        f"**A whole signature takes {by_model.min():.2f} to {by_model.max():.2f} times as long as the plain forward pass** "
        f"({by_model.idxmin()} and {by_model.idxmax()}): it adds most to cheap networks with many activations."
    )
if multiverse.note or track.note:
    more = "**The price of a multiverse or of tracking was not measured.**"
else:
    more = (
        f"**Twelve specifications cost {ratios.min():.1f} to {ratios.max():.1f} signatures**, and following a training of ResNet-18 "
        f"costs {100 * promised:.1f} % of it."
    )
Markdown(f"* {speed}\n* {cost}\n* {more}")

# %% [markdown]
# ## Takeaways
#
# * Compare by ratios, in turns, in one process; seconds are the machine's.
# * A width beyond $2n$ costs little more, since two clouds of $n$ points do not leave a space of $2n$ dimensions.
# * What a signature adds to the forward pass are reductions of feature maps and one small problem for each activation. Both
#   show beside a cheap forward pass, and so do the criteria that read whole feature maps.
