"""The config file: defaults, what is refused and how it is said, overrides."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.domain.config import Config, Strategy
from forge.domain.config_reading import ConfigRefused, parse_assignment, parse_config


def refused(text, overrides=None):
    with pytest.raises(ConfigRefused) as caught:
        parse_config(text, "forge.toml", overrides)
    return caught.value.problems


def test_empty_file_gives_the_rehearsal():
    config = parse_config("", "forge.toml")
    assert config == Config()
    assert (config.run.seed, config.calibration.strategy, config.calibration.max_rounds) == (
        1,
        Strategy.CONTRASTIVE,
        50,
    )
    assert config.models_used() == ("rehearsal/author", "rehearsal/strong", "rehearsal/medium", "rehearsal/weak")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[run]\nsed = 1", "forge.toml: run.sed: unknown key; did you mean 'seed'?"),
        ("[calibrations]", "forge.toml: calibrations: unknown key; did you mean 'calibration'?"),
        ("[sandbox.draft]\ncpu = 1", "forge.toml: sandbox.draft.cpu: unknown key; did you mean 'cpus'?"),
        (
            '[models."a/b"]\napi_key = "x"',
            "forge.toml: models.\"a/b\".api_key: unknown key; did you mean 'api_key_env'?",
        ),
        (
            "[budget]\nzzz = 1",
            "forge.toml: budget.zzz: unknown key; known here: run_usd, candidate_usd, candidate_hours",
        ),
        ("[run]\nseed = -1", "forge.toml: run.seed: input should be greater than or equal to 0, not -1"),
        ("[author]\nminutes = inf", "forge.toml: author.minutes: input should be a finite number, not inf"),
        ("run = 3", "forge.toml: run: should be a table, not 3"),
        ("solvers = 3", "forge.toml: solvers: should be an array of tables, not 3"),
        ("solvers = []", "forge.toml: solvers: name at least one [[solvers]]"),
        ('[[solvers]]\nmodel = "a/b"', "forge.toml: solvers[1].name: is required"),
        ('[[solvers]]\nname = "a"', "forge.toml: solvers[1]: model is required by the policy plain"),
        (
            '[[solvers]]\nname = "a"\npolicy = "nop"\nmodel = "a/b"',
            "forge.toml: solvers[1]: the policy nop asks no model; take model out, or set policy to plain",
        ),
        (
            '[calibration]\nstrong = "stronk"',
            "forge.toml: calibration.strong: no solver is named 'stronk'; there are strong, medium, weak",
        ),
        ('[calibration]\nweak = "strong"', "forge.toml: calibration.weak: is the same solver as calibration.strong"),
        (
            '[calibration]\nstrategy = "multi-solver"\n[[solvers]]\nname = "a"\npolicy = "nop"',
            "forge.toml: calibration.strategy: multi-solver needs two or more [[solvers]]",
        ),
        (
            '[models."a/b"]\ninput_usd_per_million = 1',
            'forge.toml: models."a/b": input_usd_per_million and output_usd_per_million belong together: '
            "set both or none",
        ),
    ],
)
def test_what_is_wrong_is_said_with_file_and_key(text, problem):
    assert refused(text) == (problem,)


def test_every_problem_is_named_at_once():
    assert len(refused('[run]\nsed = 1\nout = 3\n[budget]\nrun_usd = "x"')) == 3


def test_two_solvers_of_one_name_are_refused():
    two = '[[solvers]]\nname = "a"\npolicy = "nop"\n' * 2
    assert "two solvers are named 'a'" in refused(two)[0]


def test_broken_toml_is_named_with_its_line():
    (problem,) = refused("[run]\nname = 'a'\nseed = = 1\n")
    assert problem.startswith("forge.toml: not valid TOML:")
    assert "line 3" in problem


@pytest.mark.parametrize("text", [f"a = {'1' * 6000}", "a = " + "[" * 100_000, "\0"])
def test_what_no_toml_reader_takes_is_refused(text):
    assert refused(text)[0].startswith("forge.toml: not valid TOML:")


@pytest.mark.parametrize("name", ["", "A", "a b", "../x", "a/b", "-a", "x" * 64])
def test_run_name_that_is_no_safe_folder_name_is_refused(name):
    assert "run.name" in refused("", {"run.name": name})[0]


def test_overrides_win_and_make_their_tables():
    config = parse_config("[run]\nseed = 3", "f", {"run.seed": 7, "sandbox.draft.cpus": 2.5})
    assert (config.run.seed, config.sandbox.draft.cpus) == (7, 2.5)


def test_override_below_a_value_is_refused():
    assert refused("[run]\nseed = 3", {"run.seed.x": 1}) == (
        "run.seed.x: run.seed is no table, so it has no key 'x' to set",
    )


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("run.seed=7", "run.seed", 7),
        ("run.name=night", "run.name", "night"),
        ("calibration.strategy=multi-solver", "calibration.strategy", "multi-solver"),
        ('run.name="7"', "run.name", "7"),
        ("sandbox.proxy={ http_proxy = 'http://p' }", "sandbox.proxy", {"http_proxy": "http://p"}),
        ("run.out=a=b", "run.out", "a=b"),
        ("run.out=a\nb = 1", "run.out", "a\nb = 1"),
    ],
)
def test_assignments(text, key, value):
    assert parse_assignment(text) == (key, value)


@pytest.mark.parametrize("text", ["", "run.seed", "=3"])
def test_what_is_no_assignment_is_refused(text):
    with pytest.raises(ConfigRefused, match="key=value"):
        parse_assignment(text)


@given(st.text())
def test_any_text_is_a_config_or_refused_in_lines_that_name_the_file(text):
    try:
        problems = parse_config(text, "f.toml") and ()
    except ConfigRefused as error:
        problems = error.problems or ("",)
    assert all(line.startswith("f.toml: ") for line in problems)


@given(st.text(min_size=1, max_size=12), st.text(max_size=40))
def test_any_assignment_is_read_or_refused(key, value):
    try:
        got, _ = parse_assignment(f"{key}={value}")
    except ConfigRefused:
        assert not key.partition("=")[0].strip()
    else:
        assert got == f"{key}={value}".partition("=")[0].strip()


def test_models_become_settings_of_the_door():
    config = parse_config(
        '[models."openai/x"]\napi_base = "http://h/v1"\napi_key_env = "K"\n'
        "input_usd_per_million = 1.0\noutput_usd_per_million = 2.0\n"
        '[models."openai/y"]\nconcurrency = 3\nextra_body = { top_k = 1 }\n',
        "f",
    )
    door = config.door()
    assert door.models["openai/x"].api_base == "http://h/v1"
    assert door.models["openai/y"].extra_body == {"top_k": 1}
    assert door.prices["openai/x"].cost(1_000_000, 500_000) == 2.0
    assert "openai/y" not in door.prices


def test_limits_of_solvers_are_in_seconds():
    text = """
    [[solvers]]
    name = "strong"
    model = "m/x"
    minutes = 2
    steps = 7
    [[solvers]]
    name = "weak"
    policy = "nop"
    """
    solver = parse_config(text, "f").solvers[0].solver()
    assert (solver.limits.time_sec, solver.limits.steps, solver.model) == (120.0, 7, "m/x")


def test_config_survives_its_own_json():
    config = parse_config('[models."a/b"]\nmax_tokens = 5', "f")
    assert Config.model_validate_json(config.model_dump_json()) == config


def test_hours_without_an_end_survive_the_record():
    config = parse_config("[budget]\ncandidate_hours = inf", "f")
    assert Config.model_validate_json(config.for_the_record()).budget.candidate_hours is None


def test_key_itself_has_no_place_in_the_file():
    (problem,) = refused('[models."a/b"]\napi_key = "secret"')
    assert "secret" not in problem
