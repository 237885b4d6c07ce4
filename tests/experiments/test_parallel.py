"""Many small computations in order, with or without a bar."""

from affscore.experiments.parallel import run_all


def test_run_all_keeps_the_order_and_shows_a_bar(capsys):
    assert run_all(divmod, [(9, 2), (5, 3), (1, 1)], progress=True) == [(4, 1), (1, 2), (1, 0)]
    assert "3/3" in capsys.readouterr().err
