"""Translations as they are printed: a line each, with tabs between fields, or a JSON object."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from regard.cli.console import print_json, print_line

if TYPE_CHECKING:
    from regard.output.translation import Translation


@dataclass
class Printer:
    """Is called with each translation.

    Attributes:
        file: where they go; standard output if None.
        numbered: whether the line's number stands before each.
        scores: whether its score does.
        alignments: whether its word links stand behind it.
        json: whether all of it is one JSON object.
        alpha: whether attention is part of that.
        heatmaps: a folder for a picture of each line's attention; None for no pictures.
        number: how many lines there were.
    """

    file: TextIO | None
    numbered: bool = False
    scores: bool = False
    alignments: bool = False
    json: bool = False
    alpha: bool = False
    heatmaps: Path | None = None
    number: int = field(default=0, init=False)

    def __call__(self, translation: "Translation") -> None:
        """Print a translation with its alternatives."""
        self.number += 1
        if self.json:
            print_json(translation.to_json(alpha=self.alpha), self.file)
        else:
            for each in (translation, *translation.alternatives):
                print_line("\t".join(self._fields(each)), self.file)
        if self.heatmaps is not None and translation.alpha is not None:
            translation.plot(self.heatmaps / f"{self.number:06d}.png")

    def _fields(self, translation: "Translation") -> list[str]:
        fields = [str(self.number)] if self.numbered else []
        if self.scores:
            fields.append(f"{translation.score:.4f}")
        fields.append(translation.text)
        if self.alignments:
            from regard.text import format_pharaoh

            fields.append(format_pharaoh(translation.links))
        return fields
