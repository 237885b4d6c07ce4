"""Networks measured in several threads, and networks that start threads, or transforms of functions, themselves."""

import threading
import time

import pytest
import torch
from torch import nn

from affscore import signature
from tests.affscore.recorder.hard_networks import Net


def tokens(n=64):
    return torch.randn(n, 5, 8, generator=torch.Generator().manual_seed(0))


def measured(network):
    return signature(network, tokens(), n=64, batch_size=32, criteria=False, progress=False)


class Meeting(nn.Module):
    """Its first forward pass says that it has begun, and waits a little for something."""

    def __init__(self, begun, awaited):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = nn.Linear(8, 12), nn.TransformerEncoderLayer(12, 2, 16, batch_first=True)
        self.begun, self.awaited = begun, awaited

    def forward(self, x):
        y = torch.relu(self.first(x))
        if not self.begun.is_set():
            self.begun.set()
            self.awaited.wait(0.5)
        return self.second(y)


def in_threads(*networks):
    """What each thread has measured, or its error; the threads start one after the other."""
    found = [None] * len(networks)

    def run(place, network):
        try:
            found[place] = measured(network).scores.tolist()
        except BaseException as error:  # noqa: BLE001
            found[place] = error

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(networks)]
    for thread in threads:
        thread.start()
        time.sleep(0.05)
    for thread in threads:
        thread.join()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("same", [True, False])
def test_networks_are_measured_one_at_a_time(same):
    """Without a lock, the first would end while the second runs, which then keeps what it found as what was before."""
    events = [threading.Event() for _ in range(3)]
    one = Meeting(events[0], events[1]).train()
    other = one if same else Meeting(events[1], events[2]).train()
    expected = measured(Meeting(threading.Event(), threading.Event())).scores.tolist()
    fast_path = torch.backends.mha.get_fastpath_enabled()
    try:
        assert in_threads(one, other) == [expected, expected]
        assert torch.backends.mha.get_fastpath_enabled() == fast_path
    finally:
        torch.backends.mha.set_fastpath_enabled(fast_path)
    for module in (*one.modules(), *other.modules()):
        assert module.training
        assert not module._forward_hooks
        assert not module._forward_pre_hooks


def test_a_network_that_is_used_by_another_thread_meanwhile():
    """What that thread runs is none of the measurement's, but for a note."""
    begun, done = threading.Event(), threading.Event()
    network = Meeting(begun, done)

    def use():
        begun.wait(5)
        with torch.no_grad():
            network(tokens(3))
        done.set()

    thread = threading.Thread(target=use)
    thread.start()
    result = measured(network)
    thread.join()
    assert result.summary["layer"].tolist() == ["(root)", "second"]
    assert result.scores.tolist() == measured(Meeting(threading.Event(), done)).scores.tolist()
    assert any("ran in another thread" in note for note in result.notes)


def beside(what):
    """A ReLU, and something else in a thread of its own."""

    def run(net, x):
        y, found = torch.relu(net.first(x)), []
        thread = threading.Thread(target=lambda: found.append(what(net, x)))
        thread.start()
        thread.join()
        return y + found[0]

    return Net(run, first=nn.Linear(8, 12), second=nn.Linear(8, 12), act=nn.SiLU())


def test_a_module_that_runs_in_a_thread_of_the_network_is_noted():
    result = measured(beside(lambda net, x: net.act(net.second(x))))
    assert result.summary["activation"].tolist() == ["relu"]
    assert "layer 'act', layer 'second' ran in another thread, where no activation is seen" in result.notes
