"""The parts that read a command's output, on any chunking."""

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from sandbox.capped import CappedOutput
from sandbox.execution import MarkedStream, argument_vector, tools_were_replaced
from sandbox.frames import FrameParser

FRAMES = st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=200)), max_size=20)


def chunked(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


def frame(stream: int, payload: bytes) -> bytes:
    return bytes([stream, 0, 0, 0]) + len(payload).to_bytes(4, "big") + payload


@given(FRAMES, st.lists(st.integers(0, 10_000), max_size=30))
def test_frames_come_out_whatever_the_chunks(frames: list[tuple[int, bytes]], cuts: list[int]) -> None:
    data = b"".join(frame(stream, payload) for stream, payload in frames)
    parser = FrameParser()
    streams = {1: b"", 2: b""}
    for chunk in chunked(data, cuts):
        for stream, part in parser.feed(chunk):
            streams[stream] += part
    for stream, found in streams.items():
        assert found == b"".join(payload for number, payload in frames if number == stream)


@given(st.lists(st.binary(max_size=300), max_size=20), st.integers(1, 500))
def test_capped_output_is_all_or_head_and_tail(parts: list[bytes], cap: int) -> None:
    output, whole = CappedOutput(cap), b"".join(parts)
    for part in parts:
        output.add(part)
    kept = output.value()
    assert output.total == len(whole)
    assert output.truncated == (len(whole) > cap)
    if len(whole) <= cap:
        assert kept == whole
    else:
        assert kept == whole[: cap - cap // 2] + (whole[-(cap // 2) :] if cap // 2 else b"")


def test_capped_output_holds_little_of_a_long_stream() -> None:
    output = CappedOutput(1000)
    for number in range(3000):
        output.add(b"%09d\n" % number * 100)
    assert output.total == 3_000_000
    assert len(output.value()) == 1000
    assert output.value().endswith(b"000002999\n")


@given(st.binary(max_size=200), st.binary(max_size=50), st.lists(st.integers(0, 1000), max_size=20))
def test_our_lines_are_found_and_taken_out(body: bytes, after: bytes, cuts: list[int]) -> None:
    mark = b"forge-0123456789"
    stream = MarkedStream(mark, 10_000)
    for chunk in chunked(mark + b" 42 0\n" + body + mark + b" 7 1\n" + after, cuts):
        stream.feed(chunk, 2)
    stream.finish()
    assert stream.lines == [[b"42", b"0"], [b"7", b"1"]]
    assert stream.output.value() == body


@given(st.binary(max_size=200), st.lists(st.integers(0, 1000), max_size=20))
def test_without_our_lines_all_is_output(body: bytes, cuts: list[int]) -> None:
    stream = MarkedStream(b"forge-0123456789", 10_000)
    for chunk in chunked(body, cuts):
        stream.feed(chunk, 2)
    stream.finish()
    assert stream.output.value() == body


@given(st.text(max_size=100_000, alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_a_command_is_passed_whole_in_arguments_of_a_size_that_is_allowed(command: str) -> None:
    arguments = argument_vector(command)
    assert all(len(argument.encode()) < 131_072 - 20 for argument in arguments)
    assert command == arguments[2] or command == "".join(arguments[4:])


def test_a_long_command_names_each_part_once() -> None:
    arguments = argument_vector("x" * 1_000_000)
    assert re.findall(r"\$\{(\d+)\}", arguments[2]) == [str(number) for number in range(1, len(arguments) - 3)]


def test_which_changes_make_the_killers_word_worthless() -> None:
    assert tools_were_replaced(["/etc", "/bin/sh"])
    assert tools_were_replaced(["/usr/lib/x86_64-linux-gnu/libc.so.6"])
    assert tools_were_replaced(["/etc/ld.so.preload"])
    assert not tools_were_replaced(
        ["/app/sh", "/usr/bin/python3", "/etc/passwd", "/work/libc.so.6", "/etc/ld.so.cache"]
    )
