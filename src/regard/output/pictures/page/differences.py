"""Where a translation and its reference part, word by word.

In: two lines. Out: both again, with the words the other side lacks marked.
"""

from difflib import SequenceMatcher

from regard.output.pictures.page.markup import Markup, element, join


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
