"""The structure that everything stands on, held by reading every syntax tree: imports point down, none is hidden in a
function, one file alone imports each big SDK, the domain does no I/O, files and functions stay small."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]

OWN = ("forge", "sandbox", "solvers", "terminal_task_forge")

# Which of our packages each may import, besides itself.
MAY_IMPORT = {
    "sandbox": set(),
    "solvers": {"sandbox"},
    "forge.domain": {"sandbox", "solvers"},
    "forge.storage": {"sandbox", "solvers", "forge.domain"},
    "forge.rehearsal": {"sandbox", "solvers", "forge.domain", "forge"},
    "forge.stages": {"sandbox", "solvers", "forge.domain", "forge.storage", "forge"},
    "forge.factory": {
        *("sandbox", "solvers", "forge"),
        *("forge.domain", "forge.storage", "forge.stages", "forge.rehearsal"),
    },
    "forge.cli": {
        *("sandbox", "solvers", "forge"),
        *("forge.domain", "forge.storage", "forge.stages", "forge.rehearsal", "forge.factory"),
    },
    # Files right under forge/: they read what is shipped, for whoever is above the domain.
    "forge": {"sandbox", "solvers", "forge.domain"},
    "terminal_task_forge": set(),
}

# SDK -> the files that may import it, its own submodules included.
SDK_DOORS = {"docker": 1, "litellm": 1, "datasets": 1}

IMPURE = {"asyncio", "docker", "http", "litellm", "multiprocessing", "os", "random", "shutil", "signal", "socket"}
IMPURE |= {"sqlite3", "subprocess", "tempfile", "threading", "time", "urllib"}

MOST_LINES, MOST_FUNCTION_LINES = 300, 50


@dataclass(frozen=True)
class Module:
    name: str
    tree: ast.Module
    lines: int

    @property
    def package(self) -> str:
        """The key of MAY_IMPORT that it belongs to."""
        return package_of(self.name)

    def imports(self) -> Iterator[tuple[str, bool]]:
        """Each imported module's full name, and whether the import is inside a function."""
        inside = {id(node) for outer in self.functions() for node in ast.walk(outer)}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield alias.name, id(node) in inside
            elif isinstance(node, ast.ImportFrom):
                yield ("." * node.level) + (node.module or ""), id(node) in inside
                if node.module in OWN:
                    # `from forge import cli` imports a package.
                    for alias in node.names:
                        yield f"{node.module}.{alias.name}", id(node) in inside

    def functions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def package_of(name: str) -> str:
    parts = name.split(".")
    two = ".".join(parts[:2])
    return two if two in MAY_IMPORT else parts[0]


def modules(root: Path) -> list[Module]:
    found = []
    for package in OWN:
        for path in sorted((root / package).rglob("*.py")):
            name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
            text = path.read_text(encoding="utf-8")
            found.append(Module(name, ast.parse(text), text.count("\n")))
    return found


def upward(found: list[Module]) -> list[str]:
    wrong = []
    for module in found:
        for target, _ in module.imports():
            if target.startswith("."):
                wrong.append(f"{module.name} imports relatively ({target})")
            elif target.split(".")[0] in OWN:
                package = package_of(target)
                if package not in {module.package, *MAY_IMPORT[module.package]}:
                    wrong.append(f"{module.name} imports {target}")
    return wrong


def hidden(found: list[Module]) -> list[str]:
    return [
        f"{m.name}: {target}" for m in found for target, inside in m.imports() if inside and target.split(".")[0] in OWN
    ]


def importers(found: list[Module], sdk: str) -> list[str]:
    return sorted({m.name for m in found for target, _ in m.imports() if target.split(".")[0] == sdk})


def impure(found: list[Module]) -> list[str]:
    return [
        f"{m.name} imports {target}"
        for m in found
        if m.package == "forge.domain"
        for target, _ in m.imports()
        if target.split(".")[0] in IMPURE
    ]


def broad_handlers(found: list[Module]) -> list[str]:
    """Modules with `except Exception`, `except BaseException` or a bare `except`; one that cleans up and raises on is
    none."""
    return sorted(
        m.name
        for m in found
        for node in ast.walk(m.tree)
        if isinstance(node, ast.ExceptHandler)
        and not (isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None)
        and (node.type is None or (isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException")))
    )


def oversized(found: list[Module]) -> list[str]:
    files = [f"{m.name}: {m.lines} lines" for m in found if m.lines > MOST_LINES]
    functions = [
        f"{m.name}.{node.name}: {length} lines"
        for m in found
        for node in m.functions()
        if (length := (node.end_lineno or node.lineno) - node.lineno + 1) > MOST_FUNCTION_LINES
    ]
    return files + functions


@pytest.fixture(scope="module")
def ours() -> list[Module]:
    return modules(PROJECT)


def test_tree_is_read(ours):
    assert {"sandbox.api", "solvers.model", "forge.domain.config", "forge.cli.main"} <= {m.name for m in ours}


def test_imports_point_down_only(ours):
    assert upward(ours) == []


def test_no_own_import_is_hidden_in_a_function(ours):
    assert hidden(ours) == []


@pytest.mark.parametrize("sdk", SDK_DOORS)
def test_one_file_alone_imports_each_big_sdk(ours, sdk):
    assert len(importers(ours, sdk)) <= SDK_DOORS[sdk]


def test_domain_is_pure(ours):
    assert impure(ours) == []


def test_errors_become_data_in_one_place_only(ours):
    assert set(broad_handlers(ours)) <= {"forge.factory.failures"}


def test_files_and_functions_stay_small(ours):
    assert oversized(ours) == []


def test_no_helper_scripts_at_the_root():
    assert [path.name for path in PROJECT.glob("*.py")] == []


VIOLATIONS = {
    "sandbox/up.py": "import solvers.model\n",
    "solvers/up.py": "from forge import domain\n",
    "forge/domain/up.py": "import sqlite3\nfrom forge.cli import main\n",
    "forge/stages/relative.py": "from . import x\n",
    "forge/factory/hide.py": "def f():\n    if True:\n        from forge.domain import task\n        return task\n",
    "sandbox/one.py": "import docker.errors\n",
    "sandbox/two.py": "def f():\n    from docker import APIClient\n",
    "forge/cli/broad.py": "try:\n    pass\nexcept Exception:\n    pass\n",
    "forge/cli/cleans.py": "try:\n    pass\nexcept BaseException:\n    f()\n    raise\n",
    "forge/cli/long.py": "def f():\n" + "    pass\n" * 51,
}


@pytest.fixture
def violations(tmp_path) -> list[Module]:
    for path, text in VIOLATIONS.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return modules(tmp_path)


def test_each_rule_sees_a_violation(violations):
    assert upward(violations) == [
        "forge.domain.up imports forge.cli",
        "forge.stages.relative imports relatively (.)",
        "sandbox.up imports solvers.model",
        "solvers.up imports forge",
        "solvers.up imports forge.domain",
    ]
    assert hidden(violations) == ["forge.factory.hide: forge.domain"]
    assert importers(violations, "docker") == ["sandbox.one", "sandbox.two"]
    assert impure(violations) == ["forge.domain.up imports sqlite3"]
    assert broad_handlers(violations) == ["forge.cli.broad"]
    assert oversized(violations) == ["forge.cli.long.f: 52 lines"]
