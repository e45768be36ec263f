"""`python -m terminal_task_forge` is `forge`."""

from terminal_task_forge import entry

if __name__ == "__main__":
    entry()
