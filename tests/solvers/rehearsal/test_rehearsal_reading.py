"""What the programs read out of instructions and observations."""

from hypothesis import given
from hypothesis import strategies as st

from solvers import protocol
from solvers.model import Message
from solvers.rehearsal import conversation, shell, told
from solvers.rehearsal.conversation import Conversation
from solvers.rehearsal.patterns import filled, matching
from solvers.rehearsal.sight import view_of
from solvers.rehearsal.technique import Move, Output
from tests.solvers.rehearsal.conversations import observed, opening


@given(command=st.text(min_size=1).filter(lambda text: text.strip() and "\0" not in text and "\r" not in text))
def test_any_command_survives_the_protocol_or_is_packed(command: str) -> None:
    said = conversation.turn(Move("I saw `it`.\nTASK COMPLETE: no", command))
    assert said is not None
    turn = protocol.parse(said)
    assert isinstance(turn, protocol.Command)
    assert turn.text == command or "base64 -d" in turn.text


def test_a_conversation_is_read_back() -> None:
    messages = [
        *opening("Do it."),
        Message("assistant", "I list.\n\n```bash\nls\n```"),
        Message("user", observed("a\nb\n", 2, "no such file")),
    ]
    read = conversation.parse(messages)
    assert read.instruction == "Do it."
    assert read.turns == (("ls", Output(2, "a\nb", "no such file")),)


def test_an_elided_output_is_known_as_such() -> None:
    messages = [
        *opening("Do it."),
        Message("assistant", "```bash\ncat x\n```"),
        Message("user", observed("x" * 20_000)),
    ]
    assert not conversation.parse(messages).turns[0][1].whole


def test_commands_in_the_running_text_but_no_placeholders_and_no_plain_names() -> None:
    text = (
        "Run `python3 -m shop in out`, never `python3 -m shop FEED OUT` or `bash <file>`; see `README.md` and `make`."
    )
    assert told.spans(text) == ("python3 -m shop in out",)
    assert told.rebuilds("`git push`, `make check`") == ("make check",)


def test_folders_worth_a_look_are_the_outermost_ones_that_are_not_the_systems() -> None:
    text = "See https://host/x, `/srv/shop/README.md`, /srv/shop/a/b and `/etc/shop/`; not /tmp, not /etc/."
    assert told.folders(text) == ("/srv/shop", "/etc/shop")


def test_files_are_whole_when_they_end_before_the_bound() -> None:
    read = shell.read_files(["/a/x.md", "/a/it's.py"])
    long = "y" * shell.READ_CHARS
    shown = f"==> /a/x.md <==\nfirst\n==> /b <==\nstill x\n\n==> /a/it's.py <==\n{long}"
    listing = (shell.list_files(["/a"]), Output(0, f"21 /a/x.md\n{len(long) + 5} /a/it's.py\n7 /a/.git\n"))
    view = view_of(Conversation("", (listing, (read, Output(0, shown)))))
    assert view.files == {"/a/x.md": "first\n==> /b <==\nstill x\n"}
    assert view.heads == {"/a/it's.py": long}
    assert view.listing == ("/a/x.md", "/a/it's.py", "/a/.git")
    assert view.sizes["/a/x.md"] == 21


@given(name=st.from_regex(r"[a-z][a-z0-9.-]{0,8}", fullmatch=True))
def test_a_filled_pattern_fits_with_the_name(name: str) -> None:
    for pattern in ("/x/NAME.csv", "/x/<host>/y.env", "/x/{unit}.*"):
        path = filled(pattern, name).replace("*", "ini")
        assert matching([path, "/x", "/x/a/b/c"], pattern).get(path) == name


def test_a_here_document_holds_any_text() -> None:
    assert shell.heredoc("cat", "EOF\nx") == "cat <<'EOF_'\nEOF\nx\nEOF_"
