"""Many small computations in order, with or without a bar."""

from companion.activations import run_all


def test_run_all_keeps_the_order_and_shows_a_bar(capsys):
    table = run_all(lambda *pair: [{"quotient": pair[0] // pair[1]}] * 2, [(9, 2), (5, 3), (1, 1)], 1, progress=True)
    assert table["quotient"].tolist() == [4, 4, 1, 1, 1, 1]
    assert "3/3" in capsys.readouterr().err
