"""Where networks come from: one module for each source, each with names and a function that loads one."""
