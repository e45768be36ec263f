""".ci/run: its code is that of what it ran, and its last line is the summary of the tests."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]

MAKE = """\
#!/bin/sh
echo "$@" >>calls
[ -t 0 ] && echo 'stdin is a terminal'
cat
[ "$1" = {fails} ] || {{ echo "== 3 passed in 1s =="; exit 0; }}
echo "== 1 failed, 2 passed in 1s =="
echo "make: *** [Makefile:9: $1] Error 1" >&2
exit 2
"""


@pytest.fixture
def ci(tmp_path):
    for name in (".ci/run", "scripts/common.sh"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(PROJECT / name, tmp_path / name)
    (tmp_path / "bin").mkdir()

    def run(fails):
        make = tmp_path / "bin/make"
        make.write_text(MAKE.format(fails=fails))
        make.chmod(0o755)
        env = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
        done = subprocess.run(
            ["bash", ".ci/run"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=False
        )
        return done, (tmp_path / "calls").read_text().split()

    return run


def test_style_comes_before_tests(ci):
    done, calls = ci("nothing")
    assert (done.returncode, calls) == (0, ["lint", "test"])
    assert done.stdout.splitlines()[-1] == "== 3 passed in 1s =="


def test_failing_tests_fail_it_and_their_summary_is_the_last_line(ci):
    done, _ = ci("test")
    assert done.returncode == 2
    assert (done.stdout + done.stderr).splitlines()[-1] == "== 1 failed, 2 passed in 1s =="


def test_bad_style_fails_it_at_once(ci):
    done, calls = ci("lint")
    assert (done.returncode, calls) == (2, ["lint"])
