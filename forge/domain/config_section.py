"""What all tables of the config have in common."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

ModelName = Annotated[str, StringConstraints(min_length=1, pattern=r"^\S+$")]
EnvName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class Section(BaseModel):
    """A table of the file."""

    # A number without an end has no place in JSON, so a run that was begun with one could not be read again.
    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True, validate_default=True, allow_inf_nan=False
    )
