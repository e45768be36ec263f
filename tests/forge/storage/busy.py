"""A program that writes units, calls and blobs from several threads and says what it was told is stored."""

import hashlib
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

from forge.domain.outcome import Value
from forge.storage.ledger import Ledger
from solvers.model import Message, Reply, Request
from tests.faults.killing import KillSwitch

CALLS = 4


class Answer(Value):
    text: str
    blob: str


def units(threads: int, count: int) -> list[tuple[str, str]]:
    return [(f"c{thread}", f"u/{number}") for thread in range(threads) for number in range(count)]


def request_of(candidate: str, unit: str, number: int) -> Request:
    turns = tuple(Message("user", f"{candidate} {unit} {turn}") for turn in range(number + 1))
    return Request("some/model", turns)


def content_of(candidate: str, unit: str) -> bytes:
    return f"{candidate} {unit} ".encode() * 5000


def answer_of(candidate: str, unit: str) -> Answer:
    text = "".join(f"[{candidate} {unit} {number}]" for number in range(CALLS))
    return Answer(text=text, blob=hashlib.sha256(content_of(candidate, unit)).hexdigest())


def do_unit(ledger: Ledger, candidate: str, unit: str, say: Callable[[tuple[str, ...]], None]) -> Answer:
    def work() -> Answer:
        say(("start", candidate, unit))
        text = ""
        for number in range(CALLS):
            request = request_of(candidate, unit, number)
            reply = ledger.calls.find(f"{candidate}/{unit}", request.digest(), 0)
            if reply is None:
                say(("pay", candidate, unit, str(number)))
                reply = Reply(f"[{candidate} {unit} {number}]", cost_usd=1.0)
                ledger.calls.record(f"{candidate}/{unit}", request.digest(), 0, request, reply)
                say(("paid", candidate, unit, str(number)))
            text += reply.text
        blob = ledger.blobs.put(content_of(candidate, unit))
        say(("blob", blob))
        return Answer(text=text, blob=blob)

    answer = ledger.once(candidate, unit, work, Answer)
    say(("done", candidate, unit))
    return answer


def busy(connection: Connection, run_dir: Path, threads: int, count: int) -> None:
    """All units, one thread a candidate, everything said as soon as it is known."""
    gate = threading.Lock()

    def say(what: tuple[str, ...]) -> None:
        with gate:
            connection.send(what)

    def life(ledger: Ledger, candidate: str) -> None:
        for number in range(count):
            do_unit(ledger, candidate, f"u/{number}", say)

    with Ledger.open(run_dir) as ledger:
        workers = [threading.Thread(target=life, args=(ledger, f"c{number}")) for number in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    connection.send(("end",))


def until_commit(run_dir: Path, count: int, at: int) -> None:
    """One candidate's units, killed at a commit of the ledger."""
    with Ledger.open(run_dir, on_commit=KillSwitch(at)) as ledger:
        for number in range(count):
            do_unit(ledger, "c0", f"u/{number}", lambda _what: None)


def hold(connection: Connection, run_dir: Path) -> None:
    """Hold a run directory until told to let go."""
    with Ledger.open(run_dir):
        connection.send("held")
        connection.recv()
