"""What "Are All Linear Regions Created Equal?" prints and says: a module a figure, table or poster."""

PAPER = "Are All Linear Regions Created Equal?"
