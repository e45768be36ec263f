"""Progress is for who reads it; the work goes on without."""

import os
from contextlib import redirect_stderr

from forge.cli.output import note
from forge.cli.progress_bar import ProgressBar
from forge.factory.progress import Ending


def test_reader_of_stderr_that_goes_away_does_not_hurt_the_work():
    reads, writes = os.pipe()
    os.close(reads)
    with open(writes, "w", buffering=1, closefd=False) as gone, redirect_stderr(gone):
        note("begun")
        with ProgressBar("run", events=True) as bar:
            bar.started(2, 0)
            bar.happened("a", "retry", "once more")
            bar.candidate_ended("a", Ending.RETAINED, "held")
        with open(os.devnull, "w") as nowhere:  # what is still buffered has to go somewhere
            os.dup2(nowhere.fileno(), writes)
    os.close(writes)
