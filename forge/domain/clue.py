"""The seed of a task."""

import hashlib
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

ClueId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]


class Clue(BaseModel):
    """One free-text sentence is enough; the rest narrows it down. `id` is made from the text where it is not given."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str = Field(min_length=1)
    id: ClueId = ""
    category: str | None = None
    tags: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    source: str | None = None
    licence: str | None = None

    @field_validator("text")
    @classmethod
    def _says_something(cls, text: str) -> str:
        if not text.strip():
            raise ValueError("there are only blanks in it")
        return text

    def model_post_init(self, _context: object) -> None:
        if not self.id:
            object.__setattr__(self, "id", _id_of(self.text))


def _id_of(text: str) -> str:
    words = "".join(c if c.isascii() and c.isalnum() else " " for c in text.lower()).split()
    digest = hashlib.sha256(text.encode()).hexdigest()[:6]
    start = "-".join(words[:5])[:56].rstrip("-")
    return f"{start}-{digest}" if start else digest
