"""A bare machine in a folder: its own PATH, its own /proc, /run and /etc, and stand-ins for what setup would call."""

import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]

TOOLS = [
    *("bash", "sh", "cat", "grep", "mktemp", "rm", "mkdir", "tail", "cksum", "uname", "nohup", "setsid", "timeout"),
    *("tar", "touch", "cp", "flock", "sleep"),
]

DOCKER = """\
case "$1" in
version)
    if [ -e "$STATE/engine-up" ]; then echo 20.10; exit 0; fi
    if [ -e "$STATE/forbidden" ]; then echo 'dial unix /var/run/docker.sock: permission denied' >&2; fi
    exit 1 ;;
image)
    case "$2" in
    inspect) grep -qxF "$3" "$STATE/images" ;;
    rm) grep -vxF "$3" "$STATE/images" >"$STATE/rest"; cp "$STATE/rest" "$STATE/images" ;;
    esac ;;
pull) [ -e "$STATE/registry" ] && echo "$3" >>"$STATE/images" ;;
import) cat >/dev/null <"$6" && echo sha-1 >>"$STATE/images" && echo sha-1 ;;
run) [ ! -e "$STATE/image-is-broken" ] ;;
tag) echo "$3" >>"$STATE/images" ;;
*) echo "unexpected: docker $*" >&2; exit 99 ;;
esac
"""

DOCKERD = """\
if [ -e "$STATE/dockerd-breaks" ]; then echo 'no cgroup mount'; exit 1; fi
touch "$STATE/engine-up"
"""

MMDEBSTRAP = """\
for last; do :; done
echo half >"$last"
[ ! -e "$STATE/mirror-breaks" ] || { echo 'cannot reach the mirror' >&2; exit 1; }
"""

DEBOOTSTRAP = """\
mkdir -p "$3/etc/apt"
"""

PYTHON = """\
case "$1 $2" in
"-c import sys, venv"*) exit 0 ;;
"-m venv") mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
"-m pip") [ ! -e "$STATE/index-breaks" ] || { echo 'no matching distribution' >&2; exit 1; } ;;
esac
"""

APT_GET = """\
[ ! -e "$STATE/apt-breaks" ] || { echo 'E: no network' >&2; exit 100; }
[ "$1" = install ] || exit 0
for package; do
    case "$package" in
    docker.io) cp "$STATE/stubs/docker" "$STATE/stubs/dockerd" "$STATE/bin/" ;;
    mmdebstrap) cp "$STATE/stubs/mmdebstrap" "$STATE/bin/" ;;
    python3) cp "$STATE/stubs/python3" "$STATE/bin/" ;;
    esac
done
"""

STUBS = {
    "docker": DOCKER,
    "dockerd": DOCKERD,
    "mmdebstrap": MMDEBSTRAP,
    "debootstrap": DEBOOTSTRAP,
    "python3": PYTHON,
    "apt-get": APT_GET,
    "apt-config": "",
    "systemctl": 'touch "$STATE/engine-up"\n',
    "id": '[ "$1" = -un ] && echo somebody || cat "$STATE/uid"\n',
}


@dataclass(frozen=True)
class Said:
    code: int
    text: str


class Machine:
    """By default: root on Debian, with nothing installed. Every call of a stand-in is a line of `calls`."""

    def __init__(self, folder: Path) -> None:
        self.root, self.bin, self.state, self.project = (folder / name for name in ("root", "bin", "state", "project"))
        for path in (self.root / "proc", self.root / "var/log", self.root / "etc", self.state / "stubs", self.project):
            path.mkdir(parents=True)
        self.bin.mkdir()
        (self.state / "bin").symlink_to(self.bin)
        for tool in TOOLS:
            found = shutil.which(tool)
            if found:
                (self.bin / tool).symlink_to(found)
        for name, body in STUBS.items():
            stub = self.state / "stubs" / name
            stub.write_text(f'#!/bin/bash\nprintf \'%s\\n\' "{name} $*" >>"$STATE/calls"\n{body}')
            stub.chmod(stub.stat().st_mode | stat.S_IXUSR)
        self.has("apt-get", "apt-config", "id")
        self.write("uid", "0\n")
        self.write("calls", "")
        self.write("images", "")
        (self.root / "etc/os-release").write_text("ID=debian\n")
        (self.project / "pyproject.toml").write_text("[project]\n")

    def has(self, *names: str) -> None:
        """Installs stand-ins."""
        for name in names:
            shutil.copy(self.state / "stubs" / name, self.bin / name)

    def write(self, name: str, text: str = "") -> None:
        (self.state / name).write_text(text)

    def process(self, name: str) -> None:
        """A process of that name lives."""
        folder = self.root / "proc" / str(100 + len(list((self.root / "proc").iterdir())))
        folder.mkdir()
        (folder / "comm").write_text(f"{name}\n")

    def file(self, path: str) -> Path:
        """Makes an empty file of this machine."""
        made = self.root / path
        made.parent.mkdir(parents=True, exist_ok=True)
        made.touch()
        return made

    @property
    def calls(self) -> list[str]:
        return (self.state / "calls").read_text().splitlines()

    @property
    def images(self) -> list[str]:
        return (self.state / "images").read_text().splitlines()

    def called(self, start: str) -> bool:
        return any(call.startswith(start) for call in self.calls)

    def setup(self, *steps: str, **env: str) -> Said:
        """Runs functions of the scripts, in the folder of a project, as scripts/setup.sh does."""
        parts = " ".join(f"'{PROJECT}/scripts/{part}.sh'" for part in ("common", "venv", "engine", "base_image"))
        script = f"set -uo pipefail; for part in {parts}; do source $part; done; {'; '.join(steps)}"
        variables = {
            "PATH": str(self.bin),
            "STATE": str(self.state),
            "SYSTEM_ROOT": str(self.root),
            "ENGINE_WAIT_SEC": "30",
            "TMPDIR": str(self.state),
            **env,
        }
        done = subprocess.run(
            [shutil.which("bash") or "bash", "-c", script],
            cwd=self.project,
            env=variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )
        return Said(done.returncode, (done.stdout + done.stderr).decode())


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)
