"""From what the author wrote to a task that is proved: structure, self-solve, replays, and repairs in between."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from forge.domain.outcome import CheckStatus, Verdict
from forge.domain.revision import Step, plan_revision
from forge.domain.structure import Finding
from forge.domain.task import Task, TaskRefused
from forge.factory.bench import Bench
from forge.factory.duties import duty
from forge.factory.journal import Journal
from forge.factory.records import AuthoredRecord, Findings, Replays
from forge.stages.authoring import Authored, Desk, repair, solve, unsolved
from forge.stages.machines import environment_image, solver_machine
from forge.stages.validation import replay_solution, validate_structure
from forge.storage.trees import get_tree

SOLUTION_SCRIPT = "solve.sh"


@dataclass(frozen=True)
class Unproved:
    """The author could not get it through validation. reason: in one line."""

    reason: str


@dataclass(frozen=True)
class Proof:
    """One try at proving one folder. number: of the revision; repairs: made to it so far; earlier: the proved task
    before it, None for the first."""

    bench: Bench
    journal: Journal
    number: int
    repairs: int
    earlier: Task | None

    def unit(self, stage: str) -> str:
        return f"r{self.number}/{stage}/{self.repairs}"


def prove(bench: Bench, journal: Journal, record: AuthoredRecord, number: int, earlier: Task | None) -> Task | Unproved:
    """The task with a solution that passes every time, or why there is none.

    Raises what Bench.unit raises."""
    most = bench.shop.config.calibration.max_repairs
    for repairs in range(most + 1):
        found = _examined(Proof(bench, journal, number, repairs, earlier), record)
        if isinstance(found, Task):
            journal.validation(number, repairs, "proved", ())
            return found
        journal.validation(number, repairs, "failed", tuple(found))
        first = f"{found[0].code}: {found[0].message}"
        bench.event("finding", f"revision {number}: {first}", key=f"{number}/{repairs}")
        if repairs == most:
            return Unproved(f"{most} repairs spent; the last finding: {first}")
        repaired = _repaired(bench, record, number, repairs + 1, found)
        if repaired.tree == record.tree:
            return Unproved(f"no repair known for: {first}")
        record = repaired
    raise AssertionError("unreachable")  # pragma: no cover


def carried(record_task: Task, earlier: Task | None) -> Task:
    """A revision's task with the solution of the one before, until that is shown to fail."""
    return record_task if earlier is None else replace(record_task, solution=earlier.solution)


def read_task(bench: Bench, record: AuthoredRecord) -> Task:
    """The task that an author left, without a solution. Raises TaskRefused."""
    return Task.from_tree(unsolved(get_tree(bench.shop.ledger.blobs, record.tree)), strict=True)


def _examined(proof: Proof, record: AuthoredRecord) -> Task | Sequence[Finding]:
    if record.refused:
        return (Finding("unreadable", f"the task's folder cannot be read back: {record.refused}"),)
    try:
        task = carried(read_task(proof.bench, record), proof.earlier)
    except TaskRefused as refused:
        return (Finding("refused", str(refused)),)
    steps = _steps(task, proof.earlier)
    if Step.INITIAL_STATE in steps:
        structure = proof.bench.unit(proof.unit("structure"), Findings, lambda: _structure(proof.bench, task))
        if structure.findings:
            return structure.findings
    return _solved(proof, task, steps)


def _steps(task: Task, earlier: Task | None) -> tuple[Step, ...]:
    if earlier is None:
        return (Step.BUILD, Step.INITIAL_STATE)
    return plan_revision(earlier.parts(), task.parts(), artifacts_suffice=False).steps


def _structure(bench: Bench, task: Task) -> Findings:
    return Findings(findings=tuple(validate_structure(bench.shop.engine, task, bench.owner)))


def _solved(proof: Proof, task: Task, steps: tuple[Step, ...]) -> Task | Sequence[Finding]:
    bench = proof.bench
    thrice = bench.shop.config.calibration.self_solve_replays
    if task.solution:
        times = 1 if Step.REPLAY_ONCE in steps else thrice
        if _replayed(proof, "replay", task, times).passed:
            return task
    written = duty(bench, proof.unit("solve"), lambda desk: _solve(bench, desk, task))
    solution = get_tree(bench.shop.ledger.blobs, written.tree)
    if SOLUTION_SCRIPT not in solution:
        said = written.said or written.refused
        return (Finding("unsolved", "the author wrote no solution from the instruction", said),)
    task = replace(task, solution=solution)
    replays = _replayed(proof, "replay_solved", task, thrice)
    return task if replays.passed else (_unsolved_finding(replays.verdicts),)


def _solve(bench: Bench, desk: Desk, task: Task) -> Authored:
    image = desk.engine.build(environment_image(task), desk.owner)
    return solve(bench.shop.author, desk, task, image, solver_machine(task))


def _replayed(proof: Proof, stage: str, task: Task, times: int) -> Replays:
    def work() -> Replays:
        return Replays(verdicts=tuple(replay_solution(bench.shop.engine, task, bench.owner, times)))

    bench = proof.bench
    return bench.unit(proof.unit(stage), Replays, work)


def _unsolved_finding(verdicts: Sequence[Verdict]) -> Finding:
    bad = [verdict for verdict in verdicts if not verdict.passed]
    worst = bad[0] if bad else verdicts[0]
    failed = [f"{check.name}: {check.message}" for check in worst.checks if check.status is not CheckStatus.PASSED]
    said = worst.problem or (f"{len(failed)} tests did not pass" if failed else f"reward {worst.reward}")
    return Finding(
        "self_solve_failed",
        f"the solution written from the instruction passed {len(verdicts) - len(bad)} of {len(verdicts)} times: {said}",
        "\n".join([*failed, "", worst.log]),
    )


def _repaired(
    bench: Bench, record: AuthoredRecord, number: int, repairs: int, findings: Sequence[Finding]
) -> AuthoredRecord:
    tree = get_tree(bench.shop.ledger.blobs, record.tree)
    return duty(bench, f"r{number}/repair/{repairs}", lambda desk: repair(bench.shop.author, desk, tree, findings))
