"""Files that are no ledger of ours, disks that are full, requests that share their beginnings."""

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.domain.candidate import CandidateState
from forge.storage.errors import LedgerClosed, LedgerDamaged, LedgerFull, LedgerMissing, LedgerNewer
from forge.storage.ledger import Ledger
from forge.storage.ledger_file import LEDGER_NAME, SCHEMA_VERSION, connect_writer
from forge.storage.ledger_reader import LedgerReader
from forge.storage.ledger_writer import Writer
from solvers.model import Message, Reply, Request


def test_a_newer_ledger_is_refused_and_left_alone(tmp_path: Path) -> None:
    with Ledger.open(tmp_path):
        pass
    with sqlite3.connect(tmp_path / LEDGER_NAME) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()
    before = (tmp_path / LEDGER_NAME).read_bytes()
    with pytest.raises(LedgerNewer, match=f"version {SCHEMA_VERSION + 1}.*newer version of it"), Ledger.open(tmp_path):
        pass
    with pytest.raises(LedgerNewer), LedgerReader(tmp_path):
        pass
    assert (tmp_path / LEDGER_NAME).read_bytes() == before


@pytest.mark.parametrize("content", [b"this is no database, whatever its name says" * 100, b"SQLite format 3\0broken"])
def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    (tmp_path / LEDGER_NAME).write_bytes(content)
    for opening in (Ledger.open(tmp_path), LedgerReader(tmp_path)):
        with pytest.raises(LedgerDamaged, match=r"ledger\.db"), opening:
            pass
    assert (tmp_path / LEDGER_NAME).read_bytes() == content


def test_a_database_of_something_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / LEDGER_NAME) as connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    for opening in (Ledger.open(tmp_path), LedgerReader(tmp_path)):
        with pytest.raises(LedgerDamaged, match="not a ledger"), opening:
            pass


def test_a_ledger_whose_making_was_cut_off_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / LEDGER_NAME).touch()
    with pytest.raises(LedgerMissing, match="no run has been started"), LedgerReader(tmp_path):
        pass
    with Ledger.open(tmp_path) as ledger:
        assert ledger.once("c", "u", lambda: 1, int) == 1


def test_a_closed_ledger_refuses_writes(tmp_path: Path) -> None:
    with Ledger.open(tmp_path) as ledger:
        pass
    with pytest.raises(LedgerClosed):
        ledger.event("c", "k", "t")


def test_closing_leaves_one_file_and_a_bad_write_spoils_no_other(tmp_path: Path) -> None:
    """Writes that are asked for together share a commit; one that fails must fail alone."""
    connection = connect_writer(tmp_path)
    connection.execute("CREATE TABLE t (x INTEGER NOT NULL)")
    writer = Writer(connection, tmp_path / LEDGER_NAME)
    release, outcomes = threading.Event(), []

    def first(connection: sqlite3.Connection) -> None:
        release.wait()

    def write(value: int | None) -> None:
        try:
            writer.write(lambda connection: connection.execute("INSERT INTO t VALUES (?)", (value,)).rowcount)
            outcomes.append((value, "kept"))
        except LedgerDamaged:
            outcomes.append((value, "refused"))

    writer.start()
    threads = [threading.Thread(target=writer.write, args=(first,))]
    threads += [threading.Thread(target=write, args=(value,)) for value in (1, None, 2, None, 3)]
    for thread in threads:
        thread.start()
    release.set()
    for thread in threads:
        thread.join()
    assert sorted(outcomes, key=str) == sorted(
        [(1, "kept"), (2, "kept"), (3, "kept"), (None, "refused"), (None, "refused")], key=str
    )
    writer.close()
    assert [path.name for path in tmp_path.iterdir()] == [LEDGER_NAME]
    with sqlite3.connect(tmp_path / LEDGER_NAME) as reader:
        assert sorted(reader.execute("SELECT x FROM t").fetchall()) == [(1,), (2,), (3,)]
    reader.close()


def test_a_writer_that_dies_of_a_bug_hangs_nobody(tmp_path: Path) -> None:
    class Bug(Exception):
        pass

    def buggy(_connection: sqlite3.Connection) -> None:
        raise Bug

    said = []
    threading.excepthook, old = (lambda args: said.append(args.exc_type)), threading.excepthook
    try:
        writer = Writer(connect_writer(tmp_path), tmp_path / LEDGER_NAME)
        writer.start()
        for _ in range(2):
            with pytest.raises(LedgerClosed):
                writer.write(buggy)
        writer.close()
    finally:
        threading.excepthook = old
    assert said == [Bug]


FILL = """
import sys
from pathlib import Path
from forge.storage.errors import LedgerFull
from forge.storage.ledger import Ledger

run, ballast, what = Path(sys.argv[1]) / "run", Path(sys.argv[1]) / "ballast", sys.argv[2]

def fill(ledger):
    for number in range(100_000):
        if what == "rows":
            ledger.once("c", f"u/{number}", lambda: "x" * 20_000, str)
        elif what == "blobs":
            ledger.blobs.put(number.to_bytes(4, "big") * 20_000)
        else:
            with ledger.blobs.incoming() as blob:
                blob.file.write(number.to_bytes(4, "big") * 500_000)
                blob.keep()

ballast.write_bytes(b"x" * 400_000)
with Ledger.open(run) as ledger:
    ledger.once("c", "before", lambda: 1, int)
    try:
        fill(ledger)
    except LedgerFull as error:
        print(error)
    ballast.unlink()
    print(ledger.once("c", "after", lambda: 2, int), ledger.once("c", "before", lambda: 3, int))
with Ledger.open(run) as ledger:
    print(ledger.read.rows("PRAGMA integrity_check")[0][0])
    whole = [row[0] for row in ledger.read.rows("SELECT value FROM units WHERE unit LIKE 'u/%' AND value IS NOT NULL")]
    print(all(value == '"' + "x" * 20_000 + '"' for value in whole))
    for path in ledger.blobs.folder.glob("??/*"):
        ledger.blobs.check(path.name)
    print(ledger.blobs.folder.joinpath("incoming").exists())
"""


@pytest.mark.skipif(
    shutil.which("unshare") is None or os.geteuid() != 0, reason="a full disk is made of a small tmpfs, by root"
)
@pytest.mark.parametrize("what", ["rows", "blobs", "large"])
def test_a_full_disk_loses_nothing(tmp_path: Path, what: str) -> None:
    mount = f"mount -t tmpfs -o size=4m none '{tmp_path}' && exec \"$@\""
    command = ["unshare", "-m", "sh", "-c", mount, "sh", sys.executable, "-c", FILL, str(tmp_path), what]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if "mount" in done.stderr and done.stdout == "":
        pytest.skip("no right to mount a small tmpfs")
    assert done.stderr == ""
    message, values, sound, whole, incoming = done.stdout.splitlines()
    assert "no space left" in message
    assert (values, sound, whole, incoming) == ("2 1", "ok", "True", "False")


def test_a_database_at_its_size_limit_is_full(tmp_path: Path) -> None:
    """As on a full disk, for those who cannot mount one."""
    connection = connect_writer(tmp_path)
    connection.execute("PRAGMA max_page_count = 60")
    writer = Writer(connection, tmp_path / LEDGER_NAME)
    writer.start()
    statement = "INSERT INTO events (candidate, kind, text, at) VALUES ('', '', ?, 0)"
    kept = []

    def fill() -> None:
        for _ in range(1000):
            kept.append(writer.write(lambda connection: connection.execute(statement, ("x" * 5000,)).rowcount))

    with pytest.raises(LedgerFull, match=r"ledger\.db: no space left"):
        fill()
    writer.close()
    assert kept
    with LedgerReader(tmp_path) as reader:
        assert [len(event.text) for event in reader.events()] == [5000] * len(kept)


texts = st.text(st.characters(), max_size=30)  # lone surrogates included
messages = st.lists(st.builds(Message, st.sampled_from(["system", "user", "assistant"]), texts), max_size=6)
replies = st.builds(
    Reply,
    text=texts,
    reasoning=st.none() | texts,
    prompt_tokens=st.none() | st.integers(0, 10**9),
    completion_tokens=st.none() | st.integers(0, 10**9),
    cached_tokens=st.none() | st.integers(0, 10**9),
    cost_usd=st.none() | st.floats(0, 1e6),
    latency_sec=st.floats(0, 1e6),
    finish_reason=st.none() | st.sampled_from(["stop", "length"]),
    replayed=st.just(True),
)
requests = st.builds(
    Request,
    st.sampled_from(["a/b", "c"]),
    messages.map(tuple),
    temperature=st.none() | st.floats(0, 2),
    max_tokens=st.none() | st.integers(1, 10**6),
    seed=st.none() | st.integers(0, 2**31),
)


@settings(deadline=None, max_examples=40)
@given(calls=st.lists(st.tuples(requests, replies), min_size=1, max_size=5))
def test_requests_and_replies_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, calls: list[tuple[Request, Reply]]
) -> None:
    with Ledger.open(tmp_path_factory.mktemp("run")) as ledger:

        def work() -> int:
            for number, (request, reply) in enumerate(calls):
                ledger.calls.record("c/u", "digest", number, request, reply)
            return 1

        ledger.once("c", "u", work, int)
        for number, (request, reply) in enumerate(calls):
            found = ledger.read.reply("c/u", "digest", number)
            assert found is not None
            assert found[1] == reply
            assert ledger.read.request(found[0]) == request
        with pytest.raises(KeyError):
            ledger.read.request(10**6)


def trajectory_bytes(run_dir: Path, steps: int) -> int:
    """Size of a ledger with one conversation, each step 1,500 bytes that no compression makes smaller."""
    with Ledger.open(run_dir) as ledger:

        def work() -> int:
            conversation: list[Message] = []
            for _ in range(steps):
                conversation.append(Message("user", os.urandom(500).hex()))
                request = Request("m", tuple(conversation))
                reply = Reply(os.urandom(250).hex())
                ledger.calls.record("c/u", request.digest(), 0, request, reply)
                conversation.append(Message("assistant", reply.text))
            return steps

        ledger.once("c", "u", work, int)
    return (run_dir / LEDGER_NAME).stat().st_size


def test_a_trajectory_costs_what_it_is_long_not_its_square(tmp_path: Path) -> None:
    short, long = (trajectory_bytes(tmp_path / str(steps), steps) for steps in (50, 200))
    assert long < 5 * short
    assert long < 3 * 200 * 1500


def test_a_state_written_is_there_for_a_reader_of_another_process(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from forge.storage.ledger_reader import LedgerReader\n"
        "with LedgerReader(Path(sys.argv[1])) as reader: print([row.state.value for row in reader.candidates()])"
    )
    with Ledger.open(tmp_path) as ledger:
        ledger.rows.put_candidate("a", CandidateState.DRAFTING)
        command = [sys.executable, "-c", program, str(tmp_path)]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "['drafting']\n"
