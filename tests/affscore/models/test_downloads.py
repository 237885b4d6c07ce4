import pytest

from affscore.errors import AffscoreError
from affscore.models.downloads import cached_repositories, first_of, hub_url

client = pytest.importorskip("huggingface_hub")


def test_what_is_in_the_cache_is_found_before_the_hub_is_asked(repository):
    (repository("org/name") / "b.bin").write_text("weights")
    assert first_of("org/name", ["a.bin", "b.bin"], "hf:org/name", "transformers").read_text() == "weights"
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
    assert first_of("org/name", ["a.bin", "b.bin"], "hf:org/name", "transformers") == tmp_path / "b.bin"
    assert asked == [f"https://huggingface.co/org/name/resolve/main/{letter}.bin" for letter in "ab"]
    with pytest.raises(AffscoreError, match=r"the repository 'org/name' has no a.bin"):
        first_of("org/name", ["a.bin"], "hf:org/name", "transformers")


def test_offline_mode_is_respected(repository, monkeypatch):
    monkeypatch.setattr(client.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(AffscoreError, match=r"could not be downloaded \(OfflineModeIsEnabled"):
        first_of("org/name", ["a.bin"], "hf:org/name", "transformers")


@pytest.mark.parametrize("name", ["a b", "-x", "a/b/c", "", "x" * 200])
def test_names_that_no_repository_has(name):
    with pytest.raises(AffscoreError, match="it is no name on the Hugging Face hub"):
        hub_url(name, "config.json")
