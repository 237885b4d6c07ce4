"""What "Nonlinear Advantage" says: its abstracts, since its text was not at hand."""

PAPER = "Nonlinear Advantage"
