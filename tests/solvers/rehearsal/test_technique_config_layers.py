"""Layers merged for real, as documents of several wordings say."""

import json
from pathlib import Path

import pytest

from solvers.rehearsal.config_layers import ConfigLayers
from tests.solvers.rehearsal.places import work

LATER_WINS = [
    "The later layer wins.",
    "The layers go from the weakest to the strongest.",
    "A layer overrides the ones above it.",
    "The last one takes precedence.",
]
FIRST_WINS = [
    "The first layer that has a setting decides.",
    "The list goes from the strongest to the weakest.",
    "A file overrides those below it.",
    "Highest precedence first.",
]


def layers(root: Path, sentences: str, listed: str) -> str:
    (root / "README.md").write_text(f"# Settings\n\n{listed}\n\n{sentences}\n")
    (root / "base.json").write_text(json.dumps({"net": {"port": 80, "tls": True, "names": ["a"]}, "log": {"to": "x"}}))
    (root / "conf.d").mkdir()
    (root / "conf.d/10-a.ini").write_text("[net]\nport = 81\nhost = 5%\n[log]\nto =\n")
    (root / "conf.d/20-b.ini").write_text("# late\n[net]\nport = 82\n[net.deep]\nkey = a = b\n")
    (root / "extra.json").write_text(json.dumps({"net": {"names": ["b"]}}))
    (root / "hosts").mkdir()
    (root / "hosts/elm.env").write_text("# elm\nSRV__NET__HOST=elm\n")
    (root / "hosts/oak.env").write_text("SRV__NET__PORT='83'\nSRV__LOG__LEVEL=warn\n")
    return f"Write what each host runs with to `{root}/out/HOST.json`."


def upwards() -> str:
    return "1. `base.json`: base\n2. `conf.d/*.ini`: by name\n3. `extra.json`\n4. `hosts/HOST.env`: the host's"


def downwards() -> str:
    names = ["hosts/HOST.env", "extra.json", "conf.d/*.ini", "base.json"]
    return "|n|file|\n|---|---|\n" + "".join(f"| {number} | `{name}` |\n" for number, name in enumerate(names))


def result(root: Path, host: str) -> dict[str, dict[str, object]]:
    loaded: dict[str, dict[str, object]] = json.loads((root / f"out/{host}.json").read_text())
    return loaded


@pytest.mark.parametrize("sentence", LATER_WINS)
def test_the_later_layer_wins(sentence: str, tmp_path: Path) -> None:
    assert work(ConfigLayers(), tmp_path, layers(tmp_path, sentence + " A dot leads into a section.", upwards()))
    assert result(tmp_path, "oak")["net"]["port"] == "83"
    elm = result(tmp_path, "elm")["net"]
    assert (elm["port"], elm["host"], elm["deep"], elm["tls"]) == ("82", "elm", {"key": "a = b"}, True)


@pytest.mark.parametrize("sentence", FIRST_WINS)
def test_the_first_layer_wins(sentence: str, tmp_path: Path) -> None:
    assert work(ConfigLayers(), tmp_path, layers(tmp_path, sentence, downwards()))
    assert result(tmp_path, "oak")["net"]["port"] == "83"
    assert result(tmp_path, "elm")["net"]["port"] == "81"
    assert result(tmp_path, "oak")["net"]["host"] == "5%"


@pytest.mark.parametrize(
    ("sentence", "there"),
    [
        ("", True),
        ("An empty value is a value like any other.", True),
        ("A setting with an empty value is unset by it.", False),
        ("An empty value removes the setting.", False),
    ],
)
def test_empty_values(sentence: str, there: bool, tmp_path: Path) -> None:
    work(ConfigLayers(), tmp_path, layers(tmp_path, f"The later layer wins. {sentence}", upwards()))
    assert ("to" in result(tmp_path, "oak").get("log", {})) == there


@pytest.mark.parametrize(
    ("sentence", "names"),
    [
        ("", ["b"]),
        ("A list replaces the list of a weaker layer.", ["b"]),
        ("Lists of all layers are appended, the weakest first.", ["a", "b"]),
    ],
)
def test_lists(sentence: str, names: list[str], tmp_path: Path) -> None:
    work(ConfigLayers(), tmp_path, layers(tmp_path, f"The later layer wins. {sentence}", upwards()))
    assert result(tmp_path, "elm")["net"]["names"] == names


def test_texts(tmp_path: Path) -> None:
    work(ConfigLayers(), tmp_path, layers(tmp_path, "The later layer wins. All values are strings.", upwards()))
    assert result(tmp_path, "elm")["net"]["tls"] == "true"


@pytest.mark.parametrize("sentence", ["", "The later layer wins. The first layer wins."])
def test_without_a_stated_precedence_nothing_is_done(sentence: str, tmp_path: Path) -> None:
    assert work(ConfigLayers(), tmp_path, layers(tmp_path, sentence, upwards())) == []
