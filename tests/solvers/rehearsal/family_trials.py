"""Trials of drawn tasks: real containers, real prompts, the real loop and verifier; only the models are programs."""

import io
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from forge.domain.outcome import CheckStatus, Verdict
from forge.domain.task import Task
from forge.rehearsal.drawing import Draw, draw
from forge.rehearsal.families import Family, load_families
from forge.rehearsal.rendering import reference_solution, render, variants
from forge.stages.trials import TrialDesk, try_task
from sandbox.api import Engine, Owner
from sandbox.tree import Tree
from solvers.model import Reply, Request
from solvers.policies import Policy, Solver
from solvers.rehearsal.programs import PROGRAMS


def ask(request: Request, *, deadline_sec: float) -> Reply:
    return Reply(text=PROGRAMS[request.model](request.messages, request.seed))


@dataclass(frozen=True)
class Drawn:
    """A task that was drawn from a family, and what tries it."""

    engine: Engine
    owner: Owner
    family: Family
    draw: Draw

    def with_knobs(self, hints: str, semantics: str = "stated", verifier: str = "property") -> "Drawn":
        turned = self.draw.turned(hints=hints, semantics=semantics, verifier=verifier)
        return Drawn(self.engine, self.owner, self.family, turned)

    def by(self, *names: str) -> dict[str, bool]:
        """Which of the programs pass; they try at the same time."""
        with ThreadPoolExecutor(len(names)) as pool:
            verdicts = pool.map(lambda name: self._try(Solver(name, f"rehearsal/{name}")), names)
            return {name: verdict.passed for name, verdict in zip(names, verdicts, strict=True)}

    def idle(self) -> Verdict:
        return self._try(Solver("nop", policy=Policy.NOP))

    def script(self, text: str) -> Verdict:
        return self._try(Solver("oracle", policy=Policy.ORACLE), Tree({"solve.sh": text}))

    def reference(self) -> Verdict:
        return self.script(reference_solution(self.family, self.draw))

    def variants(self, kind: str) -> dict[str, bool]:
        """Which of the `alternatives` or `wrong` solutions pass."""
        scripts = variants(self.family, self.draw, kind)
        with ThreadPoolExecutor(3) as pool:
            verdicts = pool.map(self.script, scripts.values())
            return {name: verdict.passed for name, verdict in zip(scripts, verdicts, strict=True)}

    def _try(self, solver: Solver, solution: Tree | None = None) -> Verdict:
        tree = render(self.family, self.draw).tree()
        task = Task.from_tree(tree.merged((solution or Tree({"solve.sh": "true\n"})).at("solution")))
        desk = TrialDesk(self.engine, self.owner, ask, 11, "trial", lambda _: None, lambda: False)
        tried = try_task(desk, task, solver, io.BytesIO())
        if tried.verdict is None or tried.verdict.problem is not None:
            raise AssertionError(f"no verdict: {tried.verdict}")
        return tried.verdict


def drawn(engine: Engine, owner: Owner, name: str, seed: int) -> Drawn:
    family = load_families()[name]
    return Drawn(engine, owner, family, draw(family, seed))


def passed_checks(verdict: Verdict) -> set[str]:
    return {check.name for check in verdict.checks if check.status is CheckStatus.PASSED}
