import pytest

from affscore.errors import AffscoreError
from affscore.models.weight_files import cached_repositories, from_hub

client = pytest.importorskip("huggingface_hub")


def found(*names):
    return from_hub("org/name", list(names), "hf:org/name", "transformers", "get it elsewhere")


def test_what_is_in_the_cache_is_found_before_the_hub_is_asked(repository):
    (repository("org/name") / "b.bin").write_text("weights")
    assert found("a.bin", "b.bin").read_text() == "weights"
    assert cached_repositories() == ["org/name"]


def test_the_hub_is_asked_for_each_file_in_turn(repository, monkeypatch, tmp_path):
    asked = []

    def metadata(url, timeout):
        asked.append(url)
        assert 0 < timeout <= 10
        if url.endswith("a.bin"):
            raise client.utils.EntryNotFoundError("404")

    monkeypatch.setattr(client, "get_hf_file_metadata", metadata)
    monkeypatch.setattr(client, "hf_hub_download", lambda repository, filename: str(tmp_path / filename))
    assert found("a.bin", "b.bin") == tmp_path / "b.bin"
    assert asked == [f"https://huggingface.co/org/name/resolve/main/{letter}.bin" for letter in "ab"]
    with pytest.raises(AffscoreError, match=r"the repository has no such file\); get it elsewhere$"):
        found("a.bin")


def test_offline_mode_is_respected(repository, monkeypatch):
    monkeypatch.setattr(client.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(AffscoreError, match=r"could not be downloaded \(OfflineModeIsEnabled"):
        found("a.bin")
