"""The programs that every fake sandbox has: the plain uses of some of coreutils, grep and find."""

import fnmatch
import posixpath
import re
from collections.abc import Mapping

from sandbox.fake_files import Node
from sandbox.fake_process import Answer, Call, Program, failed, user_id
from sandbox.fake_test import run_test
from sandbox.fake_text import cat, grep, head_or_tail, reason, wc

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def _mkdir(call: Call) -> Answer:
    letters, names = call.options()
    for name in names:
        make = call.files.make_folders if "p" in letters else call.files.make_folder
        try:
            make(call.path(name))
        except OSError as error:
            return failed(call, f"cannot create directory '{name}': {reason(error)}")
    return Answer()


def _rm(call: Call) -> Answer:
    letters, names = call.options()
    for name in names:
        path = call.path(name)
        if path not in ("/",) and call.files.is_folder(path) and not letters & {"r", "R"}:
            return failed(call, f"cannot remove '{name}': Is a directory")
        try:
            call.files.remove(path)
        except FileNotFoundError as error:
            if "f" not in letters:
                return failed(call, f"cannot remove '{name}': {reason(error)}")
    return Answer()


def _copy_or_move(call: Call) -> Answer:
    letters, names = call.options()
    if len(names) < 2:
        return failed(call, "missing file operand")
    *sources, dest = names
    target = call.path(dest)
    move = call.args[0] == "mv"
    for name in sources:
        path = call.path(name)
        if not call.files.exists(path):
            return failed(call, f"cannot stat '{name}': No such file or directory")
        if call.files.is_folder(path) and not move and not letters & {"r", "R", "a"}:
            return failed(call, f"-r not specified; omitting directory '{name}'")
        into = posixpath.join(target, posixpath.basename(path)) if call.files.is_folder(target) else target
        moved = {path: call.files.node(path, follow=False)}
        moved |= {inner: call.files.node(inner, follow=False) for inner in call.files.below(path)}
        if not call.files.is_folder(posixpath.dirname(into)):
            return failed(call, f"cannot create '{dest}': No such file or directory")
        for inner, node in moved.items():
            if inner != into:
                call.files.place(into + inner[len(path) :], node)
        if move and path != into:
            call.files.remove(path)
    return Answer()


def _touch(call: Call) -> Answer:
    for name in call.options()[1]:
        path = call.path(name)
        try:
            if not call.files.exists(path):
                call.files.write(path, b"")
        except OSError as error:
            return failed(call, f"cannot touch '{name}': {reason(error)}")
    return Answer()


def _chmod(call: Call) -> Answer:
    args = [arg for arg in call.args[1:] if arg != "-R"]
    mode, *names = args
    for name in names:
        path = call.path(name)
        if not call.files.exists(path):
            return failed(call, f"cannot access '{name}': No such file or directory")
        for inner in [path, *(call.files.below(path) if "-R" in call.args else ())]:
            try:
                call.files.chmod(inner, _mode(mode, call.files.node(inner, follow=False).mode))
            except ValueError:
                return failed(call, f"invalid mode: '{mode}'")
    return Answer()


def _mode(text: str, old: int) -> int:
    if re.fullmatch(r"[0-7]{3,4}", text):
        return int(text, 8)
    match = re.fullmatch(r"([ugoa]*)([+-])([rwx]+)", text)
    if match is None:
        raise ValueError(text)
    bits = sum({"r": 4, "w": 2, "x": 1}[letter] for letter in set(match[3]))
    shifts = {"u": 6, "g": 3, "o": 0}
    who = "ugo" if not match[1] or "a" in match[1] else match[1]
    mask = sum(bits << shifts[letter] for letter in set(who))
    return old | mask if match[2] == "+" else old & ~mask


def _ln(call: Call) -> Answer:
    letters, names = call.options()
    if "s" not in letters or len(names) != 2:
        return failed(call, "only 'ln -s TARGET NAME' is known here")
    path = call.path(names[1])
    if call.files.exists(path) and "f" not in letters:
        return failed(call, f"failed to create symbolic link '{names[1]}': File exists")
    call.files.place(path, Node(mode=0o777, target=names[0]))
    return Answer()


def _ls(call: Call) -> Answer:
    letters, names = call.options()
    out: list[str] = []
    for name in names or ["."]:
        path = call.path(name)
        if not call.files.exists(path):
            return failed(call, f"cannot access '{name}': No such file or directory", 2)
        inner = call.files.children(path) if call.files.is_folder(path) and "d" not in letters else [name]
        out += [child for child in inner if letters & {"a", "A"} or not child.startswith(".") or child == name]
    return Answer(0, "".join(f"{line}\n" for line in out).encode())


def _find(call: Call) -> Answer:
    args = list(call.args[1:])
    roots = []
    while args and not args[0].startswith("-"):
        roots.append(args.pop(0))
    tests = dict(zip(args[::2], args[1::2], strict=False))
    if set(tests) - {"-type", "-name", "-path"} or len(args) % 2:
        return failed(call, "only -type, -name and -path are known here")
    out = []
    for root in roots or ["."]:
        base = call.path(root)
        if not call.files.exists(base):
            return failed(call, f"'{root}': No such file or directory")
        for path in [base, *call.files.below(base)]:
            shown = root + path[len(base) :] if base != "/" else root.rstrip("/") + path
            kind = "d" if call.files.node(path, follow=False).is_folder else "f"
            named = fnmatch.fnmatchcase(posixpath.basename(path), tests.get("-name", "*"))
            if tests.get("-type", kind) == kind and named and fnmatch.fnmatchcase(shown, tests.get("-path", "*")):
                out.append(f"{shown}\n")
    return Answer(0, "".join(out).encode())


def _seq(call: Call) -> Answer:
    first, last = (1, int(call.args[1])) if len(call.args) == 2 else (int(call.args[1]), int(call.args[2]))
    return Answer(0, "".join(f"{number}\n" for number in range(first, last + 1)).encode())


def _sleep(call: Call) -> Answer:
    for arg in call.args[1:]:
        if arg == "infinity":
            call.clock.sleep(float("inf"))
        call.clock.sleep(float(arg.rstrip("smhd")) * _UNITS.get(arg[-1:], 1.0))
    return Answer()


def _id(call: Call) -> Answer:
    uid = user_id(call.files, call.user)
    if "-u" in call.args and "-n" not in call.args:
        return Answer(0, f"{uid}\n".encode())
    if "-un" in call.args or call.args[0] == "whoami":
        return Answer(0, f"{call.user}\n".encode())
    return Answer(0, f"uid={uid}({call.user}) gid={uid}({call.user})\n".encode())


def _env(call: Call) -> Answer:
    return Answer(0, "".join(f"{name}={value}\n" for name, value in call.env.items()).encode())


def _yes(call: Call) -> Answer:
    """More than any limit on output lets through."""
    return Answer(0, (" ".join(call.args[1:] or ["y"]) + "\n").encode() * (1 << 24))


def _kill(call: Call) -> Answer:
    signals = [arg for arg in call.args[1:] if arg.startswith("-")]
    for arg in call.args[1:]:
        if arg.startswith("-"):
            continue
        if not arg.isdigit() or not call.jobs.alive(int(arg), call.clock.now):
            return failed(call, f"({arg}) - No such process")
        if "-0" not in signals:
            call.jobs.kill(int(arg))
    return Answer()


def _basename(call: Call) -> Answer:
    of = posixpath.basename if call.args[0] == "basename" else posixpath.dirname
    return Answer(0, (of(call.args[1].rstrip("/") or "/") or ".").encode() + b"\n")


PROGRAMS: Mapping[str, Program] = {
    "[": run_test,
    "basename": _basename,
    "cat": cat,
    "chmod": _chmod,
    "chown": lambda call: Answer(),
    "cp": _copy_or_move,
    "dirname": _basename,
    "env": _env,
    "find": _find,
    "grep": grep,
    "head": head_or_tail,
    "id": _id,
    "kill": _kill,
    "ln": _ln,
    "ls": _ls,
    "mkdir": _mkdir,
    "mv": _copy_or_move,
    "rm": _rm,
    "seq": _seq,
    "sleep": _sleep,
    "tail": head_or_tail,
    "test": run_test,
    "touch": _touch,
    "wc": wc,
    "whoami": _id,
    "yes": _yes,
}
