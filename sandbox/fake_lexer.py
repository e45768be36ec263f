"""The words and operators of the fake shell."""

from dataclasses import dataclass, field

_OPERATORS = ("&&", "||", ";;", "&>>", "&>", ">>", ">&", "<<-", "<<", ">", "<", ";", "|", "&", "(", ")", "\n")


class ShellSyntaxError(Exception):
    pass


@dataclass(frozen=True)
class Token:
    """An operator, or a word as written (quotes still in it); `fd` is the number glued before a redirection."""

    text: str
    is_operator: bool = False
    fd: int | None = None
    body: str = ""


@dataclass
class Lexer:
    text: str
    at: int = 0
    found: list[Token] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)

    def all(self) -> list[Token]:
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in " \t":
                self.at += 1
            elif self.text.startswith("\\\n", self.at):
                self.at += 2
            elif char == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif not self._operator():
                self._word()
        if self.waiting:
            self._bodies()
        return self.found

    def _operator(self) -> bool:
        operator = next((op for op in _OPERATORS if self.text.startswith(op, self.at)), None)
        if operator is None:
            return False
        fd = None
        previous = self.found[-1] if self.found else None
        glued = self.at > 0 and self.text[self.at - 1].isdigit()
        if operator[0] in "<>" and glued and previous and not previous.is_operator and previous.text.isdigit():
            fd = int(self.found.pop().text)
        self.at += len(operator)
        self.found.append(Token(operator, True, fd))
        if operator in ("<<", "<<-"):
            self.waiting.append(len(self.found) - 1)
        if operator == "\n" and self.waiting:
            self._bodies()
        return True

    def _bodies(self) -> None:
        """Here-documents begin on the line after their operator."""
        for index in self.waiting:
            operator, word = self.found[index], self.found[index + 1]
            ending = word.text.strip("'\"").replace("\\", "")
            lines: list[str] = []
            while self.at < len(self.text):
                end = self.text.find("\n", self.at)
                line = self.text[self.at :] if end < 0 else self.text[self.at : end]
                self.at = len(self.text) if end < 0 else end + 1
                if operator.text == "<<-":
                    line = line.lstrip("\t")
                if line == ending:
                    break
                lines.append(line + "\n")
            self.found[index] = Token(operator.text, True, operator.fd, "".join(lines))
        self.waiting.clear()

    def _word(self) -> None:
        start = self.at
        while self.at < len(self.text) and self.text[self.at] not in " \t\n;|&<>()":
            self.at = skip(self.text, self.at)
        self.found.append(Token(self.text[start : self.at].replace("\\\n", "")))


def skip(text: str, at: int) -> int:
    """The position after the quoted part, substitution or single character that begins at `at`."""
    char = text[at]
    if char == "\\":
        return min(len(text), at + 2)
    if char in "'`":
        return _after(text, text.find(char, at + 1), char)
    if char == '"':
        at += 1
        while at < len(text) and text[at] != '"':
            at = skip(text, at) if text[at] in "\\`" or text.startswith("$(", at) else at + 1
        return _after(text, at if at < len(text) else -1, '"')
    if text.startswith("$(", at):
        depth, at = 1, at + 2
        while at < len(text) and depth:
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at = skip(text, at) if text[at] in "'\"\\" else at + 1
        return at
    if text.startswith("${", at):
        return _after(text, text.find("}", at), "}")
    return at + 1


def _after(text: str, found: int, char: str) -> int:
    if found < 0:
        raise ShellSyntaxError(f"unexpected EOF while looking for matching `{char}'")
    return found + 1
