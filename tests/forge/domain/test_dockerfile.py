"""What a Dockerfile takes from its context."""

import pytest

from forge.domain.dockerfile import copy_sources, missing_sources

CONTEXT = ("Dockerfile", "app/main.py", "app/lib/x.py", "conf.toml")


@pytest.mark.parametrize(
    "line",
    [
        *("COPY . /app", "COPY app /app", "COPY ./app/ /app/", "copy app/main.py conf.toml /app/", "ADD *.toml /etc/"),
        *('COPY ["app", "/app"]', "COPY --chown=1:1 --chmod=755 app /app", "COPY app/*/x.py /x", "ADD a?p /x"),
        *("COPY --from=build /out /out", "ADD https://example.org/x.tar /x", "COPY $WHAT /x", "RUN COPY nothing /x"),
        *("# COPY nothing /x", "COPY app \\\n  conf.toml \\\n  /app/", "COPY app \\\n# nothing\n /app/"),
    ],
)
def test_present(line: str) -> None:
    assert missing_sources(f"FROM x\n{line}\n", CONTEXT) == ()


@pytest.mark.parametrize(
    ("line", "missing"),
    [
        ("COPY gone /app", "gone"),
        ("COPY app/gone.py conf.toml /app/", "app/gone.py"),
        ("COPY app/main /app", "app/main"),
        ('COPY ["conf.toml", "no such", "/app"]', "no such"),
        ("COPY *.yaml /app", "*.yaml"),
        ("COPY app \\\n  gone \\\n  /app/", "gone"),
    ],
)
def test_missing(line: str, missing: str) -> None:
    assert missing_sources(f"FROM x\n{line}\n", CONTEXT) == (missing,)


def test_several_instructions() -> None:
    assert list(copy_sources("COPY a b /x\nADD c /y\nRUN true")) == ["a", "b", "c"]
