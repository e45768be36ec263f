"""How long `forge --help` takes, against `python -c "import pydantic"`, in one run, alternating: JSON on stdout."""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence

REPEATS = 25

HELP = [sys.executable, "-m", "terminal_task_forge", "--help"]
PYDANTIC = [sys.executable, "-c", "import pydantic"]


def seconds(command: Sequence[str]) -> float:
    """Wall time of one run. Raises CalledProcessError."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    seconds(HELP), seconds(PYDANTIC)  # bytecode and file cache
    pairs = [(seconds(HELP), seconds(PYDANTIC)) for _ in range(REPEATS)]
    forge_help, import_pydantic = (statistics.median(times) for times in zip(*pairs, strict=True))
    result = {
        "repeats": REPEATS,
        "forge_help_sec": round(forge_help, 4),
        "import_pydantic_sec": round(import_pydantic, 4),
        "ratio": round(forge_help / import_pydantic, 3),
        "ratio_at_most": 2.0,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
