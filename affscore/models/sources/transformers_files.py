"""Where a network of the package transformers lies: a folder, a configuration alone, or a repository of the hub."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from affscore.errors import AffscoreError, guarded
from affscore.models.downloads import cached_repositories, first_of, hub_url
from affscore.models.naming import near
from affscore.models.paths import readable_file, user_path

WEIGHTS = ["model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json"]


@dataclass(frozen=True)
class Place:
    """Where a configuration lies, and what lies beside it.

    Attributes:
        name: MODEL as results carry it, without a path.
        config: The configuration.
        repository: The name of the repository that it is from; None for a folder or a file of the user's.
    """

    name: str
    config: Path
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
        if path.is_dir():
            path /= "config.json"
            if not path.is_file():
                raise AffscoreError(f"the folder {text!r} holds no config.json, which says what network it is")
        if path.is_file():
            return cls(f"hf:{path.parent.resolve().name if path.name == 'config.json' else path.name}", path)
        if text.endswith(".json") or text.startswith(("/", ".", "~")) or text.count("/") > 1:
            raise AffscoreError(f"file not found: there is no folder or configuration {text!r}")
        advice = (
            f"{near(text, cached_repositories())}; get config.json and the weights of https://huggingface.co/{text} "
            "elsewhere, put them into a folder, and give it as hf:FOLDER"
        )
        return cls(name, first_of(text, ["config.json"], name, "transformers", after=advice), repository=text)

    def first(self, filenames: list[str]) -> Path:
        """The first of these files that is there, or can be had.

        Raises:
            AffscoreError: There is none.
        """
        for filename in filenames if self.config.name == "config.json" else []:  # to another name nothing belongs
            if (self.config.parent / filename).exists():
                return self.config.parent / filename
        if self.repository is None:
            raise AffscoreError(
                f"there are no trained weights ({filenames[0]}) beside the configuration of {self.name}; put them "
                f"there, or write {self.name}@random or {self.name}@FILE"
            )
        advice = f"; get {hub_url(self.repository, filenames[0])} elsewhere and give it as {self.name}@FILE, "
        advice += f"or write {self.name}@random"
        return first_of(self.repository, filenames, self.name, "transformers", after=advice)

    def weights(self) -> list[Path]:
        """The files of the trained weights: one, or all that an index names."""
        index = self.first(WEIGHTS)
        if index.suffix != ".json":
            return [index]
        what = f"the file {index.name!r} is no index of weights"
        stated = guarded(lambda: json.loads(readable_file(index).read_text(encoding="utf-8")), what)
        files = guarded(lambda: [index.parent / name for name in {*stated["weight_map"].values()}], what)
        if not files:
            raise AffscoreError(f"{what}: it names no file")
        return sorted(self.first([file.name]) if self.repository else file for file in files)

    def beside(self, filename: str) -> Path | None:
        """Another file of the same place, if it is there or can be had."""
        try:
            file = self.first([filename])
        except AffscoreError:
            return None
        return file if file.is_file() else None
