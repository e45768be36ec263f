"""What only the fake has: programs that one brings, faults that one asks for, a host that outlives the engine."""

import pytest

from sandbox.api import EndReason, ImageSpec, Limits, Machine, Owner
from sandbox.errors import BuildFailed, EngineUnavailable, ImageMissing, SandboxGone
from sandbox.fake import FakeEngine, FakeHost
from sandbox.fake_build import FakeImage
from sandbox.fake_files import FakeFiles
from sandbox.fake_process import Answer, Call
from sandbox.tree import Tree

OWNER = Owner("run", "candidate")
SPEC = ImageSpec(Tree({"Dockerfile": "FROM base\nWORKDIR /work\n"}))


class Killed(BaseException):
    """Stands for kill -9: nobody catches it."""


def shout(call: Call) -> Answer:
    path = call.path(call.args[1])
    call.files.write(path, call.files.read(path).upper() + call.stdin)
    return Answer(3, f"{call.env['WHO']} in {call.cwd}\n".encode(), b"loud\n")


def test_a_program_of_ones_own() -> None:
    engine = FakeEngine(programs={"shout": shout})
    with engine.start(engine.build(SPEC, OWNER), Machine(), OWNER) as sandbox:
        result = sandbox.exec("echo hi > f; WHO=me; export WHO; echo more | shout f", timeout_sec=5)
        assert (result.exit_code, result.stdout, result.stderr) == (3, b"me in /work\n", b"loud\n")
        assert sandbox.get("/work/f") == Tree({"f": b"HI\nmore\n"})


def test_programs_run_in_builds_too() -> None:
    spec = ImageSpec(Tree({"Dockerfile": "FROM base\nRUN install-it now\n"}))
    with pytest.raises(BuildFailed) as caught:
        FakeEngine().build(spec, OWNER)
    assert "install-it: command not found" in caught.value.log
    engine = FakeEngine(programs={"install-it": lambda call: Answer(0, b"installed\n")})
    assert "installed\n" in engine.build(spec, OWNER).log


def test_known_bases_and_substitutes() -> None:
    files = FakeFiles()
    files.write("/etc/mark", b"stand-in")
    engine = FakeEngine(bases={"stand/in": FakeImage(files)}, substitutes={"base": "stand/in"})
    image = engine.build(SPEC, OWNER)
    assert image.substitutes == (("base", "stand/in"),)
    with engine.start(image, Machine(), OWNER) as sandbox:
        assert sandbox.exec("cat /etc/mark", timeout_sec=5).stdout == b"stand-in"
    with pytest.raises(ImageMissing, match="other"):
        engine.build(ImageSpec(Tree({"Dockerfile": "FROM other\n"})), OWNER)


def test_a_fault_is_the_operations_fate_and_leaves_the_rest_usable() -> None:
    events: list[str] = []

    def fail_second_exec(event: str) -> None:
        events.append(event)
        if events.count("exec") == 2 and event == "exec":
            raise EngineUnavailable("gone for a moment")

    engine = FakeEngine(on_event=fail_second_exec)
    with engine.start(engine.build(SPEC, OWNER), Machine(), OWNER) as sandbox:
        sandbox.exec("echo 1 > f", timeout_sec=5)
        with pytest.raises(EngineUnavailable):
            sandbox.exec("echo 2 > f", timeout_sec=5)
        assert sandbox.exec("cat f", timeout_sec=5).stdout == b"1\n"
    assert events == ["build", "start", "exec", "exec", "exec", "close"]


def test_what_a_killed_engine_leaves_is_found_by_the_next() -> None:
    host = FakeHost()
    dead: list[bool] = []

    def die(event: str) -> None:
        if dead or event == "exec":
            dead.append(True)
            raise Killed

    first = FakeEngine(host=host, on_event=die)
    image = first.build(SPEC, OWNER)
    with pytest.raises(Killed), first.start(image, Machine(), OWNER) as sandbox:
        sandbox.exec("true", timeout_sec=5)
    assert len(host.sandboxes) == 1
    second = FakeEngine(host=host)
    assert second.build(SPEC, OWNER).id == image.id
    assert second.sweep("another").containers == 0
    assert second.sweep("run").containers == 1
    assert host.sandboxes == {}
    assert second.clean_images() == 1


def test_the_disk_allowance_ends_a_sandbox() -> None:
    engine = FakeEngine()
    with engine.start(engine.build(SPEC, OWNER), Machine(Limits(disk_mb=1)), OWNER) as sandbox:
        sandbox.exec("head -c 2M /dev/zero > big", timeout_sec=5)
        assert sandbox.ended is EndReason.DISK
        with pytest.raises(SandboxGone) as caught:
            sandbox.exec("true", timeout_sec=5)
        assert caught.value.reason == "disk"
        assert sandbox.get("/work/big").size() == 2 << 20


def test_closing_the_engine_closes_its_sandboxes() -> None:
    with FakeEngine() as engine:
        sandbox = engine.start(engine.build(SPEC, OWNER), Machine(), OWNER)
    with pytest.raises(SandboxGone):
        sandbox.exec("true", timeout_sec=5)
    assert engine.host.sandboxes == {}


def test_a_loop_without_end_runs_out_of_time() -> None:
    engine = FakeEngine()
    with engine.start(engine.build(SPEC, OWNER), Machine(), OWNER) as sandbox:
        assert sandbox.exec("while true; do :; done", timeout_sec=9).timed_out


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("x=a.tar.gz; echo ${x%.*} ${x%%.*} ${x#*.} ${x##*.} ${#x} ${y:-none}", "a.tar a tar.gz gz 8 none\n"),
        ("echo $(( (2 + 3) * 4 - 7 / 2 )) $((5 % 3))", "17 2\n"),
        ("for f in *.txt; do echo $f; done", "a.txt\nb.txt\n"),
        ("n=0; while [ $n -lt 3 ]; do n=$((n + 1)); echo $n; done | tail -n 1", "3\n"),
        ("set -- ; echo \"a  b\" 'c $d' e\\ f", "a  b c $d e f\n"),
        ("v='x  y'; echo $v; echo \"$v\"", "x y\nx  y\n"),
        ("echo `echo inner` $(echo $(echo deep))", "inner deep\n"),
        ("if ! grep -q one a.txt; then echo no; else echo yes; fi", "yes\n"),
        ("find . -name '*.txt' -type f", "./a.txt\n./b.txt\n"),
        ("cat <<-X | wc -l\n\tone\n\ttwo\n\tX", "2\n"),
        ("echo a >&2 2>&1; { echo b; } 2>/dev/null", "b\n"),
        ("source s.sh; echo $FROM_S", "s\n"),
    ],
)
def test_the_shell(command: str, said: str) -> None:
    engine = FakeEngine()
    with engine.start(engine.build(SPEC, OWNER), Machine(), OWNER) as sandbox:
        sandbox.put(Tree({"a.txt": "one\n", "b.txt": "two\n", "s.sh": "FROM_S=s\n"}), "/work")
        result = sandbox.exec(command, timeout_sec=5)
        assert result.stdout.decode() == said, result
