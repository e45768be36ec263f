"""What a run writes down of its config, and what it does about one that it cannot read."""

import errno
import math

import pytest

from forge.cli.run_view import run_view
from forge.domain.config import Config
from forge.factory.begin import RunDiffers, begin
from forge.factory.failures import settle
from forge.factory.signals import RunHalted
from forge.storage.ledger import Ledger
from forge.storage.ledger_values import RunRow
from tests.forge.factory.world import World


def test_no_secret_of_the_config_is_recorded(world: World) -> None:
    secret = "hunter2"
    endpoint = {"api_base": f"https://me:{secret}@host/v1", "extra_body": {"key": secret}}
    world.run(
        "easy", sandbox__proxy={"HTTPS_PROXY": f"http://me:{secret}@proxy"}, models_table={"openai/own": endpoint}
    )
    with world.reader() as reader:
        assert secret not in reader.run().config
    files = [path for path in (world.folder / "runs").rglob("*") if path.is_file()]
    assert [path for path in files if secret.encode() in path.read_bytes()] == []


def test_run_of_a_version_whose_config_is_another_one_is_refused(world: World) -> None:
    with Ledger.open(world.folder / "run") as ledger:
        ledger.rows.put_run(RunRow(name="toy", config='{"run": {"gone": 1}}', versions={"terminal-task-forge": "9"}))
        with pytest.raises(RunDiffers, match=r"started by another version of this program \(9\)"):
            begin(ledger, world.config(), [])


def test_full_disk_halts_the_run_wherever_it_is_met() -> None:
    waited: list[int] = []

    def work() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(RunHalted, match="No space left"):
        settle(work, retries=3, wait=waited.append, note=lambda _: None)
    assert waited == []


def test_status_of_such_a_run_says_whose_it_is(world: World) -> None:
    with Ledger.open(world.folder / "run") as ledger:
        ledger.rows.put_run(RunRow(name="toy", config='{"run": {"gone": 1}}', versions={"terminal-task-forge": "9"}))
        with pytest.raises(RunDiffers, match="run toy: it was started by another version of this program"):
            run_view(ledger.read)


def test_candidate_without_end_of_its_time_is_recorded(world: World) -> None:
    config = world.config(budget__candidate_hours=math.inf)
    assert Config.model_validate_json(config.for_the_record()).budget.candidate_hours is None
