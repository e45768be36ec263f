"""Which keys of a config may not change between two parts of one run: those that make what has been recorded something
else. Budgets, concurrency, endpoints, limits of machines and the number of rounds may."""

from forge.domain.config import Config

FIXED = ("run.seed", "author", "solvers", "calibration.strategy", "calibration.strong", "calibration.weak")


def changed_keys(before: Config, after: Config) -> tuple[str, ...]:
    """What differs of the fixed keys, each as "key was X and is Y"."""
    old, new = _flat(before.model_dump(mode="json")), _flat(after.model_dump(mode="json"))
    fixed = [key for key in {**old, **new} if any(key == one or key.startswith(f"{one}.") for one in FIXED)]
    return tuple(f"{key} was {old.get(key)!r} and is {new.get(key)!r}" for key in fixed if old.get(key) != new.get(key))


def _flat(value: object, name: str = "") -> dict[str, object]:
    """Nested values by dotted keys; an item of a list goes by its name, else by its place."""
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = {_place(at, item): item for at, item in enumerate(value)}.items()
    else:
        return {name: value}
    return {key: inner for part, item in items for key, inner in _flat(item, f"{name}.{part}".strip(".")).items()}


def _place(at: int, item: object) -> str:
    return str(item.get("name", at)) if isinstance(item, dict) else str(at)
