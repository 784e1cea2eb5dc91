"""Text for a terminal: control characters are shown, not sent.

A line of a corpus, a label, a file's name can hold escape sequences that move the cursor, rename the window or type a
command. Everything that is printed passes through `SafeConsole` or `show_controls`; files and pipes get the text as it
is.
"""

import re
import textwrap
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.errors import MarkupError
from rich.segment import Segment
from rich.text import Text

# C0 without tab and line feed, DEL, C1
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def show_controls(text: str) -> str:
    r"""Each control character as people write it, such as ``\x1b``."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def wrap_line(console: Console, line: str) -> str:
    """A line for a console: a terminal's is broken between words, what follows is indented; others stay whole.

    A number stays with its per cent sign.

    Args:
        console: where it will be printed.
        line: a no-break space in it is never broken at, as `rich` would.
    """
    if not console.is_terminal:
        return line
    indent = " " * (len(line) - len(line.lstrip(" ")) + 2)
    line = re.sub(r"(?<=\d) (?=%)", "\N{NO-BREAK SPACE}", line)
    return textwrap.fill(
        line, console.width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


class SafeConsole(Console):
    """A console whose own control sequences alone reach the terminal."""

    def render_str(self, text: str, **options: Any) -> Text:
        """The text of a cell or a line, with control characters shown before its width is measured.

        Brackets that are not markup are text.
        """
        shown = show_controls(text) if self.is_terminal else text
        try:
            return super().render_str(shown, **options)
        except MarkupError:
            return super().render_str(shown, **{**options, "markup": False})

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render as `Console` does, with the control characters of the content shown."""
        for segment in super().render(renderable, options):
            if self.is_terminal and not segment.control and _CONTROLS.search(segment.text):
                yield Segment(show_controls(segment.text), segment.style)
            else:
                yield segment
