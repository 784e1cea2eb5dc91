"""A closed set of names ↔ ids: the classes of a classifier, the tags of a tagger.

In: names as they stand in training data. Out: ids counted from 0 in the names' order, and back. There is no unknown
label: a name that was not learnt is an error, for no model could ever answer it.
"""

from collections.abc import Iterable, Iterator, Sequence

from regard.errors import DataError, nearest
from regard.text.corpus import Place


class Labels:
    """Names in an order that is kept; a plain list of them is all there is to store.

    Args:
        names: every label once, by id.

    Raises:
        DataError: a name stands twice, or there is none.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self._ids = {name: i for i, name in enumerate(self._names)}
        if not self._names:
            raise DataError("there is no label; name a file with a label for each text")
        if len(self._ids) < len(self._names):
            twice = next(name for i, name in enumerate(self._names) if self._ids[name] != i)
            raise DataError(f"the label {twice!r} stands twice in a list of labels; keep one of the two")

    @classmethod
    def learn(cls, names: Iterable[str]) -> "Labels":
        """The set of some data's labels, sorted, so that it does not depend on the data's order.

        Args:
            names: the labels as they come, with repetitions.

        Raises:
            DataError: there are fewer than two, so that there is nothing to tell apart.
        """
        found = sorted(set(names))
        if len(found) == 1:
            raise DataError(f"every label is {found[0]!r}; two labels or more are needed, to be told apart")
        return cls(found)

    @property
    def names(self) -> tuple[str, ...]:
        """The labels, by id."""
        return self._names

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Labels) and self._names == other._names

    def __hash__(self) -> int:
        return hash(self._names)

    def __repr__(self) -> str:
        return f"Labels({list(self._names)})"

    def id_of(self, name: str, place: Place | None = None) -> int:
        """Return a label's id.

        Args:
            name: the label.
            place: where it was read, for the message.

        Raises:
            DataError: the label was not learnt.
        """
        if name not in self._ids:
            where = "" if place is None else f"{place}: "
            raise DataError(
                f"{where}the label {name!r} was not in the training data; {nearest(name, self._names)}"
            )
        return self._ids[name]

    def name_of(self, label_id: int) -> str:
        """Return the label with an id."""
        return self._names[label_id]
