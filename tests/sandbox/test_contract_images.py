"""What every engine does with images, and with what is left behind: on the fake in memory and on Docker."""

import uuid

import pytest

from sandbox.api import Engine, Image, ImageSpec, Machine, Owner
from sandbox.errors import BuildFailed, ContextRefused, ImageMissing, SandboxGone
from sandbox.tree import File, Tree

BASE = "debian:bookworm-slim"


def spec(dockerfile: str, **files: str | File) -> ImageSpec:
    return ImageSpec(
        Tree({"Dockerfile": dockerfile, **{path.replace("__", "/"): file for path, file in files.items()}})
    )


def said(engine: Engine, image: Image, owner: Owner, command: str) -> str:
    with engine.start(image, Machine(), owner) as sandbox:
        result = sandbox.exec(command, timeout_sec=20)
        assert result.exit_code == 0, result
        return result.stdout.decode()


def test_the_same_content_is_one_image(engine: Engine, owner: Owner) -> None:
    one = engine.build(spec(f"FROM {BASE}\nCOPY f /f\n", f="x"), owner)
    same = engine.build(spec(f"FROM {BASE}\nCOPY f /f\n", f="x"), Owner("another-run"))
    other = engine.build(spec(f"FROM {BASE}\nCOPY f /f\n", f=File(b"x", 0o755)), owner)
    assert (one.id, one.tag) == (same.id, same.tag)
    assert other.tag != one.tag
    for image in (one, other):
        engine.drop(image)


def test_a_dockerfile_with_stages(engine: Engine, owner: Owner) -> None:
    text = f"""# comment first
ARG BASE={BASE}
FROM $BASE AS made
ARG WHO=nobody
RUN mkdir /out && \\
    # a comment inside
    echo "made for $WHO" > /out/f
FROM ${{BASE}}
COPY --from=made /out /in
COPY parts /parts/
ENV A=1 B="two words"
WORKDIR /in
RUN echo more >> f
USER nobody
CMD ["echo", "ignored"]
"""
    image = engine.build(
        ImageSpec(Tree({"Dockerfile": text, "parts/x/y": "z"}), build_args={"WHO": "somebody"}),
        owner,
    )
    assert said(engine, image, owner, 'cat f; id -u; echo "$A $B"; cat /parts/x/y') == (
        "made for somebody\nmore\n65534\n1 two words\nz"
    )
    engine.drop(image)


def test_what_does_not_build_says_why(engine: Engine, owner: Owner) -> None:
    with pytest.raises(BuildFailed) as caught:
        engine.build(spec(f"FROM {BASE}\nRUN echo about to fail; exit 7\n"), owner)
    assert "about to fail" in caught.value.log
    assert "7" in caught.value.last_lines(2)
    with pytest.raises(BuildFailed):
        engine.build(spec(f"FROM {BASE}\nCOPY nothere /x\n"), owner)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"FROM {BASE}\nRUN cat <<EOF > /f\nhi\nEOF\n", "line 2"),
        (f"# syntax=docker/dockerfile:1\nFROM {BASE}\n", "line 1"),
        (f"FROM {BASE}\n\nRUN --mount=type=cache,target=/x true\n", "line 3"),
        ("RUN true\n", "FROM"),
    ],
)
def test_what_is_not_supported_is_refused_by_line(engine: Engine, owner: Owner, text: str, line: str) -> None:
    with pytest.raises(ContextRefused, match=line):
        engine.build(spec(text), owner)


def test_a_context_without_dockerfile_or_with_dockerignore(engine: Engine, owner: Owner) -> None:
    with pytest.raises(ContextRefused, match="no Dockerfile"):
        engine.build(ImageSpec(Tree({"f": "x"})), owner)
    with pytest.raises(ContextRefused, match="dockerignore"):
        engine.build(ImageSpec(Tree({"Dockerfile": f"FROM {BASE}\n", ".dockerignore": "x"})), owner)


def test_an_image_as_it_is(engine: Engine, owner: Owner) -> None:
    image = engine.build(ImageSpec(Tree(), docker_image=BASE), owner)
    assert said(engine, image, owner, "echo hello") == "hello\n"
    engine.drop(image)
    assert engine.build(ImageSpec(Tree(), docker_image=BASE), owner).id == image.id
    with pytest.raises(ContextRefused):
        engine.build(ImageSpec(Tree()), owner)


def test_files_of_an_image_include_deleted_ones(engine: Engine, owner: Owner) -> None:
    image = engine.build(
        spec(f"FROM {BASE}\nCOPY answer /srv/answer\nRUN rm /srv/answer && echo x > /srv/left\n", answer="42"), owner
    )
    files = engine.image_files(image)
    assert {"/srv/answer", "/srv/left"} <= set(files)
    assert "/etc/passwd" not in files
    engine.drop(image)


def test_dropping_an_image(engine: Engine, owner: Owner) -> None:
    image = engine.build(spec(f"FROM {BASE}\nRUN echo {uuid.uuid4().hex} > /x\n"), owner)
    with engine.start(image, Machine(), owner) as sandbox:
        engine.drop(image)
        assert sandbox.exec("cat /x", timeout_sec=20).exit_code == 0
    for _ in range(600):  # while anybody on this machine builds, it stays
        engine.drop(image)
        try:
            engine.start(image, Machine(), owner).close()
        except ImageMissing:
            return
    raise AssertionError("the image is still there")


def test_a_sweep_ends_a_run_and_spares_others(engine: Engine, image: Image, owner: Owner) -> None:
    doomed = Owner(f"{owner.run}-doomed")
    left = [engine.start(image, Machine(), doomed) for _ in range(2)]
    with engine.start(image, Machine(), owner) as spared:
        assert engine.sweep(doomed.run).containers >= 2
        for sandbox in left:
            with pytest.raises(SandboxGone):
                sandbox.exec("true", timeout_sec=20)
        assert spared.exec("true", timeout_sec=20).exit_code == 0
