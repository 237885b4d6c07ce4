"""The axis of the channels, however a function is written: what is right is known here without any layout."""

import math
from itertools import groupby

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from affscore.network.reduction import images_first
from tests.affscore.recorder.hard_networks import Net
from tests.affscore.recorder.seen import seen_in

N, P, C = "image", "", "channel"


class Chain:
    """A random chain of functions around a linear layer. What each axis holds is carried along, by hand.

    ``names`` has for every axis the parts that were merged into it: (what it holds, size).
    """

    def __init__(self, data, first):
        self.data, self.names, self.steps, self.said = data, first, [], []

    def draw(self, *choices):
        found = self.data.draw(st.sampled_from(choices))
        self.said.append(found)
        return found

    def __repr__(self):
        return f"Chain({self.names})"

    def do(self, function, names):
        self.steps.append(function)
        self.names = names

    def sizes(self):
        return [math.prod(size for _, size in parts) for parts in self.names]

    def axes(self, *kinds):
        return [axis for axis, parts in enumerate(self.names) if len(parts) == 1 and parts[0][0] in kinds]

    def forward(self, h):
        for step in self.steps:
            h = step(h)
        return h

    def replaced(self, axis, *parts):
        return [*self.names[:axis], *parts, *self.names[axis + 1 :]]


def permute(chain):
    order = chain.data.draw(st.permutations(range(len(chain.names))))
    way = chain.draw("permute", "contiguous", "einsum")
    letters = "abcdefgh"[: len(order)]
    chain.do(
        {
            "permute": lambda h: h.permute(order),
            "contiguous": lambda h: h.permute(order).contiguous(),
            "einsum": lambda h: torch.einsum(f"{letters}->{''.join(letters[n] for n in order)}", h),
        }[way],
        [chain.names[axis] for axis in order],
    )


def split(chain):
    found = [axis for axis in chain.axes(P, C) if chain.names[axis][0][1] in (4, 6)]
    if found and len(chain.names) < 5:
        axis = chain.draw(*found)
        ((kind, size),) = chain.names[axis]
        chain.do(lambda h: h.unflatten(axis, (2, size // 2)), chain.replaced(axis, ((kind, 2),), ((kind, size // 2),)))


def merge(chain):
    kinds = [{kind for kind, _ in parts} for parts in chain.names]
    found = [
        n for n in range(len(kinds) - 1) if len(kinds[n] | kinds[n + 1]) == 1 or (kinds[n], kinds[n + 1]) == ({N}, {P})
    ]
    if found and len(chain.names) > 2:
        axis = chain.draw(*found)
        merged = chain.names[axis] + chain.names[axis + 1]
        chain.do(lambda h: h.flatten(axis, axis + 1), [*chain.names[:axis], merged, *chain.names[axis + 2 :]])


def pick(chain):
    """Entries are taken, turned or repeated along an axis."""
    if not (found := chain.axes(P, C)):
        return
    axis = chain.draw(*found)
    ((kind, size),) = chain.names[axis]
    index = torch.tensor([0, size - 1, 0])
    ndim = len(chain.names)
    view = [3 if n == axis else 1 for n in range(ndim)]
    ways = {
        "index_select": (lambda h: h.index_select(axis, index), 3),
        "getitem": (lambda h: h[(slice(None),) * axis + (index,)], 3),
        "take_along_dim": (lambda h: torch.take_along_dim(h, index.view(view), axis), 3),
        "gather": (lambda h: h.gather(axis, index.view(view).expand(*h.shape[:axis], 3, *h.shape[axis + 1 :])), 3),
        "roll": (lambda h: h.roll(1, axis), size),
        "flip": (lambda h: h.flip(axis), size),
        "pad": (lambda h: F.pad(h.movedim(axis, -1), (1, 2)).movedim(-1, axis), size + 3),
        "repeat": (lambda h: h.repeat([2 if n == axis else 1 for n in range(ndim)]), 2 * size),
        "tile": (lambda h: h.tile([2 if n == axis else 1 for n in range(ndim)]), 2 * size),
        "repeat_interleave": (lambda h: h.repeat_interleave(2, axis), 2 * size),
        "cat": (lambda h: torch.cat([h, h.flip(axis)], axis), 2 * size),
        "chunks": (lambda h: torch.cat(h.split(1, axis)[::-1], axis), size),
        "stack": (lambda h: torch.stack(h.unbind(axis)[::-1], axis), size),
        "narrow": (lambda h: h.narrow(axis, 0, size - 1), size - 1),
    }  # fmt: skip
    if kind == C:
        del ways["stack"]  # one channel alone has none, and is no longer followed
    function, new = ways[chain.draw(*ways)]
    if 1 < new < 9:
        chain.do(function, chain.replaced(axis, ((kind, new),)))


def more(chain):
    """An axis more, of copies, or one less."""
    ndim = len(chain.names)
    place = chain.draw(*range(ndim + 1))
    added = [*chain.names[:place], ((P, 2),), *chain.names[place:]]
    ways = {
        "stack": (lambda h: torch.stack([h, -h], place), added),
        "expand": (lambda h: h.unsqueeze(place).expand(*h.shape[:place], 2, *h.shape[place:]), added),
        "repeat": (lambda h: h.repeat(2, *[1] * ndim), [((P, 2),), *chain.names]),
        "outer": (lambda h: h.unsqueeze(place) * torch.ones(2).view(2, *[1] * (ndim - place)), added),
        "one row, two columns": (lambda h: h[None] + h.flip(0)[None], [((P, 1),), *chain.names]),
    }
    if ndim < 5:
        chain.do(*ways[chain.draw(*ways)])


def less(chain):
    found = chain.axes(P)
    if found and len(chain.names) > 2:
        axis = chain.draw(*found)
        names = [*chain.names[:axis], *chain.names[axis + 1 :]]
        size = chain.names[axis][0][1]
        ways = {
            "mean": lambda h: h.mean(axis),
            "axis": lambda h: h.sum(axis=axis),
            "max": lambda h: h.max(axis).values,
            "norm": lambda h: torch.linalg.vector_norm(h, dim=axis),
            "select": lambda h: h.select(axis, -1),
            "getitem": lambda h: h[(slice(None),) * axis + (0,)],
            "product": lambda h: torch.tensordot(h, torch.rand(size), ([axis], [0])),
            "mv": lambda h: h.movedim(axis, -1) @ torch.ones(size),
            "squeeze": lambda h: h.narrow(axis, 0, 1).squeeze(axis),
        }
        chain.do(ways[chain.draw(*ways)], names)


def turn(chain):
    """Two axes change places in a copy."""
    one, other = chain.data.draw(st.permutations(range(len(chain.names))))[:2]
    names = list(chain.names)
    names[one], names[other] = names[other], names[one]
    ways = {
        "rot90": lambda h: torch.rot90(h, 1, (one, other)),
        "transpose_copy": lambda h: torch.transpose_copy(h, one, other),
        "twice": lambda h: torch.rot90(torch.rot90(torch.rot90(h, 1, (one, other)), 1, (one, other)), 1, (one, other)),
    }
    chain.do(ways[chain.draw(*ways)], names)


def index(chain):
    """Indices that add axes, take several at once, or put them first."""
    found = chain.axes(P)
    found = [axis for axis in found if chain.names[axis][0][1] > 1]
    if not found or len(chain.names) > 4:
        return
    axis = chain.draw(*found)
    before = (slice(None),) * axis
    size = chain.names[axis][0][1]
    pairs = torch.tensor([[0, 1, 0], [1, 1, 0]])
    ways = {
        "pairs": (lambda h: h[(*before, pairs)], chain.replaced(axis, ((P, 2),), ((P, 3),))),
        "new axis": (lambda h: h[(*before, None, pairs[1])], chain.replaced(axis, ((P, 1),), ((P, 3),))),
        "mask": (
            lambda h: h[(*before, torch.arange(size) != 0)], chain.replaced(axis, ((P, size - 1),)),
        ),
        "twice": (lambda h: h[(*before, pairs[0])][(*before, pairs[1])], chain.replaced(axis, ((P, 3),))),
    }  # fmt: skip
    if [N] in [roles(parts) for parts in chain.names]:
        image = next(n for n, parts in enumerate(chain.names) if roles(parts) == [N])
        first, last = sorted((image, axis))
        rows = torch.arange(chain.names[image][0][1])

        def each(h):  # one position of each sample, as CLIP takes the end of its text
            return h[tuple(rows if n == image else rows % size if n == axis else slice(None) for n in range(h.ndim))]

        rest = [parts for n, parts in enumerate(chain.names) if n not in (image, axis)]
        at = first if last == first + 1 else 0
        ways["each"] = each, [*rest[:at], chain.names[image], *rest[at:]]
    far = [n for n in chain.axes(P) if abs(n - axis) > 1]
    if far:
        other = chain.draw(*far)
        some = torch.tensor([0, 1, 0])
        rest = [parts for n, parts in enumerate(chain.names) if n not in (axis, other)]
        ways["two"] = (
            lambda h: h[tuple(some if n in (axis, other) else slice(None) for n in range(h.ndim))],
            [((P, 3),), *rest],
        )
    function, names = ways[chain.draw(*ways)]
    if len(names) > 1 and all(size > 1 or kind == P for parts in names for kind, size in parts):
        chain.do(function, names)


STEPS = {f.__name__: f for f in (permute, split, merge, pick, more, less, turn, index)}


def roles(parts):
    return [kind for kind, _ in groupby(kind for kind, size in parts if size > 1)]


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.data())
def test_random_chains_around_a_layer(data):
    images, tokens, width = (data.draw(st.sampled_from(sizes)) for sizes in ((2, 3), (2, 3, 4), (3, 4, 6)))
    first = data.draw(st.sampled_from(["linear", "conv"]))
    torch.manual_seed(0)
    layer = nn.Linear(3, width) if first == "linear" else nn.Conv1d(3, width, 1)
    x = torch.randn(images, tokens, 3) if first == "linear" else torch.randn(images, 3, tokens)
    names = [((N, images),), ((P, tokens),), ((C, width),)]
    chain = Chain(data, names if first == "linear" else [names[0], names[2], names[1]])
    done = data.draw(st.lists(st.sampled_from(sorted(STEPS)), max_size=5))
    for name in done:
        STEPS[name](chain)
    _, recorder = seen_in(Net(lambda net, x: torch.relu(chain.forward(net.layer(x))), layer=layer), x)
    (call,) = recorder.calls
    assert list(call.shape) == chain.sizes()
    if call.guessed:
        return
    wanted = [roles(parts) for parts in chain.names]
    if call.axes:
        assert [roles((part.role, part.size) for part in parts) for parts in call.axes] == wanted
    else:  # each axis is one of them, but the images may have positions behind them
        alone = {call.image_axis: N, call.channel_axis: C}
        found = [[alone.get(axis, P)] if size > 1 else [] for axis, size in enumerate(call.shape)]
        assert found == [kinds[:1] if kinds == [N, P] else kinds for kinds in wanted]


def points(listener):
    """What the only activation saw: (samples, positions, channels)."""
    (call,), (x,) = listener.calls, listener.inputs
    x, axis = images_first(call, x)
    return x.movedim(axis, -1).flatten(1, -2)


B, T, W = 6, 7, 8
ADJACENCY = torch.rand(T, T, generator=torch.Generator().manual_seed(3)).softmax(-1)


class Written(nn.Module):
    """A function of tokens (N, 7, 5) that is written in several ways, with the same weights in each."""

    def __init__(self, how):
        super().__init__()
        torch.manual_seed(0)
        self.how = how
        self.q, self.k, self.v = (nn.Linear(5, W) for _ in range(3))
        self.conv, self.last = nn.Conv1d(5, W, 3, padding=1), nn.Linear(W, 12)
        self.queries = nn.Parameter(torch.randn(4, W))
        self.register_buffer("a", ADJACENCY)
        self.register_buffer("bank", torch.rand(T, 9))
        self.mha = nn.MultiheadAttention(W, 1, bias=False, batch_first=True)
        with torch.no_grad():
            self.mha.in_proj_weight.copy_(torch.eye(W).repeat(3, 1))
            self.mha.out_proj.weight.copy_(torch.eye(W))

    def qkv(self, x):
        return self.q(x), self.k(x), self.v(x)

    def forward(self, x):
        return torch.relu(self.how(self, x))


def fused(*args, **kwargs):
    return F.scaled_dot_product_attention(*args, **kwargs)


def heads(z):
    return z.unflatten(-1, (2, 4)).transpose(1, 2)


def merged_heads(net, x):
    q, k, v = (heads(z).flatten(0, 1) for z in net.qkv(x))
    return torch.bmm(torch.bmm(q, k.mT).softmax(-1), v)


def induced(net, x):
    return net.queries @ net.k(x).mT @ net.v(x)


def learned_queries(scores, mix):
    def run(net, x):
        k, v, q = net.k(x), net.v(x), net.queries
        return mix((scores(q, k) / W**0.5).softmax(-1), v)

    return run


SCORES = {
    "@": lambda q, k: q @ k.mT,
    "from the right": lambda q, k: (k @ q.T).transpose(1, 2),
    "expanded": lambda q, k: q.expand(len(k), -1, -1) @ k.mT,
    "repeated, bmm": lambda q, k: torch.bmm(q[None].repeat(len(k), 1, 1), k.mT),
    "baddbmm": lambda q, k: torch.baddbmm(torch.zeros(()), q.expand(len(k), -1, -1), k.mT),
    "letters": lambda q, k: torch.einsum("qd,nkd->nqk", q, k),
    "ellipsis": lambda q, k: torch.einsum("...qd,...kd->...qk", q, k),
    "implicit": lambda q, k: torch.einsum("qd,bkd", q, k).mT,  # (N, tokens, queries), in the order of the letters
    "tensordot": lambda q, k: torch.tensordot(q, k, ([1], [2])).movedim(0, 1),
    "inner": lambda q, k: torch.inner(k, q).mT,
    "one by one": lambda q, k: torch.stack([k @ one for one in q], 1),
}
MIXES = {
    "@": lambda a, v: a @ v,
    "bmm": torch.bmm,
    "letters": lambda a, v: torch.einsum("nqk,nkd->nqd", a, v),
    "values first": lambda a, v: torch.einsum("nkd,nqk->nqd", v, a),
    "channels first": lambda a, v: v.mT @ a.mT,
    "a sum": lambda a, v: (a[..., None] * v[:, None]).sum(2),
    "weights of the layer": lambda a, v: torch.matmul(input=a, other=v),
}
FUSED = {
    "fused": lambda net, x: fused(net.queries.expand(len(x), -1, -1), net.k(x), net.v(x)),
    "by name": lambda net, x: fused(value=net.v(x), key=net.k(x), query=net.queries.expand(len(x), -1, -1)),
    "module": lambda net, x: net.mha(net.queries.expand(len(x), -1, -1), net.k(x), net.v(x))[0],
}

FUNCTIONS = {
    "learned queries": {
        **{f"{one}, {two}": learned_queries(SCORES[one], MIXES[two]) for one in SCORES for two in MIXES}, **FUSED
    },
    "graph convolution": {
        "@": lambda net, x: net.a @ net.v(x),
        "matmul": lambda net, x: torch.matmul(net.a, net.v(x)),
        "expanded": lambda net, x: torch.bmm(net.a.expand(len(x), T, T), net.v(x)),
        "einsum": lambda net, x: torch.einsum("vw,nwc->nvc", net.a, net.v(x)),
        "channels first": lambda net, x: net.v(x).mT @ net.a.T,
        "channels first, einsum": lambda net, x: torch.einsum("ncw,vw->ncv", net.v(x).mT, net.a),
        "tensordot": lambda net, x: torch.tensordot(net.v(x), net.a, ([1], [1])),
        "broadcast": lambda net, x: (net.v(x)[:, None] * net.a[..., None]).sum(2),
        "baddbmm": lambda net, x: torch.baddbmm(net.v(x), net.a.expand(len(x), T, T), net.v(x), beta=0),
        "one by one": lambda net, x: torch.stack([net.a @ one for one in net.v(x)]),
        "one by one, mm": lambda net, x: torch.stack([torch.mm(net.a, one) for one in net.v(x)]),
        "gathered": lambda net, x: torch.zeros(len(x), T, W).index_add_(
            1, torch.arange(T).repeat_interleave(T),
            net.v(x)[:, torch.arange(T).repeat(T)] * net.a.flatten()[:, None],
        ),
        "the weights last": lambda net, x: (net.a @ x) @ net.v.weight.T + net.v.bias,
        "all at once": lambda net, x: torch.einsum("vw,nwc,dc->nvd", net.a, x, net.v.weight) + net.v.bias,
    },
    "a graph from the data": {
        "@": lambda net, x: (net.q(x) @ net.k(x).mT).softmax(-1) @ net.v(x),
        "einsum": lambda net, x: torch.einsum(
            "nvw,nwc->nvc", torch.einsum("nvd,nwd->nvw", net.q(x), net.k(x)).softmax(-1), net.v(x)
        ),
        "fused": lambda net, x: fused(net.q(x), net.k(x), net.v(x), scale=1.0),
        "channels first": lambda net, x: net.v(x).mT @ (net.k(x) @ net.q(x).mT).softmax(-2),
        "channels first throughout": lambda net, x: (
            net.v(x).mT @ torch.einsum("ndw,ndv->nwv", net.k(x).mT, net.q(x).mT).softmax(1)
        ),
        "module": lambda net, x: net.mha(net.q(x) * W**0.5, net.k(x), net.v(x))[0],
    },
    "two heads": {
        "@": lambda net, x: (heads(net.q(x)) @ heads(net.k(x)).mT).softmax(-1) @ heads(net.v(x)),
        "fused": lambda net, x: fused(*map(heads, net.qkv(x)), scale=1.0),
        "merged": lambda net, x: merged_heads(net, x).unflatten(0, (-1, 2)),
        "left merged": lambda net, x: merged_heads(net, x),
        "einsum": lambda net, x: torch.einsum(
            "nhts,nshd->nthd",
            torch.einsum("nthd,nshd->nhts", *(z.unflatten(-1, (2, 4)) for z in net.qkv(x)[:2])).softmax(-1),
            net.v(x).unflatten(-1, (2, 4)),
        ),
        "put together": lambda net, x: (
            fused(*map(heads, net.qkv(x)), scale=1.0).transpose(1, 2).reshape(len(x), T, W)
        ),
    },
    "linear attention": {
        "@": lambda net, x: net.q(x) @ (net.k(x).mT @ net.v(x)),
        "einsum": lambda net, x: torch.einsum(
            "ntd,nde->nte", net.q(x), torch.einsum("nsd,nse->nde", net.k(x), net.v(x))
        ),
        "all at once": lambda net, x: torch.einsum("ntd,nsd,nse->nte", net.q(x), net.k(x), net.v(x)),
        "quadratic": lambda net, x: (net.q(x) @ net.k(x).mT) @ net.v(x),
        "channels first": lambda net, x: (net.v(x).mT @ net.k(x)) @ net.q(x).mT,
    },
    "resampled after a convolution": {
        "@": lambda net, x: net.conv(x.mT) @ net.bank,
        "einsum": lambda net, x: torch.einsum("nct,ts->ncs", net.conv(x.mT), net.bank),
        "channels last": lambda net, x: net.bank.T @ net.conv(x.mT).mT,
    },
    "resampled before a convolution": {
        "@": lambda net, x: net.conv(x.mT @ net.bank),
        "channels last": lambda net, x: net.conv((net.bank.T @ x).mT),
        "einsum": lambda net, x: net.conv(torch.einsum("ntc,ts->ncs", x, net.bank)),
    },
    "mixing of tokens": {
        "@": lambda net, x: net.bank.T @ net.v(x),
        "einsum": lambda net, x: torch.einsum("ts,ntc->nsc", net.bank, net.v(x)),
        "tensordot": lambda net, x: torch.tensordot(net.v(x), net.bank, ([1], [0])),
        "baddbmm": lambda net, x: torch.baddbmm(torch.zeros(1, W, 9), net.v(x).mT, net.bank.expand(len(x), -1, -1)),
    },
    "induced points": {
        "@": lambda net, x: net.last((net.k(x) @ induced(net, x).mT).softmax(-1) @ induced(net, x)),
        "fused": lambda net, x: net.last(fused(net.k(x), induced(net, x), induced(net, x), scale=1.0)),
    },
    "a matrix of weights": {
        "@": lambda net, x: net.v(x) @ net.last.weight.T,
        "from the left": lambda net, x: net.last.weight @ net.v(x).mT,
        "einsum": lambda net, x: torch.einsum("ntc,dc->ntd", net.v(x), net.last.weight),
        "linear": lambda net, x: F.linear(net.v(x), net.last.weight),
        "convolution": lambda net, x: F.conv1d(net.v(x).mT, net.last.weight[..., None]),
        "addmm": lambda net, x: torch.addmm(
            torch.zeros(12), net.v(x).flatten(0, 1), net.last.weight.T
        ).view(len(x), T, 12),
        "addmm by name": lambda net, x: torch.addmm(
            mat2=net.last.weight.T, mat1=net.v(x).flatten(0, 1), input=torch.zeros(12)
        ).view(len(x), T, 12),
    },
}  # fmt: skip
WIDTHS = dict.fromkeys(FUNCTIONS, W) | {"induced points": 12, "a matrix of weights": 12}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_written_in_several_ways_has_the_same_rows(function):
    x = torch.randn(B, T, 5, generator=torch.Generator().manual_seed(1))
    wanted = None
    wrong = []
    for name, how in FUNCTIONS[function].items():
        listener, recorder = seen_in(Written(how), x)
        (call,) = recorder.calls
        found = points(listener)
        if wanted is None:
            wanted = found
        if (
            call.guessed
            or found.shape[-1] != WIDTHS[function]
            or found.shape != wanted.shape
            or not torch.allclose(found, wanted, atol=1e-5)
        ):
            wrong.append((name, call.guessed, tuple(found.shape), call.axes or call.channel_axis))
    assert not wrong


def stgcn(net, x):
    """A spatio-temporal graph convolution, whose layer makes channels for each of two neighbourhoods."""
    h = F.conv2d(x.mT[..., None].expand(-1, -1, -1, 3).transpose(2, 3), net.v.weight[..., None, None])  # (N, 8, 3, T)
    return torch.einsum("nkctv,kvw->nctw", h.unflatten(1, (2, 4)), torch.stack([net.a, net.a]))


def slots(net, x):
    logits = torch.einsum("sd,ntd->nts", net.queries, net.k(x))
    weights = logits.softmax(-1)
    return torch.einsum("nts,ntd->nsd", weights / weights.sum(1, keepdim=True), net.v(x))


def graph_attention(net, x):
    one, other = net.k(x)[..., :1], net.k(x)[..., 1:2]
    return F.softmax(F.leaky_relu(one + other.mT), -1) @ net.v(x)


def cross_covariance(net, x):
    q, k, v = (z.mT for z in net.qkv(x))  # (N, channels, tokens)
    return (q @ k.mT).softmax(-1) @ v


OTHERS = {
    # what runs: (the axis of the channels, their number, whether it is a guess)
    "slots": (slots, 2, W, False),
    "attention of a graph": (graph_attention, 2, W, False),
    "its scores": (lambda net, x: net.k(x)[..., :1] + net.k(x)[..., 1:2].mT, 2, T, True),
    "scores": (lambda net, x: net.q(x) @ net.k(x).mT, 2, T, True),
    "scores of heads": (lambda net, x: heads(net.q(x)) @ heads(net.k(x)).mT, 1, 2, False),
    "distances": (lambda net, x: torch.cdist(net.q(x), net.k(x)), 2, T, True),
    "distances to constants": (lambda net, x: torch.cdist(net.q(x), net.queries), 2, 4, False),
    "bilinear pooling": (lambda net, x: net.q(x).mT @ net.v(x), 2, W, True),
    "bilinear pooling, flattened": (lambda net, x: (net.q(x).mT @ net.v(x)).flatten(1), 1, W * W, False),
    "tokens that are learned": (lambda net, x: net.k(x).softmax(1).mT @ net.v(x), 2, W, True),
    "and a layer": (lambda net, x: net.last(net.k(x).softmax(1).mT @ net.v(x)), 2, 12, False),
    "outer product": (lambda net, x: net.k(x)[..., None] * net.v(x)[..., None, :], 2, W, True),
    "gates of tokens": (lambda net, x: torch.einsum("nt,ntc->ntc", x.mean(2) @ net.a, net.v(x)), 2, W, False),
    "gates that a layer made": (
        lambda net, x: torch.einsum("nt,ntc->ntc", F.linear(x.mean(2), net.a), net.v(x)), 2, W, True
    ),
    "cross-covariance": (cross_covariance, 1, W, False),
    "cross-covariance, fused": (lambda net, x: fused(*(z.mT for z in net.qkv(x))), 1, W, False),
    "heads and one key": (
        lambda net, x: (heads(net.q(x)) @ net.k(x)[:, None, :, :4].mT) @ heads(net.v(x)), 3, W, False
    ),
    "one key and value": (
        lambda net, x: (heads(net.q(x)) @ net.k(x)[:, None, :, :4].mT) @ net.v(x)[:, None, :, :4], 3, 4, True
    ),
    "one key and value, fused": (
        lambda net, x: fused(
            heads(net.q(x)), *(z[:, None, :, :4].expand(-1, 2, -1, -1) for z in (net.k(x), net.v(x)))
        ), 3, 4, True,
    ),
    "queries and keys in groups": (
        lambda net, x: fused(
            net.q(x).unflatten(-1, (4, 2)).transpose(1, 2),
            *(heads(z)[..., :2].repeat_interleave(2, 1) for z in (net.k(x), net.v(x))),
        ), 3, W, False,
    ),
    "in groups, a copy of an expansion": (
        lambda net, x: fused(
            net.q(x).unflatten(-1, (4, 2)).transpose(1, 2),
            *(heads(z)[..., None, :, :2].expand(-1, -1, 2, -1, -1).reshape(-1, 4, T, 2) for z in (net.k(x), net.v(x))),
        ), 3, W, False,
    ),
    "learned queries of products": (
        lambda net, x: fused(
            net.queries.expand(len(x), -1, -1), x @ net.k.weight.T, x @ net.v.weight.T
        ), 2, W, False,
    ),
    "learned queries of products, apart": (
        lambda net, x: (net.queries @ (x @ net.k.weight.T).mT).softmax(-1) @ (x @ net.v.weight.T), 2, W, True
    ),
    "a memory": (
        lambda net, x: fused(
            net.q(x), *(z.expand(len(x), -1, -1) for z in (net.queries, net.queries))
        ), 2, W, False,
    ),
    "heads that talk": (
        lambda net, x: torch.einsum("nhts,hg->ngts", heads(net.q(x)) @ heads(net.k(x)).mT, net.bank[:2, :3]),
        1, 3, False,
    ),
    "a spatio-temporal graph": (stgcn, 1, 4, True),
    "and a norm": (lambda net, x: F.instance_norm(stgcn(net, x)), 1, 4, False),
    "a map of one vector": (lambda net, x: net.q(x.mean(1)).view(-1, 2, 2, 2), 3, W, False),
    "and a convolution": (
        lambda net, x: F.conv2d(net.q(x.mean(1)).view(-1, 2, 2, 2), torch.ones(3, 2, 3, 3), padding=1), 1, 3, False
    ),
    "and a batch norm": (
        lambda net, x: F.batch_norm(net.q(x.mean(1)).view(-1, 2, 2, 2), torch.zeros(2), torch.ones(2)), 1, 2, False
    ),
    "tokens that came flat": (lambda net, x: net.v(x.flatten(1).unflatten(1, (T, 5))), 2, W, False),
    "pixels from channels": (lambda net, x: F.pixel_shuffle(net.conv(x.mT)[..., None], 2), 1, 2, False),
    "and only one is left": (
        lambda net, x: F.pixel_shuffle(net.conv(x.mT)[:, :4, :, None].expand(-1, -1, -1, 4), 2), 1, 1, False
    ),
    "larger": (lambda net, x: F.interpolate(net.conv(x.mT), scale_factor=3.0), 1, W, False),
    "looked up": (
        lambda net, x: F.grid_sample(net.conv(x.mT)[..., None], x[:, :, None, :2], align_corners=False), 1, W, False
    ),
    "a recurrent layer": (lambda net, x: net.gru(net.v(x))[0], 2, 6, False),
    "half of it": (lambda net, x: F.glu(net.v(x)), 2, 4, False),
    "taken by the data": (
        lambda net, x: net.v(x).gather(1, x.mean(2).topk(4).indices[..., None].expand(-1, -1, W)), 2, W, False
    ),
    "taken by the data, along": (
        lambda net, x: torch.take_along_dim(net.v(x), net.k(x).argsort(1), 1), 2, W, False
    ),
    "medians": (lambda net, x: net.v(x.unflatten(1, (1, T))).median(2).values, 2, W, False),
    "quantiles": (lambda net, x: torch.quantile(net.conv(x.mT)[:, :, None].tile(3, 1), 0.5, dim=2), 1, W, False),
    "another axis": (lambda net, x: torch.vander(net.q(x.mean(1))[0], 3)[None].expand(len(x), -1, -1), 2, 3, True),
    "of channels without a name": (lambda net, x: F.linear(x, net.v.weight) * torch.ones(W), 2, W, False),
    "turned in place": (lambda net, x: net.v(x).transpose_(1, 2) * 2, 2, T, True),
    "a product without dims": (
        lambda net, x: torch.tensordot(net.v(x)[..., None], torch.ones(W, 1, 3)).unsqueeze(1), 3, 3, False
    ),
    "one channel times a constant": (lambda net, x: net.v(x)[..., :1] * torch.ones(3), 2, 3, True),
    "two that contradict each other": (lambda net, x: net.v(x)[..., :T] + net.v(x)[..., :T].mT, 2, T, True),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_known_and_what_is_a_guess(name):
    run, axis, width, guessed = OTHERS[name]
    net = Written(run)
    net.gru = nn.GRU(W, 6, batch_first=True)
    _, recorder = seen_in(net, torch.randn(B, T, 5, generator=torch.Generator().manual_seed(1)))
    call = recorder.calls[-1]
    assert (call.channel_axis, call.channels, call.guessed) == (axis, width, guessed)
