"""Hostile trees, made by real commands in a real container: refused whole, each by its reason; good ones come."""

import io
import tarfile
from collections.abc import Callable

import pytest

from sandbox.api import CopyLimits, Sandbox
from sandbox.errors import CopyRefused
from sandbox.tree import Tree

Start = Callable[..., Sandbox]
pytestmark = pytest.mark.docker

SOCKET = "perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); bind(S, sockaddr_un(\"/app/s\"))'"
HOSTILE = {
    "a link as the path itself": ("ln -s /tests /app", "symbolic link itself"),
    "a link to the tests": ("mkdir /app; ln -s /tests/expected.txt /app/out.txt", "leads to '/tests/expected.txt'"),
    "up through a folder link": (
        "mkdir -p /app/a/b; ln -s a/b /app/s; ln -s s/../../../tests /app/e",
        "leads to '/tests'",
    ),
    "up through a link to itself": (
        "mkdir -p /app/deep; ln -s /app /app/deep/up; ln -s deep/up/../tests/x /app/evil",
        "leads to '/tests/x'",
    ),
    "the root by proc": ("mkdir /app; ln -s /proc/self/root/tests/x /app/e", "leads to '/proc/self/root"),
    "out of a system folder": ("mkdir /app; ln -s /usr/../tests/x /app/e", "leads to '/tests/x'"),
    "the root itself": ("mkdir /app; ln -s / /app/e", "leads to '/'"),
    "a pipe": ("mkdir /app; mkfifo /app/out", "special file"),
    "a device": ("mkdir /app; cp -a /dev/zero /app/zero 2>/dev/null || mkfifo /app/zero", "special file"),
    "a sparse file of 50 GB": ("mkdir /app; truncate -s 50G /app/big", "too many bytes"),
    "too many files": ("mkdir /app; cd /app; touch $(seq 2500)", "too many files"),
    "a name that is not UTF-8": ("mkdir /app; touch \"/app/$(printf '\\377\\376')\"", "not UTF-8"),
    "a loop of links": ("mkdir /app; ln -s b /app/a; ln -s a /app/b", "loop"),
}


LIMITS = CopyLimits(max_bytes=64 << 20, max_files=2000)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_tree_is_refused_and_the_rest_comes(start: Start, name: str) -> None:
    sandbox = start()
    command, why = HOSTILE[name]
    made = sandbox.exec(f"{command}; mkdir /good; echo fine > /good/f", timeout_sec=60)
    assert made.exit_code == 0, made
    sandbox.stop()
    archive = io.BytesIO()
    came = sandbox.collect(["/app", "/good"], archive, LIMITS)
    assert [path for path, _ in came.refused] == ["/app"]
    assert why in came.refused[0][1]
    archive.seek(0)
    with tarfile.open(fileobj=archive) as members:
        assert members.getnames() == ["good", "good/f"]
    with pytest.raises(CopyRefused):
        sandbox.get("/app", LIMITS)


def test_a_good_tree_comes_as_it_is_but_for_its_privileges(start: Start) -> None:
    sandbox, other = start(), start()
    made = sandbox.exec(
        "mkdir -p /app/d; echo hi > /app/d/f; chmod 750 /app/d/f; chown 7:8 /app/d/f; ln -s f /app/d/l;"
        "ln -s /usr/bin/env /app/env; ln /app/d/f /app/hard; ln -s ../d /app/d/up; ln -s nowhere /app/dangling;"
        "cp /bin/true /app/suid; chmod 6755 /app/suid; touch '/app/a\nb' /app/-rf '/app/ sp ' /app/ü; mkdir /app/..x;"
        f"{SOCKET}; head -c 300000 /dev/urandom > /app/random; md5sum /app/random > /app/sum",
        timeout_sec=60,
    )
    assert made.exit_code == 0, made
    sandbox.stop()
    archive = io.BytesIO()
    came = sandbox.collect(["/app"], archive)
    assert came.refused == ()
    archive.seek(0)
    other.put_archive(archive)
    look = (
        "cd /app; md5sum -c sum; stat -c '%a %u:%g' d/f hard suid; cat d/up/l hard; readlink env dangling;"
        "[ hard -ef d/f ] && echo same;"
        "[ -f $'a\\nb' ] && [ -f ./-rf ] && [ -f ' sp ' ] && [ -f ü ] && [ -d ..x ] && echo all"
    )
    said = other.exec(look, timeout_sec=20).stdout.decode()
    assert said == "/app/random: OK\n750 7:8\n750 7:8\n755 0:0\nhi\nhi\n/usr/bin/env\nnowhere\nsame\nall\n"


def test_a_linked_or_hostile_parent(start: Start) -> None:
    sandbox = start()
    sandbox.exec("mkdir /x; echo 1 > /x/out; ln -s /x /app; echo f > /file", timeout_sec=20)
    came = sandbox.collect(["/app/out", "/file/inner", "/x/none/deeper"], io.BytesIO())
    assert {path for path, _ in came.refused} == {"/app/out", "/file/inner"}
    assert came.missing == ("/x/none/deeper",)


def test_putting_does_not_follow_a_planted_link(start: Start) -> None:
    sandbox = start()
    sandbox.exec("mkdir /elsewhere; ln -s /elsewhere /tests", timeout_sec=20)
    sandbox.put(Tree({"t": "secret"}), "/tests")
    said = sandbox.exec("ls /elsewhere; [ -L /tests ] || echo real", timeout_sec=20).stdout
    assert said == b"real\n"
