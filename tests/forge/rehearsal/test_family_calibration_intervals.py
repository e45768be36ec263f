"""The family calibration_intervals: which clues lead to it, what its knobs change, and attempts at it in containers."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from forge.rehearsal.choosing import choose
from forge.rehearsal.drawing import Draw, draw
from forge.rehearsal.families import load_families
from forge.rehearsal.rendering import artifact_paths, reference_solution, render, variants
from sandbox.tree import Tree

FAMILIES = load_families()
FAMILY = FAMILIES["calibration_intervals"]
SEED = 11
FIRST = {"hints": "none", "semantics": "unstated", "verifier": "property"}
# Two of the wrong solutions, each of which is nearly right, and the tests that see it
CAUGHT_BY = {
    "day_misread.sh": {
        *("test_delivered_runs", "test_delivered_devices", "test_runs_across_a_calibration", "test_whole_campaign"),
    },
    "replaced_return.sh": {
        *("test_delivered_runs", "test_delivered_devices", "test_replaced_certificates", "test_whole_campaign"),
    },
}


def setting(seed: int, **knobs: str) -> Draw:
    return replace(draw(FAMILY, seed), knobs={**FIRST, **knobs})


@pytest.mark.parametrize(
    "words",
    [
        "mooring sensors were recalibrated twice, and the reduction uses one calibration for the whole campaign",
        "a lab certificate gives the instrument drift in other units than the readings of the campaign",
    ],
)
def test_clues_lead_to_it(words: str) -> None:
    assert {choose(FAMILIES, words, "scientific computing", seed).name for seed in range(10)} == {FAMILY.name}


@pytest.mark.parametrize("seed", range(12))
def test_the_sentence_on_the_first_day_is_there_only_when_stated(seed: int) -> None:
    def document(semantics: str) -> str:
        return render(FAMILY, setting(seed, semantics=semantics)).environment["app/docs/CERTIFICATES.md"].data.decode()

    later = draw(FAMILY, seed).values["start"] == "next"
    said = "from the day after the calibration" if later else "on the day of the calibration already"
    assert said in " ".join(document("stated").split())
    assert said not in " ".join(document("unstated").split())


def test_full_hints_hold_the_reference_solution() -> None:
    drawn = setting(SEED, hints="full")
    commands = reference_solution(FAMILY, drawn).removeprefix("#!/usr/bin/env bash\nset -eu\n")
    assert commands in render(FAMILY, drawn).instruction


@dataclass(frozen=True)
class Bench:
    """Plays attempts at one setting with the docker command. label marks all that it makes."""

    drawn: Draw
    label: str

    def image(self, kind: str) -> str:
        return f"{self.label}/{kind}:{self.drawn.seed}-{'-'.join(map(str, self.drawn.knobs.values()))}"

    def build(self, folder: Path, stand_in: str) -> None:
        rendered = render(FAMILY, self.drawn)
        # The stage of the data gets a name of its own so that it can be removed
        for kind, tree, target in (
            ("data", rendered.environment, ("--target", "data")),
            ("task", rendered.environment, ()),
            ("verifier", rendered.tests, ()),
        ):
            text = tree["Dockerfile"].data.decode().replace("debian:bookworm-slim", stand_in)
            context = folder / kind
            tree.merged(Tree({"Dockerfile": text})).write(context)
            labelled = ("--label", f"bench={self.label}", "-t", self.image(kind))
            run("docker", "build", "-q", *labelled, *target, str(context))

    def remove(self) -> None:
        run("docker", "rmi", "-f", *map(self.image, ("task", "data", "verifier")))

    def attempt(self, script: str, grading_seed: int = 1) -> tuple[int, Mapping[str, str]]:
        """The reward, and the status of each test, after a script has run in the task's container."""
        paths = " ".join(path.removeprefix("/") for path in artifact_paths(FAMILY, self.drawn))
        left = self._in_container("task", f"bash -s >&2 && tar -C / -cf - {paths}", script.encode())
        judge = f"tar -C / -xf - && GRADING_SEED={grading_seed} bash /tests/test.sh >&2"
        results = "cd /logs/verifier && cat reward.txt ctrf.json"
        reward, _, report = self._in_container("verifier", f"{judge}; {results}", left).partition(b"\n")
        tests = json.loads(report)["results"]["tests"]
        return int(reward), {test["name"]: test["status"] for test in tests}

    def _in_container(self, kind: str, command: str, given: bytes) -> bytes:
        options = ("--rm", "-i", "--network", "none", "--label", f"bench={self.label}")
        return run("docker", "run", *options, self.image(kind), "bash", "-c", command, given=given)


def run(*command: str, given: bytes = b"") -> bytes:
    done = subprocess.run(command, input=given, capture_output=True, timeout=300, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[:3]}: {done.stderr.decode()[-2000:]}")
    return done.stdout


def failed(tests: Mapping[str, str]) -> set[str]:
    return {name for name, status in tests.items() if status == "failed"}


@pytest.fixture(scope="module")
def bench(engine_run: str, stand_in: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    made = Bench(setting(SEED), engine_run)
    try:
        made.build(tmp_path_factory.mktemp("bench"), stand_in)
        yield made
    finally:
        made.remove()


@pytest.mark.docker
def test_all_fail_untouched_and_pass_solved(bench: Bench) -> None:
    assert bench.attempt("true") == (0, dict.fromkeys(FAMILY.spec.checks, "failed"))
    solved = bench.attempt(reference_solution(FAMILY, bench.drawn))
    assert solved == (1, dict.fromkeys(FAMILY.spec.checks, "passed"))


@pytest.mark.docker
def test_another_architecture_passes(bench: Bench) -> None:
    assert bench.attempt(variants(FAMILY, bench.drawn, "alternatives")["calendar.sh"])[0] == 1


@pytest.mark.docker
@pytest.mark.parametrize("name", sorted(CAUGHT_BY))
def test_each_wrong_solution_is_caught_where_it_should_be(bench: Bench, name: str) -> None:
    reward, tests = bench.attempt(variants(FAMILY, bench.drawn, "wrong")[name])
    assert (reward, failed(tests)) == (0, CAUGHT_BY[name])
