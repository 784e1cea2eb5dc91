"""How long updates and validations take, and so what is left of a run.

In: the seconds of each update and validation of this session, and how many are to come. Out: seconds. Knows no model,
and nothing of earlier sessions, which may have had another machine.
"""

_MEMORY = 200  # updates; on a shared machine the pace changes


class Pace:
    """Seconds per update and per validation.

    The first update of a session does not count: it compiles kernels and fills caches. A validation takes as long as
    the last one: a model that is hardly trained decodes to the limit, and one that is trained does not.
    """

    def __init__(self) -> None:
        self._first: float | None = None
        self._updates = self._seconds = 0.0  # decayed sums
        self._validation = 0.0

    def updated(self, seconds: float) -> None:
        """Count an update."""
        if self._first is None:
            self._first = seconds
            return
        keep = 1 - 1 / _MEMORY
        self._updates, self._seconds = keep * self._updates + 1, keep * self._seconds + seconds

    def validated(self, seconds: float) -> None:
        """Count a validation with its checkpoint."""
        self._validation = seconds

    def left(self, updates: int, validations: int) -> float | None:
        """Seconds for that many updates and validations; None before the second update, when nothing is known.

        Args:
            updates: to come.
            validations: among them and after them.
        """
        if not self._updates:
            return None
        return updates * self._seconds / self._updates + validations * self._validation

    @property
    def validation(self) -> float:
        """Seconds of a validation; 0 before the first."""
        return self._validation
