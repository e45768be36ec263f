"""What one attempt may use."""

from dataclasses import dataclass


@dataclass(frozen=True)
class AgentLimits:
    """steps: model turns. time_sec: model and command time, queueing and back-off not counted. cost_usd, tokens: of all
    calls together, None for no limit; a call whose price is unknown counts nothing, a call whose tokens are not
    reported counts an estimate. command_sec: one command. observation_chars: of one command's output that the model
    sees, the middle elided. wall_sec: a safety limit of everything, queueing and back-off included; what outlives it
    is an error, not a result."""

    steps: int = 100
    time_sec: float = 1800.0
    command_sec: float = 120.0
    tokens: int | None = None
    cost_usd: float | None = None
    observation_chars: int = 16_000
    wall_sec: float | None = None
