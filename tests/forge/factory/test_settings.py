"""From the config to what a run is made with."""

from forge.domain.config import Config
from forge.factory.settings import author_of, criterion_of, solvers_of, wanted_of
from forge.prompts import prompts_digest
from forge.stages.trials import SOLVER_PROMPTS
from sandbox.api import Network
from sandbox.tree import Tree

POOL = [
    {"name": "one", "model": "rehearsal/strong"},
    {"name": "two", "model": "rehearsal/weak"},
    {"name": "idle", "policy": "nop"},
]


def test_contrastive_asks_two_solvers_whatever_the_pool() -> None:
    config = Config.model_validate({"solvers": POOL, "calibration": {"strong": "two", "weak": "one"}})
    assert [solver.name for solver in solvers_of(config, criterion_of(config))] == ["two", "one"]
    assert wanted_of(config) == "the solver two passes and the solver one fails"


def test_multi_solver_asks_all_in_their_order() -> None:
    config = Config.model_validate({"solvers": POOL, "calibration": {"strategy": "multi-solver"}})
    assert [solver.name for solver in solvers_of(config, criterion_of(config))] == ["one", "two", "idle"]
    assert wanted_of(config) == "some of the 3 solvers pass and some fail"


def test_prompts_are_part_of_who_a_solver_is() -> None:
    config = Config.model_validate({"solvers": POOL, "calibration": {"strategy": "multi-solver"}})
    one, _, idle = solvers_of(config, criterion_of(config))
    assert one.prompt_digest == prompts_digest(SOLVER_PROMPTS)
    assert one.digest() != config.solvers[0].solver().digest()
    assert idle.prompt_digest == ""


def test_digest_of_prompts_tells_prompts_apart() -> None:
    assert prompts_digest(SOLVER_PROMPTS) == prompts_digest(tuple(reversed(SOLVER_PROMPTS)))
    assert len({prompts_digest(names) for names in (SOLVER_PROMPTS, SOLVER_PROMPTS[:1], SOLVER_PROMPTS[1:])}) == 3


def test_author_drafts_with_a_network_and_knows_the_bases() -> None:
    config = Config.model_validate({"sandbox": {"author_image": "a:1", "substitutes": {"a:1": "x", "b:2": "y"}}})
    author = author_of(config, Tree({"test.sh": ""}))
    assert author.machine.network is Network.PUBLIC
    assert author.base_images == ("a:1", "b:2")
    assert author.machine.limits == config.sandbox.draft.limits()
