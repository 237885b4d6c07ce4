"""Where a network of the package transformers lies: a folder, a configuration alone, or a repository of the hub."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from affscore.errors import AffscoreError, first_line
from affscore.zoo.paths import readable_file, user_path
from affscore.zoo.sources.hub import HubFileMissingError, cached_repositories, first_of, hub_url
from affscore.zoo.sources.naming import near

__all__ = ["Place", "each_once"]

WEIGHTS = ["model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json"]


@dataclass(frozen=True)
class Place:
    """Where a configuration lies, and what lies beside it.

    Attributes:
        name: MODEL as results carry it, without a path.
        config: The configuration.
        folder: Its folder; None where the configuration stands alone, or is from a repository.
        repository: The name of the repository.
    """

    name: str
    config: Path
    folder: Path | None = None
    repository: str | None = None

    @classmethod
    def find(cls, name: str) -> Place:
        """What ``hf:NAME`` means.

        Raises:
            AffscoreError: There is no such folder, file or repository.
        """
        text = name.removeprefix("hf:")
        if not text:
            raise AffscoreError("hf: needs a name, as in hf:org/name, hf:path/to/folder or hf:path/to/config.json")
        path = user_path(text)
        if path.is_file() and path.name == "config.json":
            path = path.parent
        if path.is_dir():
            if not (path / "config.json").is_file():
                raise AffscoreError(f"the folder {text!r} holds no config.json, which says what network it is")
            return cls(f"hf:{path.resolve().name}", path / "config.json", folder=path)
        if path.is_file():
            return cls(f"hf:{path.name}", path)
        if text.endswith(".json") or text.startswith(("/", ".", "~")) or text.count("/") > 1:
            raise AffscoreError(f"file not found: there is no folder or configuration {text!r}")
        try:
            return cls(name, first_of(text, ["config.json"], name, "transformers"), repository=text)
        except HubFileMissingError as error:
            raise AffscoreError(
                f"{error}{near(text, cached_repositories())}; get config.json and the weights of "
                f"https://huggingface.co/{text} elsewhere, put them into a folder, and give it as hf:FOLDER"
            ) from error

    def first(self, filenames: list[str]) -> Path:
        """The first of these files that is there, or can be had.

        Raises:
            AffscoreError: There is none.
        """
        if self.repository is None:
            for filename in filenames if self.folder else []:
                if (self.config.parent / filename).exists():
                    return self.config.parent / filename
            raise AffscoreError(
                f"there are no trained weights ({filenames[0]}) beside the configuration of {self.name}; put them "
                f"there, or write {self.name}@random or {self.name}@FILE"
            )
        try:
            return first_of(self.repository, filenames, self.name, "transformers")
        except HubFileMissingError as error:
            raise AffscoreError(
                f"{error}; get {hub_url(self.repository, filenames[0])} elsewhere and give it as {self.name}@FILE, "
                f"or write {self.name}@random"
            ) from error

    def weights(self) -> list[Path]:
        """The files of the trained weights: one, or all that an index names."""
        index = self.first(WEIGHTS)
        if index.suffix != ".json":
            return [index]
        try:
            stated = json.loads(readable_file(index).read_text(encoding="utf-8"), object_pairs_hook=each_once)
            names = sorted(set(stated["weight_map"].values()))
            safe = all(isinstance(name, str) and name == Path(name).name for name in names)
        except AffscoreError:
            raise
        except Exception as error:
            raise AffscoreError(f"the file {index.name!r} is no index of weights ({first_line(error)})") from error
        if not names or not safe:
            raise AffscoreError(f"the file {index.name!r} names no files beside it")
        return [self.first([name]) if self.repository else index.parent / name for name in names]

    def beside(self, filename: str) -> Path | None:
        """Another file of the same place, if it is there or can be had."""
        try:
            file = self.first([filename])
        except AffscoreError:
            return None
        return file if file.is_file() else None


def each_once(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """A dictionary of JSON, for ``json.loads(..., object_pairs_hook=each_once)``.

    Raises:
        ValueError: It has two entries of a name, of which readers take different ones.
    """
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"it has two entries {name!r}")
        found[name] = value
    return found
