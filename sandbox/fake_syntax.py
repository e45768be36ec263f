"""The grammar of the fake shell: text -> lists of pipelines of commands."""

from dataclasses import dataclass

from sandbox.fake_lexer import Lexer, ShellSyntaxError, Token

_RESERVED = {"then", "else", "elif", "fi", "do", "done", "}"}


@dataclass(frozen=True)
class Redirection:
    fd: int
    operator: str
    target: str
    body: str = ""
    quoted: bool = False


@dataclass(frozen=True)
class Simple:
    words: tuple[str, ...]
    redirections: tuple[Redirection, ...] = ()


@dataclass(frozen=True)
class Group:
    """{ ...; } or, as a subshell, ( ... )."""

    body: "Script"
    subshell: bool
    redirections: tuple[Redirection, ...] = ()


@dataclass(frozen=True)
class If:
    branches: tuple[tuple["Script", "Script"], ...]
    otherwise: "Script | None"
    redirections: tuple[Redirection, ...] = ()


@dataclass(frozen=True)
class For:
    name: str
    words: tuple[str, ...]
    body: "Script"
    redirections: tuple[Redirection, ...] = ()


@dataclass(frozen=True)
class While:
    condition: "Script"
    body: "Script"
    until: bool
    redirections: tuple[Redirection, ...] = ()


Command = Simple | Group | If | For | While


@dataclass(frozen=True)
class Pipeline:
    """`joined` is how it hangs on what stands before: ";", "&&" or "||"."""

    commands: tuple[Command, ...]
    joined: str = ";"
    background: bool = False
    negated: bool = False


@dataclass(frozen=True)
class Script:
    pipelines: tuple[Pipeline, ...] = ()


def parse(text: str) -> Script:
    """Raises ShellSyntaxError."""
    parser = _Parser(Lexer(text).all())
    script = parser.script(set())
    left = parser.peek()
    if left is not None:
        raise ShellSyntaxError(f"syntax error near unexpected token `{left.text}'")
    return script


class _Parser:
    def __init__(self, found: list[Token]) -> None:
        self._tokens = found
        self._at = 0

    def peek(self) -> Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def script(self, ends: set[str]) -> Script:
        """Pipelines up to one of the given words or operators, which is left to the caller."""
        pipelines: list[Pipeline] = []
        joined = ";"
        while (token := self.peek()) is not None and token.text not in ends:
            if token.is_operator and token.text in (";", "\n"):
                self._at += 1
                continue
            commands, negated = self._pipeline()
            after = self.peek()
            background = after is not None and after.is_operator and after.text == "&"
            pipelines.append(Pipeline(commands, joined, background, negated))
            joined = ";"
            if after is not None and after.is_operator and after.text in ("&&", "||"):
                joined = after.text
                self._at += 1
                self._newlines()
            elif background:
                self._at += 1
            elif after is not None and after.text not in (*ends, ";", "\n"):
                raise ShellSyntaxError(f"syntax error near unexpected token `{after.text}'")
        return Script(tuple(pipelines))

    def _newlines(self) -> None:
        while (token := self.peek()) is not None and token.is_operator and token.text == "\n":
            self._at += 1

    def _pipeline(self) -> tuple[tuple[Command, ...], bool]:
        negated = self._take("!")
        commands = [self._command()]
        while (token := self.peek()) is not None and token.is_operator and token.text == "|":
            self._at += 1
            self._newlines()
            commands.append(self._command())
        return tuple(commands), negated

    def _command(self) -> Command:
        token = self.peek()
        if token is None:
            raise ShellSyntaxError("syntax error: unexpected end of file")
        if token.is_operator and token.text == "(":
            self._at += 1
            body = self.script({")"})
            self._need(")")
            return Group(body, True, self._redirections())
        if not token.is_operator and token.text in ("{", "if", "for", "while", "until"):
            self._at += 1
            return self._compound(token.text)
        if token.text in _RESERVED:
            raise ShellSyntaxError(f"syntax error near unexpected token `{token.text}'")
        return self._simple()

    def _compound(self, word: str) -> Command:
        if word == "{":
            body = self.script({"}"})
            self._need("}")
            return Group(body, False, self._redirections())
        if word == "if":
            return self._if()
        if word == "for":
            return self._for()
        condition = self.script({"do"})
        self._need("do")
        body = self.script({"done"})
        self._need("done")
        return While(condition, body, word == "until", self._redirections())

    def _if(self) -> If:
        branches: list[tuple[Script, Script]] = []
        while True:
            condition = self.script({"then"})
            self._need("then")
            branches.append((condition, self.script({"elif", "else", "fi"})))
            if not self._take("elif"):
                break
        otherwise = self.script({"fi"}) if self._take("else") else None
        self._need("fi")
        return If(tuple(branches), otherwise, self._redirections())

    def _for(self) -> For:
        name = self._word()
        words: list[str] = []
        if self._take("in"):
            while (token := self.peek()) is not None and not token.is_operator:
                words.append(self._word())
        while self._take(";") or self._take("\n"):
            pass
        self._need("do")
        body = self.script({"done"})
        self._need("done")
        return For(name, tuple(words), body, self._redirections())

    def _simple(self) -> Simple:
        words: list[str] = []
        redirections: list[Redirection] = []
        while (token := self.peek()) is not None:
            if not token.is_operator:
                words.append(self._word())
            elif token.text[0] in "<>" or token.text.startswith("&>"):
                redirections += self._redirections()
            else:
                break
        if not words and not redirections:
            found = self.peek()
            raise ShellSyntaxError(f"syntax error near unexpected token `{found.text if found else 'newline'}'")
        return Simple(tuple(words), tuple(redirections))

    def _redirections(self) -> tuple[Redirection, ...]:
        found: list[Redirection] = []
        while (token := self.peek()) is not None and token.is_operator:
            if token.text[0] not in "<>" and not token.text.startswith("&>"):
                break
            self._at += 1
            target = self._word()
            default = 0 if token.text[0] == "<" else 1
            quoted = target[:1] in "'\"\\"
            if token.text.startswith("&>"):
                found += [Redirection(1, token.text[1:], target), Redirection(2, ">&", "1")]
            else:
                fd = default if token.fd is None else token.fd
                found.append(Redirection(fd, token.text, target, token.body, quoted))
        return tuple(found)

    def _word(self) -> str:
        token = self.peek()
        if token is None or token.is_operator:
            raise ShellSyntaxError(f"syntax error near unexpected token `{token.text if token else 'newline'}'")
        self._at += 1
        return token.text

    def _take(self, text: str) -> bool:
        token = self.peek()
        if token is None or token.text != text:
            return False
        self._at += 1
        return True

    def _need(self, text: str) -> None:
        if not self._take(text):
            found = self.peek()
            raise ShellSyntaxError(f"syntax error: `{text}' expected near `{found.text if found else 'end of file'}'")
