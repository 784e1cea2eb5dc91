"""One curve out of a journal.

In: journal rows, each a dict with its ``event`` and ``update``. Out: `Series`, the updates at which a number
was noted and the numbers. What is missing, null or not finite is passed over.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Series:
    """A number as training went on; false where it was never noted."""

    updates: tuple[float, ...]
    values: tuple[float, ...]

    def __bool__(self) -> bool:
        return bool(self.updates)


def series(rows: Iterable[Mapping[str, Any]], event: str, key: str, *, scale: float = 1.0) -> Series:
    """Collect one number from the rows of one event, in the order of the journal.

    Args:
        rows: the journal.
        event: "train" or "validation".
        key: the number's name, such as "loss".
        scale: what to multiply by, as 100 for a fraction shown in per cent.
    """
    points = [
        (float(row["update"]), scale * float(row[key]))
        for row in rows
        if row.get("event") == event and _is_number(row.get("update")) and _is_number(row.get(key))
    ]
    return Series(tuple(update for update, _ in points), tuple(value for _, value in points))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
