"""From the config to the values that a run is made with."""

from dataclasses import replace

from forge.domain.config import Config, Strategy
from forge.domain.criteria import Contrastive, Criterion, MultiSolver
from forge.prompts import prompts_digest
from forge.stages.authoring import AuthorSettings
from forge.stages.trials import SOLVER_PROMPTS
from sandbox.api import Machine, Network
from sandbox.tree import Tree
from solvers.policies import Solver


def criterion_of(config: Config) -> Criterion:
    calibration = config.calibration
    if calibration.strategy is Strategy.CONTRASTIVE and calibration.strong and calibration.weak:
        return Contrastive(calibration.strong, calibration.weak)
    return MultiSolver(tuple(solver.name for solver in config.solvers))


def wanted_of(config: Config) -> str:
    """What the criterion asks of a round, in the words of the author's prompt."""
    calibration = config.calibration
    if calibration.strategy is Strategy.CONTRASTIVE:
        return f"the solver {calibration.strong} passes and the solver {calibration.weak} fails"
    return f"some of the {len(config.solvers)} solvers pass and some fail"


def solvers_of(config: Config, criterion: Criterion) -> tuple[Solver, ...]:
    """The solvers that the criterion asks, in its order. Those that ask a model know by which prompts."""
    sections = {section.name: section for section in config.solvers}
    prompts = prompts_digest(SOLVER_PROMPTS)
    named = [sections[name].solver() for name in criterion.solvers]
    return tuple(solver if solver.model is None else replace(solver, prompt_digest=prompts) for solver in named)


def author_of(config: Config, skeleton: Tree) -> AuthorSettings:
    section = config.sandbox
    return AuthorSettings(
        model=config.author.model,
        temperature=config.author.temperature,
        limits=config.author.agent_limits(),
        image=section.author_image,
        machine=Machine(limits=section.draft.limits(), network=Network.PUBLIC),
        base_images=tuple(dict.fromkeys((section.author_image, *section.substitutes))),
        skeleton=skeleton,
    )
