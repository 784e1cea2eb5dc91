"""Words with their weights, in a terminal.

In: words, a weight each, perhaps one that is the newest. Out: lines for `rich`, wrapped to the width there is. With
colour each word stands on the shade of its weight, on white paper whatever the terminal's own ground; without, in a
pipe or a log, blocks beneath it say the same, and the newest stands in brackets.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.style import Style
from rich.text import Text

from regard.output.pictures.flow import flow
from regard.output.pictures.shade import ASCII_BLOCKS, BLOCKS, INK, NEWEST, block, red_is_legible, shade
from regard.output.pictures.terminal import fitted

_SHADED = ("256", "truecolor", "windows")  # with 16 colours there are no shades


@dataclass(frozen=True)
class WordPainter:
    """How words are painted.

    Attributes:
        width: columns of a line.
        colour: whether shades can be shown.
        blocks: what stands for them where they cannot.
    """

    width: int
    colour: bool
    blocks: str

    @classmethod
    def on(cls, console: Console, options: ConsoleOptions) -> "WordPainter":
        """Paint for a console as it is."""
        return cls(
            width=options.max_width,
            colour=console.color_system in _SHADED and not console.no_color,
            blocks=ASCII_BLOCKS if options.ascii_only else BLOCKS,
        )

    def paragraph(
        self, words: Sequence[str], weights: Sequence[float], *, newest: int | None = None, gutter: str = ""
    ) -> Iterator[Text]:
        """Write words in lines.

        Args:
            words: in their order.
            weights: one each, from 0 to 1.
            newest: the number of the word to be told apart.
            gutter: what stands before the first line; the others are indented by it.
        """
        room = max(self.width - cell_len(gutter), 3)
        shown = [fitted(word, room - 2) for word in words]
        if self.colour:
            forms = [f" {word} " for word in shown]
        else:
            forms = [f"[{word}]" if number == newest else word for number, word in enumerate(shown)]
        lines = flow([cell_len(form) for form in forms], room, 0 if self.colour else 1).lines()
        for number, line in enumerate(lines):
            start = gutter if number == 0 else " " * cell_len(gutter)
            if self.colour:
                yield self._on_shades(start, [(forms[k], weights[k], k == newest) for k in line])
            else:
                yield from self._over_blocks(start, [(forms[k], weights[k]) for k in line])

    def _on_shades(self, start: str, words: Sequence[tuple[str, float, bool]]) -> Text:
        text = Text(start, "dim", no_wrap=True)
        for form, weight, newest in words:
            style = Style(
                color=NEWEST if newest and red_is_legible(weight) else INK,
                bgcolor=shade(weight),
                bold=newest,
                underline=newest,
                dim=False,
            )
            text.append(form, style)
        return text

    def _over_blocks(self, start: str, words: Sequence[tuple[str, float]]) -> Iterator[Text]:
        text, beneath = Text(start, no_wrap=True), " " * cell_len(start)
        for form, weight in words:
            mark = block(weight, self.blocks)
            text.append(f"{form} ")
            beneath += (" " if mark == self.blocks[0] else mark) * cell_len(form) + " "
        text.rstrip()
        yield text
        if beneath.strip():
            yield Text(beneath.rstrip(), no_wrap=True)
