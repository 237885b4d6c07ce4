from __future__ import annotations

from pathlib import Path

import pytest

from tests.book.small_book import SmallBook


@pytest.fixture
def small_book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallBook:
    monkeypatch.chdir(tmp_path)
    return SmallBook(tmp_path)
