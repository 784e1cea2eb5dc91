"""HTML that cannot be broken by what it shows.

In: names, children, attributes. Out: `Markup`. Whatever is a plain string is text and is escaped;
only what `element` made passes as it is.

Where a translation and its reference part, word by word.

In: two lines. Out: both again, with the words the other side lacks marked.
"""

from collections.abc import Iterable
from difflib import SequenceMatcher
from html import escape


class Markup(str):
    """A piece of finished HTML."""

    __slots__ = ()


def element(name: str, *children: str, **attributes: str | float | None) -> Markup:
    """Make an element; plain strings among its children are escaped.

    Args:
        name: such as "p"; never one that has no end tag.
        children: text, or `Markup` from here.
        attributes: by name, with ``_`` for ``-`` and one at the end to avoid a keyword (``class_``); None
            leaves one out.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{written}>{join(children)}</{name}>")


def join(children: Iterable[str]) -> Markup:
    """Put pieces one after the other, plain strings escaped."""
    return Markup("".join(child if isinstance(child, Markup) else escape(child) for child in children))


def marked(translation: str, reference: str) -> tuple[Markup, Markup]:
    """Mark what stands in one line only: ``<ins>`` in the translation, ``<del>`` in the reference.

    Args:
        translation: a line.
        reference: what it should be.

    Returns:
        the translation, and the reference.
    """
    ours, theirs = translation.split(), reference.split()
    matcher = SequenceMatcher(a=theirs, b=ours, autojunk=False)
    extra: list[str] = []
    missing: list[str] = []
    for operation, start, end, our_start, our_end in matcher.get_opcodes():
        same = operation == "equal"
        _append(missing, theirs[start:end], None if same else "del")
        _append(extra, ours[our_start:our_end], None if same else "ins")
    return join(extra), join(missing)


def _append(pieces: list[str], words: list[str], mark: str | None) -> None:
    if not words:
        return
    if pieces:
        pieces.append(" ")
    text = " ".join(words)
    pieces.append(element(mark, text) if mark else text)
