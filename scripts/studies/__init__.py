"""The studies of the appendices: networks trained for them, measured, and gathered in a table each."""
