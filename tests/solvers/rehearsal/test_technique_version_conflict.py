"""Pins against wheels that were made for the test."""

import sys
import zipfile
from pathlib import Path

import pytest

from solvers.rehearsal.version_conflict import VersionConflict
from tests.solvers.rehearsal.places import work


def wheel(folder: Path, name: str, version: str, *needs: str) -> None:
    folder.mkdir(exist_ok=True)
    text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(
        f"Requires-Dist: {n}\n" for n in needs
    )
    with zipfile.ZipFile(folder / f"{name.replace('-', '_')}-{version}-py3-none-any.whl", "w") as made:
        made.writestr(f"{name.replace('-', '_')}-{version}.dist-info/METADATA", text)


@pytest.fixture(autouse=True)
def _python_with_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    for version in ("1.9", "2.0", "2.9", "2.10", "3.0"):
        wheel(tmp_path / "wheels", "core", version)
    wheel(tmp_path / "wheels", "Plot-Kit", "0.4", "core>=2,<3", "base>=1", "extra>=9; extra == 'all'")
    wheel(tmp_path / "wheels", "base", "1.1")
    wheel(tmp_path / "wheels", "text", "5.0")
    return tmp_path


def pins_after(root: Path, pins: str, prose: str = "") -> str:
    (root / "requirements.txt").write_text(pins)
    work(VersionConflict(), root, f"It does not install. {prose}")
    return (root / "requirements.txt").read_text()


@pytest.mark.parametrize(
    ("prose", "version"),
    [
        ("", "2.10"),
        ("Take the newest release that fits.", "2.10"),
        ("Take the oldest release that fits.", "2.0"),
        ("We want the lowest version that works.", "2.0"),
    ],
)
def test_one_pin_moves_as_the_text_says(shelf: Path, prose: str, version: str) -> None:
    before = "# kept\nplot_kit == 0.4\ncore==3.0  # raised\ntext==5.0\n"
    assert pins_after(shelf, before, prose) == before.replace("core==3.0", f"core=={version}")


def test_a_pin_of_what_is_not_there(shelf: Path) -> None:
    assert pins_after(shelf, "text==5.1\ncore==3.0\nplot-kit==0.4\n") == "text==5.0\ncore==2.10\nplot-kit==0.4\n"


def test_pins_that_fit_stay(shelf: Path) -> None:
    assert pins_after(shelf, "plot-kit==0.4\ncore==2.9\n") == "plot-kit==0.4\ncore==2.9\n"


def test_what_cannot_fit_stays(shelf: Path) -> None:
    wheel(shelf / "wheels", "lonely", "1.0", "nowhere>=1")
    assert pins_after(shelf, "lonely==1.0\ncore==3.0\n") == "lonely==1.0\ncore==3.0\n"
