"""Shell commands as text: quoting, files by heredoc, bounded reads."""

import shlex
from collections.abc import Sequence

READ_CHARS = 6_000
"""Bytes of one file that a read shows; a shorter one was read whole."""


def quote(*words: str) -> str:
    return " ".join(shlex.quote(word) for word in words)


def heredoc(command: str, text: str) -> str:
    """`command` with `text` on its standard input, taken literally."""
    mark = "EOF"
    while mark in text.splitlines():
        mark += "_"
    return f"{command} <<'{mark}'\n{text.rstrip(chr(10))}\n{mark}"


def write_file(path: str, text: str) -> str:
    """Write a text file (ending in one newline) to an absolute path."""
    return heredoc(f"cat > {quote(path)}", text)


def run_python(program: str, *arguments: str) -> str:
    """Run a Python program given as text; its sys.argv[1:] are the arguments."""
    return heredoc(f"python3 - {quote(*arguments)}".rstrip(), program)


def read_files(paths: Sequence[str]) -> str:
    """Show the beginning of each file under a header line; a view knows the files of such a command."""
    return f"head -v -c {READ_CHARS} -- {quote(*paths)}"


def list_files(folders: Sequence[str], most: int = 220) -> str:
    """List sizes and paths under the folders, or under the working directory; a view knows the listing of such a
    command."""
    names = quote(*folders) if folders else '"$PWD"'
    return (
        f"find {names} -xdev -maxdepth 6 \\( -name .git -prune -o -type f \\) -printf '%s %p\\n' 2>/dev/null"
        f" | sort -k2 | head -n {most}"
    )
