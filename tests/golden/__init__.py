"""Results as they were before a refactoring, and the script that writes them anew.

python -m tests.golden   # after a change of results that is meant: look at the difference, and declare it
"""
