"""A tagged sentence in a terminal: two rows, words above and tags below, that wrap together.

In: a tagging. Out: a rich renderable. With colour a tag stands on its own tint; in any case one that is less probable
than not is followed by a question mark.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.style import Style
from rich.text import Text

from regard.output.pictures.flow import flow
from regard.output.pictures.shade import INK
from regard.output.pictures.tags import tints
from regard.output.pictures.terminal import fitted
from regard.output.tagging import Tagging

_DOUBTFUL = 0.5


@dataclass(frozen=True)
class TerminalTagging:
    """A tagged sentence for `rich`; print it with ``Console().print(...)``.

    Attributes:
        tagging: what to show.
        colours: of the tags, as `tints` gives them for several sentences; by default for this one.
    """

    tagging: Tagging
    colours: Mapping[str, str] | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw as many words side by side as there is room for, each over its tag, the rest below."""
        one = self.tagging
        colours = self.colours or tints([one])
        words = [fitted(word, options.max_width) for word in one.words]
        tags = [
            fitted(tag if probability >= _DOUBTFUL else f"{tag}?", options.max_width)
            for tag, probability in zip(one.tags, one.probabilities, strict=True)
        ]
        widths = [max(cell_len(word), cell_len(tag)) for word, tag in zip(words, tags, strict=True)]
        for number, line in enumerate(flow(widths, options.max_width, 1).lines()):
            if number:
                yield Text("")
            above, below = Text(no_wrap=True), Text(no_wrap=True)
            for k in line:
                style = Style(color=INK, bgcolor=colours.get(one.tags[k]), bold=True)
                above.append(words[k] + " " * (widths[k] - cell_len(words[k]) + 1))
                below.append(tags[k], style)
                below.append(" " * (widths[k] - cell_len(tags[k]) + 1))
            above.rstrip()
            below.rstrip()
            yield above
            yield below
