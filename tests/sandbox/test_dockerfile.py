"""Reading and rewriting Dockerfiles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.dockerfile import parse, rewrite
from sandbox.errors import ContextRefused

LABEL = ("LABEL added=1",)
STAGED = """\
# escape=`
# a comment
ARG TAG=bookworm
ARG BASE=debian:${TAG}-slim
FROM --platform=linux/amd64 ${BASE} AS First
RUN echo one `
    # in between

    && echo two
FROM first
COPY --from=first /a /b
COPY --chown=1:1 --from=busybox:1 /bin/busybox /bin/
FROM scratch AS last
VOLUME /data
COPY --from=0 /a /
"""


def test_images_from_outside() -> None:
    file = parse(STAGED)
    assert file.images() == ("debian:bookworm-slim", "busybox:1")
    assert [(stage.image, stage.alias, stage.is_stage) for stage in file.stages] == [
        ("debian:bookworm-slim", "First", False),
        ("first", "", True),
        ("scratch", "last", False),
    ]
    assert parse(STAGED, {"BASE": "alpine:3"}).images() == ("alpine:3", "busybox:1")


def test_rewriting_names_stand_ins_adds_lines_and_leaves_out_volumes() -> None:
    text = rewrite(parse(STAGED), {"debian:bookworm-slim": "stand/in:1", "busybox:1": "stand/box:2"}, LABEL)
    assert "FROM --platform=linux/amd64 stand/in:1 AS First\nLABEL added=1\n" in text
    assert "FROM first\nLABEL added=1\n" in text
    assert "FROM scratch AS last\nLABEL added=1\n" in text
    assert "COPY --chown=1:1 --from=stand/box:2 /bin/busybox /bin/" in text
    assert "COPY --from=first /a /b" in text
    assert "VOLUME" not in text
    assert "RUN echo one `\n    # in between\n\n    && echo two\n" in text


@pytest.mark.parametrize(
    "line",
    [
        "RUN cat <<EOF",
        "RUN cat <<'EOF' > /f",
        'COPY <<-"END" /f',
        "RUN set -e; \\\n  python3 - << PY",
        "RUN --mount=type=cache,target=/x true",
        "RUN --network=none true",
        "COPY --link a b",
    ],
)
def test_what_another_builder_would_be_needed_for(line: str) -> None:
    with pytest.raises(ContextRefused, match="Dockerfile line 3"):
        parse(f"FROM a\n\n{line}\n")


@pytest.mark.parametrize(
    "line",
    [
        'RUN echo "a << b"',
        "RUN cat <<< text",
        "RUN echo $((1 << 4))",
        "RUN echo $((1<<N))",
        "RUN sed 's/<<EOF//' f",
        "ENV A=<<EOF",
        "# RUN cat <<EOF",
    ],
)
def test_what_only_looks_like_a_here_document(line: str) -> None:
    assert parse(f"FROM a\n{line}\n").images() == ("a",)


@pytest.mark.parametrize("text", ["", "RUN true\n", "FROM\n", "FROM a b\n", "FROM $NOTHING\n"])
def test_without_a_usable_from(text: str) -> None:
    with pytest.raises(ContextRefused):
        parse(text)


NAMES = st.from_regex(r"[a-z][a-z0-9]{0,8}(/[a-z]{1,5})?(:[a-z0-9.]{1,6})?", fullmatch=True)
BODY = st.lists(st.sampled_from(["RUN true", "# note", "", "RUN a \\\n  b", "COPY x /y", "WORKDIR /w"]), max_size=5)


@given(st.lists(st.tuples(NAMES, BODY), min_size=1, max_size=4))
def test_rewriting_changes_nothing_but_what_it_should(stages: list[tuple[str, list[str]]]) -> None:
    text = "\n".join("\n".join([f"FROM {name}", *body]) for name, body in stages) + "\n"
    file = parse(text)
    same = rewrite(file, {}, ())
    assert same == text
    stood_in = parse(rewrite(file, {name: f"stand/{index}" for index, name in enumerate(file.images())}, LABEL))
    assert stood_in.images() == tuple(f"stand/{index}" for index in range(len(file.images())))
    assert sum(instruction.name == "LABEL" for instruction in stood_in.instructions) == len(stages)
    kept = [i.rest for i in stood_in.instructions if i.name not in ("FROM", "LABEL")]
    assert kept == [i.rest for i in file.instructions if i.name != "FROM"]
