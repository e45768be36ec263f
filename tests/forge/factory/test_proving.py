"""From what the author wrote to a task that is proved, and why some never are."""

from tests.faults.toy_models import author
from tests.forge.factory.world import World, changing


def test_task_that_does_not_build_is_repaired(world: World) -> None:
    assert world.run("broken").retained == 1
    with world.reader() as reader:
        rows = reader.validations("broken")
    assert [(row.number, row.stage, row.ok) for row in rows] == [(0, "failed", False), (1, "proved", True)]
    assert rows[0].findings[0]["code"] == "build_failed"
    assert "cannot access" in str(rows[0].findings[0]["detail"]) or "nowhere" in str(rows[0].findings[0]["detail"])
    (text,) = world.events("broken", "finding")
    assert text.startswith("revision 1: build_failed: environment: ")


def test_author_that_repairs_nothing_is_not_asked_again(world: World) -> None:
    """The repair writes the same Dockerfile again."""
    stubborn = changing(author, "WORKDIR /app\n", "WORKDIR /app\nRUN ls /nowhere\n", where='"builds"')
    same = changing(stubborn, '"builds"', '"breaks"')
    assert world.run("broken", models={"author": same}).discarded == 1
    state, reason, detail = world.end("broken")
    assert (state, reason) == ("discarded", "no_draft")
    assert detail.startswith("no repair known for: build_failed: environment: ")
    assert "r1/repair/2" not in world.units("broken")


def test_repairs_are_bounded(world: World) -> None:
    """Every repair changes something, and nothing for the better."""
    turns = iter(range(100))

    def restless(messages, seed):  # type: ignore[no-untyped-def]
        answer = author(messages, seed)
        return answer.replace("WORKDIR /app\n", f"WORKDIR /app\nRUN ls /nowhere/{next(turns)}\n")

    assert world.run("broken", models={"author": restless}, calibration__max_repairs=2).discarded == 1
    assert world.end("broken")[2].startswith("2 repairs spent; the last finding: build_failed: ")
    assert {"r1/repair/1", "r1/repair/2"} <= set(world.units("broken"))
    assert "r1/repair/3" not in world.units("broken")


def test_solution_that_does_not_pass_is_a_finding_with_the_tests_that_failed(world: World) -> None:
    wrong = changing(author, "echo 'echo ", "echo 'echo not-", where="/solution/solve.sh")
    assert world.run("easy", models={"author": wrong}, calibration__max_repairs=0).discarded == 1
    with world.reader() as reader:
        (row,) = reader.validations("easy")
    (finding,) = row.findings
    assert finding["code"] == "self_solve_failed"
    assert finding["message"] == "the solution written from the instruction passed 0 of 2 times: 1 tests did not pass"
    assert world.end("easy")[1] == "no_draft"


def test_author_that_writes_no_solution(world: World) -> None:
    idle = changing(author, "/solution/solve.sh", "/solution/other.sh")
    world.run("easy", models={"author": idle}, calibration__max_repairs=0)
    assert "unsolved: the author wrote no solution from the instruction" in world.end("easy")[2]


def test_folder_that_is_no_task_is_a_finding(world: World) -> None:
    broken = changing(author, 'schema_version = "1.4"', 'schema_version = "1.4"\nsurprise = 1')
    world.run("easy", models={"author": broken}, calibration__max_repairs=0)
    assert "refused: task.toml: surprise: unknown key" in world.end("easy")[2]


def test_solution_is_written_anew_where_the_old_one_fails(world: World) -> None:
    """The note that the first solution relied upon says something else in the second environment."""
    other = changing(author, "fennel", "garlic", where='"note"')
    assert world.run("hard", models={"author": changing(other, "basil", "garlic", where='"note"')}).retained == 1
    units = world.units("hard")
    assert {"r2/replay/0", "r2/solve/0", "r2/replay_solved/0"} <= set(units)
    with world.reader() as reader:
        first, second = reader.revisions("hard")
    assert first.solution != second.solution
