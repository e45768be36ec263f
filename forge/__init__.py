"""The factory: domain (pure) < storage < stages < factory < cli. Of the distribution terminal-task-forge."""
