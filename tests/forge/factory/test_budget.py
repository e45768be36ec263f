"""Money: what a run and a candidate may spend, with models behind an endpoint that has a price."""

from collections.abc import Iterator

import pytest

from forge.factory.signals import StopKind
from solvers.serve import ProgramServer
from tests.faults.toy_models import CLUES, programs
from tests.faults.toy_run import finished_units, run_toy, served_config, told
from tests.forge.factory.world import World

TWO = tuple(clue for clue in CLUES if clue.id in ("easy", "broken"))


@pytest.fixture
def server() -> Iterator[ProgramServer]:
    with ProgramServer(programs("")) as made:
        yield made


def test_run_without_a_limit_tells_what_it_cost(world: World, server: ProgramServer) -> None:
    summary = run_toy(served_config(world.folder, server.api_base), clues=TWO)
    assert summary.finished
    with world.reader() as reader:
        report = reader.spend()
        trial = reader.trials("broken", 1)[0]
    assert report.total.calls == len(server.seen)
    assert report.total.known_usd == pytest.approx(report.total.tokens / 1000)
    assert (report.total.unknown_calls, report.lost.calls) == (0, 0)
    assert set(report.by_kind) == {"draft", "repair", "solve", "revise", "trial"}
    assert trial.cost_usd == pytest.approx(trial.tokens / 1000)
    forge = world.task("easy").config.metadata.forge.model_dump()
    assert forge["rehearsal"] is False
    assert forge["models"] == ["openai/author", "openai/strong", "openai/weak"]


def test_run_stops_when_its_money_is_spent_and_goes_on_with_more(
    world: World, server: ProgramServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole = World(tmp_path_factory.mktemp("whole"))
    run_toy(served_config(whole.folder, server.api_base), clues=TWO)
    asked = len(server.seen)
    with whole.reader() as reader:
        price = reader.spend().total.known_usd
    limit = price / 2
    summary = run_toy(served_config(world.folder, server.api_base, budget__run_usd=limit), clues=TWO)
    assert summary.stopped is StopKind.BUDGET
    assert "raise budget.run_usd to go on" in summary.why
    assert summary.interrupted > 0
    assert (summary.errored, summary.discarded) == (0, 0)
    with world.reader() as reader:
        spent, done = reader.spend().total, finished_units(reader)
        most = max(row["cost_usd"] for row in reader.rows("SELECT cost_usd FROM calls"))
    workers = 2 + 3
    assert limit <= spent.known_usd < limit + workers * most, "a call that is under way is not cut off"
    again = run_toy(served_config(world.folder, server.api_base, budget__run_usd=2 * price), clues=TWO)
    assert again.finished
    assert len(server.seen) == 2 * asked, "nothing was paid twice"
    with world.reader() as reader:
        assert {unit: finished_units(reader)[unit] for unit in done} == done
        assert reader.spend().total.known_usd == pytest.approx(price)
    assert told(world.config()) == told(whole.config())


def test_candidate_that_spent_its_money_is_discarded(world: World, server: ProgramServer) -> None:
    config = served_config(world.folder, server.api_base, budget__candidate_usd=6.0)
    summary = run_toy(config, clues=TWO)
    assert (summary.discarded, summary.errored, summary.stopped) == (2, 0, None)
    for clue in TWO:
        state, reason, detail = world.end(clue.id)
        assert (state, reason) == ("discarded", "money_spent")
        assert detail.startswith("the candidate's budget is spent: money_spent; ")
    with world.reader() as reader:
        for candidate, spend in reader.spend().by_candidate.items():
            assert spend.known_usd >= 6.0, candidate
    assert not world.kept()
