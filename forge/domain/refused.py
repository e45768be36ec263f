"""Why a task directory cannot be used."""


class TaskRefused(Exception):
    """A task directory that cannot be used: `file`, `key` ("" where it is the file itself) and `why`."""

    def __init__(self, file: str, key: str, why: str) -> None:
        super().__init__(f"{file}{': ' + key if key else ''}: {why}")
        self.file, self.key, self.why = file, key, why
