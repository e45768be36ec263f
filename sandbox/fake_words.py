"""Expansion of the fake shell's words: quotes, parameters, command substitution, patterns."""

import ast
import fnmatch
import re
from collections.abc import Callable
from typing import Protocol

from sandbox.fake_lexer import skip

_NAME = re.compile(r"[A-Za-z_]\w*|[0-9?$!#@*]")
_BRACED = re.compile(r"([A-Za-z_]\w*|[0-9?$!#@*])(?:(:?[-=+]|%%?|##?)(.*))?", re.DOTALL)
_PATTERN = re.compile(r"[*?\[]")


class Scope(Protocol):
    """What expansion asks of the shell."""

    def value(self, name: str) -> str: ...

    def captured(self, text: str) -> str: ...

    def paths(self, pattern: str) -> list[str]: ...


def expand(word: str, scope: Scope) -> list[str]:
    """The fields that an unquoted word becomes: split at blanks where it was not quoted, patterns replaced by paths."""
    fields: list[tuple[str, bool]] = []
    current, has_pattern, started = "", False, False
    for text, quoted in _pieces(word, scope):
        if quoted is not None:
            current, started = current + text, True
            has_pattern = has_pattern or (not quoted and bool(_PATTERN.search(text)))
            continue
        parts = re.split(r"[ \t\n]+", text)
        for number, part in enumerate(parts):
            if number:
                if current or started:
                    fields.append((current, has_pattern))
                current, has_pattern, started = "", False, False
            current += part
            has_pattern = has_pattern or bool(_PATTERN.search(part))
    if current or started:
        fields.append((current, has_pattern))
    return [path for text, pattern in fields for path in ((scope.paths(text) if pattern else []) or [text])]


def expand_text(word: str, scope: Scope, *, in_document: bool = False) -> str:
    """The one text that an assignment, a redirection's target or a here-document becomes: never split."""
    if in_document:
        return "".join(text for text, _ in _quoted_pieces(word, scope, special="$`\\"))
    return "".join(text for text, _ in _pieces(word, scope))


def _pieces(word: str, scope: Scope) -> list[tuple[str, bool | None]]:
    """(text, True quoted / False written plainly / None the result of an unquoted expansion, to be split)."""
    found: list[tuple[str, bool | None]] = []
    at = 0
    if word == "~" or word.startswith("~/"):
        found.append((scope.value("HOME") or "/root", True))
        at = 1
    while at < len(word):
        end = skip(word, at)
        char = word[at]
        if char == "\\":
            found.append((word[at + 1 : end], True))
        elif char == "'":
            found.append((word[at + 1 : end - 1], True))
        elif char == '"':
            inner = _quoted_pieces(word[at + 1 : end - 1], scope, special='$`"\\')
            found += [("", True), *inner]
        elif char in "$`":
            text, end = _expansion(word, at, scope)
            found.append((text, None if end > at + 1 else False))
        else:
            found.append((char, False))
        at = end
    return found


def _quoted_pieces(text: str, scope: Scope, special: str) -> list[tuple[str, bool | None]]:
    found: list[tuple[str, bool | None]] = []
    at = 0
    while at < len(text):
        if text[at] == "\\" and at + 1 < len(text) and text[at + 1] in special + "\n":
            found.append(("" if text[at + 1] == "\n" else text[at + 1], True))
            at += 2
        elif text[at] in "$`":
            value, at = _expansion(text, at, scope)
            found.append((value, True))
        else:
            found.append((text[at], True))
            at += 1
    return found


def _expansion(text: str, at: int, scope: Scope) -> tuple[str, int]:
    """The value of the expansion that begins at `at`, and the position after it."""
    end = skip(text, at)
    if text[at] == "`":
        return scope.captured(text[at + 1 : end - 1]), end
    if text.startswith("$((", at) and text[at:end].endswith("))"):
        return str(_arithmetic(text[at + 3 : end - 2], scope)), end
    if text.startswith("$(", at):
        return scope.captured(text[at + 2 : end - 1]), end
    if text.startswith("${", at):
        return _braced(text[at + 2 : end - 1], scope), end
    match = _NAME.match(text, at + 1)
    if match is None:
        return "$", at + 1
    return scope.value(match[0]), match.end()


def _braced(body: str, scope: Scope) -> str:
    if body.startswith("#") and len(body) > 1:
        return str(len(scope.value(body[1:])))
    match = _BRACED.fullmatch(body)
    if match is None:
        return ""
    value, operator, other = scope.value(match[1]), match[2] or "", match[3] or ""
    if operator.endswith(("-", "=")):
        return value or expand_text(other, scope)
    if operator.endswith("+"):
        return expand_text(other, scope) if value else ""
    if operator and operator[0] in "%#":
        return _trimmed(value, operator, expand_text(other, scope))
    return value


def _trimmed(value: str, operator: str, pattern: str) -> str:
    """${value%pattern} and its kin: the shortest (% #) or longest (%% ##) end or beginning that matches is left out."""
    cuts = range(len(value) + 1)
    if operator[0] == "%":
        order = reversed(cuts) if len(operator) == 1 else iter(cuts)
        return next((value[:cut] for cut in order if fnmatch.fnmatchcase(value[cut:], pattern)), value)
    order = iter(cuts) if len(operator) == 1 else reversed(cuts)
    return next((value[cut:] for cut in order if fnmatch.fnmatchcase(value[:cut], pattern)), value)


def _arithmetic(text: str, scope: Scope) -> int:
    """Integer expressions of + - * / % and parentheses over numbers and variables; what is none of these is 0."""
    plain = re.sub(r"\$?([A-Za-z_]\w*)", lambda match: scope.value(match[1]) or "0", text).strip()
    try:
        return _evaluated(ast.parse(plain, mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError):
        return 0


def _evaluated(node: ast.expr) -> int:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_evaluated(node.operand)
    if isinstance(node, ast.BinOp):
        left, right = _evaluated(node.left), _evaluated(node.right)
        operations: dict[type[ast.operator], Callable[[], int]] = {
            ast.Add: lambda: left + right,
            ast.Sub: lambda: left - right,
            ast.Mult: lambda: left * right,
            ast.Div: lambda: int(left / right),
            ast.Mod: lambda: left - right * int(left / right),
        }
        if type(node.op) in operations:
            return operations[type(node.op)]()
    raise ValueError("not an integer expression")
