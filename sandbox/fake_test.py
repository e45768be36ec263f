"""The fake shell's `test` and `[`."""

import re
from collections.abc import Callable
from dataclasses import replace

from sandbox.fake_process import Answer, Call, failed

_NUMBER = re.compile(r"^-?\d+$")


def run_test(call: Call) -> Answer:
    args = list(call.args[1:])
    if call.args[0] == "[" and (not args or args.pop() != "]"):
        return failed(call, "missing `]'", 2)
    negated = False
    while args and args[0] == "!":
        negated = not negated
        args.pop(0)
    try:
        truth = _truth(args, replace(call, args=args))
    except ValueError as error:
        return failed(call, str(error), 2)
    return Answer(0 if truth != negated else 1)


def _truth(args: list[str], call: Call) -> bool:
    for joint, both in (("-o", any), ("-a", all)):
        if joint in args[1:-1]:
            at = args.index(joint)
            return both((_truth(args[:at], call), _truth(args[at + 1 :], call)))
    if len(args) <= 1:
        return bool(args and args[0])
    if len(args) == 2:
        return _unary(args[0], args[1], call)
    if len(args) == 3:
        return _binary(*args)
    raise ValueError("too many arguments")


def _unary(operator: str, value: str, call: Call) -> bool:
    path = call.path(value)
    checks: dict[str, Callable[[], bool]] = {
        "-e": lambda: call.files.exists(path),
        "-f": lambda: call.files.is_file(path),
        "-d": lambda: call.files.is_folder(path),
        "-r": lambda: call.files.exists(path),
        "-w": lambda: call.files.exists(path),
        "-x": lambda: call.files.exists(path) and bool(call.files.node(path).mode & 0o111),
        "-s": lambda: call.files.is_file(path) and bool(call.files.read(path)),
        "-L": lambda: call.files.exists(path) and call.files.node(path, follow=False).target is not None,
        "-n": lambda: bool(value),
        "-z": lambda: not value,
    }
    if operator not in checks:
        raise ValueError(f"{operator}: unary operator expected")
    return checks[operator]()


def _binary(left: str, operator: str, right: str) -> bool:
    if operator in ("=", "==", "!="):
        return (left == right) == (operator != "!=")
    compare: dict[str, Callable[[int, int], bool]] = {
        "-eq": int.__eq__,
        "-ne": int.__ne__,
        "-lt": int.__lt__,
        "-le": int.__le__,
        "-gt": int.__gt__,
        "-ge": int.__ge__,
    }
    if operator not in compare:
        raise ValueError(f"{operator}: binary operator expected")
    for side in (left, right):
        if not _NUMBER.match(side):
            raise ValueError(f"{side}: integer expression expected")
    return compare[operator](int(left), int(right))
