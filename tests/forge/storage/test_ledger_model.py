"""Any program of units, interrupted anywhere and run again, gives what it gives without interruption."""

import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from forge.storage.ledger import Ledger
from solvers.model import Message, Reply, Request


@dataclass(frozen=True)
class Unit:
    """What a unit does in turn: a number is a question to the model, a unit is nested work."""

    steps: "tuple[int | Unit, ...]" = ()


class Crash(BaseException):
    pass


@dataclass
class World:
    """What happens outside of the ledger, over all runs of the program."""

    crashes: frozenset[int] = frozenset()
    tick: int = 0
    finished: Counter[str] = field(default_factory=Counter)
    paid: Counter[tuple[str, int, int]] = field(default_factory=Counter)

    def step(self) -> None:
        self.tick += 1
        if self.tick in self.crashes:
            raise Crash


questions = st.integers(0, 3)
leaves = st.lists(questions, max_size=4).map(lambda steps: Unit(tuple(steps)))
units = st.recursive(leaves, lambda inner: st.lists(questions | inner, max_size=4).map(lambda s: Unit(tuple(s))))
programs = st.lists(units, min_size=1, max_size=4)


def ask(ledger: Ledger, world: World, unit: str, question: int, sample: int) -> int:
    request = Request("m", (Message("user", str(question)),))
    world.step()
    reply = ledger.calls.find(f"c/{unit}", request.digest(), sample)
    if reply is None:
        world.step()
        world.paid[unit, question, sample] += 1
        # As a real model would, it says something else each time that it is asked.
        reply = Reply(str(question * 100 + sample), cost_usd=1.0)
        ledger.calls.record(f"c/{unit}", request.digest(), sample, request, reply)
        world.step()
    return int(reply.text)


def do(ledger: Ledger, world: World, name: str, unit: Unit) -> list[int]:
    def work() -> list[int]:
        value: list[int] = []
        asked: Counter[int] = Counter()
        for number, step in enumerate(unit.steps):
            if isinstance(step, Unit):
                value.extend(do(ledger, world, f"{name}/{number}", step))
            else:
                value.append(ask(ledger, world, name, step, asked[step]))
                asked[step] += 1
        world.step()
        world.finished[name] += 1
        return value

    value = ledger.once("c", name, work, list[int])
    world.step()
    return value


def run(program: list[Unit], world: World, between: Callable[[Ledger], None] = lambda _ledger: None) -> list[list[int]]:
    with tempfile.TemporaryDirectory() as folder:
        while True:
            with Ledger.open(Path(folder)) as ledger:
                try:
                    return [do(ledger, world, f"u{number}", unit) for number, unit in enumerate(program)]
                except Crash:
                    pass
                finally:
                    between(ledger)


@settings(max_examples=30, deadline=None)
@given(programs, st.frozensets(st.integers(1, 60), max_size=12))
def test_crashes_change_nothing(program: list[Unit], crashes: frozenset[int]) -> None:
    plain, crashed = World(), World(crashes)
    spends = []
    expected = run(program, plain)
    assert run(program, crashed, lambda ledger: spends.append(ledger.read.spend())) == expected
    assert crashed.finished == plain.finished, "work came to its end once for every unit, whatever happened"
    assert crashed.paid == plain.paid, "no call was paid twice"
    assert spends[-1].total.calls == crashed.paid.total()
    assert spends[-1].lost.calls == 0


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(questions, max_size=5), min_size=1, max_size=4))
def test_what_is_lost_and_what_served_is_all_that_was_paid(attempts: list[list[int]]) -> None:
    """One unit, whose attempts ask different things; all but the last are interrupted."""
    world = World()
    with tempfile.TemporaryDirectory() as folder, Ledger.open(Path(folder)) as ledger:
        for number, asked in enumerate(attempts):

            def work(asked: list[int] = asked, last: bool = number == len(attempts) - 1) -> int:
                counts: Counter[int] = Counter()
                for question in asked:
                    ask(ledger, world, "u", question, counts[question])
                    counts[question] += 1
                if not last:
                    raise Crash
                return sum(counts.values())

            try:
                served = ledger.once("c", "u", work, int)
            except Crash:
                continue
        spend = ledger.read.spend()
    assert spend.total.calls == world.paid.total()
    assert spend.total.calls - spend.lost.calls == served
