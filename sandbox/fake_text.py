"""The fake programs that read text: cat, head, tail, wc, grep."""

import re

from sandbox.fake_process import Answer, Call, failed


def cat(call: Call) -> Answer:
    out, err, code = b"", b"", 0
    for name in call.options()[1] or ["-"]:
        try:
            out += _read(call, name)
        except OSError as error:
            err += f"cat: {name}: {reason(error)}\n".encode()
            code = 1
    return Answer(code, out, err)


def _read(call: Call, name: str) -> bytes:
    return call.stdin if name in ("-", "/dev/stdin") else call.files.read(call.path(name))


def reason(error: OSError) -> str:
    names = {
        FileNotFoundError: "No such file or directory",
        IsADirectoryError: "Is a directory",
        NotADirectoryError: "Not a directory",
        FileExistsError: "File exists",
    }
    return names.get(type(error), "Input/output error")


def head_or_tail(call: Call) -> Answer:
    count, by_bytes, names = 10, False, []
    args = list(call.args[1:])
    while args:
        arg = args.pop(0)
        if arg in ("-n", "-c") and args:
            by_bytes, count = arg == "-c", _size(args.pop(0))
        elif arg[:2] in ("-n", "-c") and len(arg) > 2:
            by_bytes, count = arg[1] == "c", _size(arg[2:])
        elif re.fullmatch(r"-\d+", arg):
            count = int(arg[1:])
        else:
            names.append(arg)
    if names == ["/dev/zero"] and by_bytes:
        return Answer(0, b"\0" * min(count, 64 << 20))
    out = b""
    for name in names or ["-"]:
        try:
            data = _read(call, name)
        except OSError as error:
            return failed(call, f"cannot open '{name}' for reading: {reason(error)}")
        parts = [data[i : i + 1] for i in range(len(data))] if by_bytes else data.splitlines(keepends=True)
        out += b"".join(parts[:count] if call.args[0] == "head" else parts[max(0, len(parts) - count) :])
    return Answer(0, out)


def _size(text: str) -> int:
    unit = {"K": 1 << 10, "k": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:], 1)
    return int(text.rstrip("KkMG")) * unit


def wc(call: Call) -> Answer:
    letters, names = call.options()
    out = ""
    for name in names or [""]:
        try:
            data = _read(call, name or "-")
        except OSError as error:
            return failed(call, f"{name}: {reason(error)}")
        counts = {"l": data.count(b"\n"), "w": len(data.split()), "c": len(data)}
        shown = [str(counts[key]) for key in "lwc" if not letters or key in letters]
        out += " ".join([*shown, *([name] if name else [])]) + "\n"
    return Answer(0, out.encode())


def grep(call: Call) -> Answer:
    letters, rest = call.options()
    if not rest:
        return failed(call, "no pattern", 2)
    pattern, *names = rest
    flags = re.IGNORECASE if "i" in letters else 0
    wanted = re.compile(re.escape(pattern) if "F" in letters else pattern, flags)
    found: list[str] = []
    for name in names or ["-"]:
        try:
            lines = _read(call, name).decode(errors="surrogateescape").splitlines()
        except OSError as error:
            return failed(call, f"{name}: {reason(error)}", 2)
        hits = [line for line in lines if bool(wanted.search(line)) != ("v" in letters)]
        found += [f"{name}:{line}" if len(names) > 1 else line for line in hits]
    out = f"{len(found)}\n" if "c" in letters else "".join(f"{line}\n" for line in found)
    return Answer(0 if found else 1, b"" if "q" in letters else out.encode(errors="surrogateescape"))
