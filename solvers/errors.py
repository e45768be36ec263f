"""What can go wrong with a model.

ModelError
├── ModelUnknown          the name is not one that can be called: a usage error
├── ModelKeyMissing       the provider wants a key that is not set: a usage error
├── ModelRefused          the provider will never answer this request (bad request, content policy)
│   └── ModelForbidden    ... to this key: it is wrong, has no credit, or may not use the model
├── ContextOverflow       the messages do not fit the model's context
├── ModelUnavailable      rate limits, server errors, no connection, deadline: after all retries
│   └── DeadlinePassed    the caller's own deadline, shorter than the model's, passed: not retried
├── ProgramError          a program that stands in for a model (rehearsal) has a bug
├── BudgetSpent           the money that was set is spent: no call was made
└── Overdue               an attempt outlived its safety limit of wall-clock time, queueing and back-off included
"""


class ModelError(Exception):
    """Base of all errors of the model door."""


class ModelUnknown(ModelError):
    pass


class ModelKeyMissing(ModelError):
    pass


class ModelRefused(ModelError):
    pass


class ModelForbidden(ModelRefused):
    pass


class ContextOverflow(ModelError):
    pass


class ModelUnavailable(ModelError):
    pass


class DeadlinePassed(ModelUnavailable):
    pass


class ProgramError(ModelError):
    pass


class BudgetSpent(ModelError):
    pass


class Overdue(ModelError):
    pass
