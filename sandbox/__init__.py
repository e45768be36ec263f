"""A machine to run commands in: Docker behind a small protocol, and a fake in memory. Knows nothing of tasks."""
