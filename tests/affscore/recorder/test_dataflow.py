from dataclasses import dataclass

import pytest
import torch

from affscore.recorder.dataflow import Dataflow, Origin, merged, tensors_in


@dataclass
class Result:
    hidden: torch.Tensor
    others: list[torch.Tensor]


def test_views_share_the_origin_and_copies_do_not():
    flow, x = Dataflow(), torch.zeros(2, 6)
    flow.mark(x, Origin(1))
    for view in (x[:, :2], x.view(3, 4), x.T, x.chunk(2, dim=1)[1], x.detach(), x[0, 0]):
        assert flow.origin(view) == Origin(1)
    assert flow.origin(x.clone()) is None
    flow.mark(x[:, :2], Origin(5))  # written through one view, seen through all
    assert flow.origin(x.T) == Origin(5)


def test_merging_takes_the_deepest_path_and_the_latest_activation():
    flow = Dataflow()
    shallow, deep, table, image = (torch.zeros(2) for _ in range(4))
    flow.mark(shallow, Origin(1, last_activation=7, activation=7))
    flow.mark(deep, Origin(4, last_activation=3, summed=True))
    flow.mark(image, Origin(0))
    assert merged(map(flow.origin, [shallow, deep, table, image])) == Origin(4, last_activation=7)
    assert merged(map(flow.origin, [image, table])) == Origin(0)
    assert merged(map(flow.origin, [table])) is None
    assert merged(map(flow.origin, [])) is None


def test_an_address_that_is_used_again_does_not_inherit_an_origin():
    flow, seen, again = Dataflow(), set(), 0
    for _ in range(200):
        x = torch.zeros(1000)
        again += x.data_ptr() in seen
        seen.add(x.data_ptr())
        assert flow.origin(x) is None
        flow.mark(x, Origin(1))
        del x
    assert again > 0  # the memory is free for others, although it is remembered


def test_tensors_in_nested_results():
    a, b, c, d = (torch.full((1,), float(i)) for i in range(4))
    pair = torch.sort(d)  # a named tuple
    found = list(tensors_in([a, (b, None, "text", 3.0), {"k": [c]}, pair]))
    assert [tensor.item() for tensor in found] == [0.0, 1.0, 2.0, 3.0, 0.0]
    assert list(tensors_in(None)) == []
    assert tensors_in(Result(a, [b])) == [a, b]


def test_parts_that_are_written_one_after_the_other_keep_their_origins():
    flow, x = Dataflow(), torch.zeros(2, 6)
    flow.mark(x, Origin(1))
    flow.mark(x[:, 3:], Origin(5), part=True)
    flow.mark(x[:, :3], Origin(2), part=True)
    assert (flow.origin(x[:, 3:]), flow.origin(x[:, :3])) == (Origin(5), Origin(2))
    flow.mark(x[:, :1], Origin(0))  # and not as a part: of all that is there
    assert flow.origin(x) == Origin(0)


@pytest.mark.parametrize("part", [lambda z: torch.view_as_real(z)[..., 0], lambda z: z.imag])
def test_parts_that_are_looked_at_as_another_type(part):
    flow, z = Dataflow(), torch.zeros(4, 6, dtype=torch.complex64)
    flow.mark(z, Origin(1))
    flow.mark(part(z), Origin(3), part=True)
    assert flow.origin(z).depth == 3
