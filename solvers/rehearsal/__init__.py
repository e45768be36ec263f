"""Programs that stand in for solver models: general techniques, and how far each program looks.

They know no task family, no answer and no test: all they have is the conversation."""
