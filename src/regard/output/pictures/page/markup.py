"""HTML that cannot be broken by what it shows.

In: names, children, attributes. Out: `Markup`. Whatever is a plain string is text and is escaped;
only what `element` made passes as it is.
"""

from collections.abc import Iterable
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
