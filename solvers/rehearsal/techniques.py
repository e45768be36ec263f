"""All techniques, in the order in which a solver considers them."""

from solvers.rehearsal.binary_records import BinaryRecords
from solvers.rehearsal.checksums import Checksums
from solvers.rehearsal.config_layers import ConfigLayers
from solvers.rehearsal.fan_out import FanOut
from solvers.rehearsal.lost_commits import LostCommits
from solvers.rehearsal.repeated_events import RepeatedEvents
from solvers.rehearsal.technique import Technique
from solvers.rehearsal.utc_offsets import UtcOffsets
from solvers.rehearsal.version_conflict import VersionConflict

TECHNIQUES: tuple[Technique, ...] = (
    UtcOffsets(),
    RepeatedEvents(),
    FanOut(),
    ConfigLayers(),
    BinaryRecords(),
    LostCommits(),
    VersionConflict(),
    Checksums(),
)
