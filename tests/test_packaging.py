"""What is installed is what is in the tree: every package, every template, every script."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
TOP = ("forge", "sandbox", "solvers", "terminal_task_forge")


def test_every_package_is_listed():
    found = {".".join(init.parent.relative_to(ROOT).parts) for top in TOP for init in (ROOT / top).rglob("__init__.py")}
    assert set(SETUPTOOLS["packages"]) == found | {"forge.templates"}


def test_files_beside_the_code_are_package_data():
    for top in TOP:
        for path in (ROOT / top).rglob("*"):
            if path.is_file() and path.suffix not in (".py", ".pyc"):
                package = ".".join(path.relative_to(ROOT).parts[:-1])
                owner = max((name for name in SETUPTOOLS["package-data"] if package.startswith(name)), key=len)
                folder = ROOT.joinpath(*owner.split("."))
                patterns = SETUPTOOLS["package-data"][owner]
                assert any(path in folder.glob(pattern) for pattern in patterns), path
