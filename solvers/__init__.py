"""Who acts: models, the agent loop, policies, the pool. Receives text and a sandbox; never sees tests, solution,
verdicts."""
