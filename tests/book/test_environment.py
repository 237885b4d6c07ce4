"""environment.yml, requirements.lock and pyproject.toml say the same, for each platform that is supported."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import affscore

REPOSITORY = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
DIRECT = [
    Requirement(line)
    for group in [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    for line in group
]
SYSTEMS = {"linux": ("Linux", "x86_64"), "darwin": ("Darwin", "arm64")}
ENVIRONMENTS = [(python, system) for python in ("3.11", "3.12") for system in SYSTEMS]


def pins(python: str, platform: str) -> dict[str, str]:
    """Name -> version of what the lock installs there."""
    system, machine = SYSTEMS[platform]
    environment = dict(default_environment()) | {
        "python_version": python,
        "python_full_version": f"{python}.7",
        "sys_platform": platform,
        "platform_system": system,
        "platform_machine": machine,
    }
    selected: dict[str, str] = {}
    lines = (REPOSITORY / "requirements.lock").read_text().splitlines()
    assert not [line for line in lines if "index-url" in line]
    for line in lines:
        if line and not line.lstrip().startswith("#"):
            pin = Requirement(line)
            if pin.marker is None or pin.marker.evaluate(environment):
                assert pin.name not in selected, f"{pin.name} is pinned twice for {platform}, Python {python}"
                (specifier,) = pin.specifier
                assert specifier.operator == "==", line
                selected[pin.name] = specifier.version
    return selected


@pytest.mark.parametrize(("python", "platform"), ENVIRONMENTS)
def test_every_direct_dependency_is_pinned_within_its_range(python: str, platform: str) -> None:
    locked = pins(python, platform)
    assert "setuptools" in locked  # pip install --no-build-isolation needs it
    for requirement in DIRECT:
        name = requirement.name.lower()
        assert name in locked, f"{name} is not in requirements.lock for {platform}, Python {python}: make lock"
        assert requirement.specifier.contains(locked[name]), f"{requirement} against {locked[name]}: make lock"


def test_environment_yml_installs_the_lock_and_both_packages() -> None:
    environment = yaml.safe_load((REPOSITORY / "environment.yml").read_text())
    *conda, from_pip = environment["dependencies"]
    assert from_pip == {"pip": ["-r requirements.lock", "-e .", "-e ./notebooks"]}
    assert "pip" in conda
    (python,) = [entry.removeprefix("python=") for entry in conda if entry.startswith("python=")]
    assert SpecifierSet(PROJECT["requires-python"]).contains(python)


def test_every_import_of_the_library_is_declared_and_every_dependency_is_imported() -> None:
    names = {"PIL": "pillow", "sklearn": "scikit-learn"}
    of_extras = {"accelerate", "distributed", "huggingface_hub", "lightning", "timm", "tokenizers", "transformers"}
    used = set()
    for file in (REPOSITORY / "affscore").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                used |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                used.add(node.module.partition(".")[0])
    used = {names.get(name, name) for name in used - sys.stdlib_module_names - {"affscore"}}
    assert used - of_extras == {Requirement(line).name for line in PROJECT["dependencies"]}


def make(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", *map(str, words)], cwd=REPOSITORY, capture_output=True, text=True, check=False)


def test_make_installs_nothing_into_an_environment_of_conda(tmp_path: Path) -> None:
    assert "pip install" in make("-n", "test", f"VENV={tmp_path}").stdout
    (tmp_path / "conda-meta").mkdir()
    plan = make("-n", "test", f"VENV={tmp_path}").stdout
    assert f"{tmp_path}/bin/python -m pytest" in plan
    assert "pip install" not in plan


def test_make_leaves_the_environment_of_another_clone_alone(tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=False)
    (site,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    (tmp_path / "clone/affscore").mkdir(parents=True)
    (tmp_path / "clone/affscore/__init__.py").touch()
    (site / "editable.pth").write_text(f"{tmp_path}/clone\n")
    (tmp_path / "venv/.installed").touch()
    before = sorted(tmp_path.rglob("*"))
    done = make("student", f"VENV={tmp_path}/venv")
    assert done.returncode != 0
    assert f"error: {tmp_path}/venv is the environment of {tmp_path}/clone: omit VENV" in done.stderr
    assert sorted(tmp_path.rglob("*")) == before
    for home in (REPOSITORY, ""):  # this clone, or none
        (site / "editable.pth").write_text(f"{home}\n")
        assert make("own-environment", f"VENV={tmp_path}/venv").returncode == 0


def test_the_version_is_the_same_everywhere() -> None:
    cited = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text())
    lines = (REPOSITORY / "CHANGELOG.md").read_text().splitlines()
    first = next(line for line in lines if line.startswith("## ") and not line.endswith("(unreleased)"))
    companion = tomllib.loads((REPOSITORY / "notebooks" / "pyproject.toml").read_text())["project"]["version"]
    assert PROJECT["version"] == companion == affscore.__version__ == cited["version"] == first.split()[1].rstrip(",")
