"""``python -m affscore.cli`` is the command ``affscore``."""

from affscore.cli import main

if __name__ == "__main__":
    main()
