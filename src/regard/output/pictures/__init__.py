"""Pictures: attention, labels, tags and samples as files and in the terminal; training and quality too on a page."""

from regard.output.pictures.beam_tree import draw_beam_tree
from regard.output.pictures.canvas import save
from regard.output.pictures.confusion import draw_confusion, row_shares
from regard.output.pictures.growth import draw_growth
from regard.output.pictures.heatmap import HeatMap, heatmap, sheet
from regard.output.pictures.page import Report, ShownTranslation, write_report
from regard.output.pictures.pooling import draw_pooling, end_of_scale
from regard.output.pictures.reading import draw_reading
from regard.output.pictures.tags import draw_tags, tints
from regard.output.pictures.terminal import TerminalAlignment
from regard.output.pictures.terminal_growth import TerminalGrowth, TerminalGrowthHeading, TerminalStep
from regard.output.pictures.terminal_pooling import TerminalPooling
from regard.output.pictures.terminal_reading import TerminalReading
from regard.output.pictures.terminal_tags import TerminalTagging
from regard.output.pictures.terminal_tree import TerminalTree
from regard.output.pictures.terminal_what_if import TerminalWhatIf
from regard.output.pictures.what_if import draw_what_if

__all__ = [
    "HeatMap",
    "Report",
    "ShownTranslation",
    "TerminalAlignment",
    "TerminalGrowth",
    "TerminalGrowthHeading",
    "TerminalPooling",
    "TerminalReading",
    "TerminalStep",
    "TerminalTagging",
    "TerminalTree",
    "TerminalWhatIf",
    "draw_beam_tree",
    "draw_confusion",
    "draw_growth",
    "draw_pooling",
    "draw_reading",
    "draw_tags",
    "draw_what_if",
    "end_of_scale",
    "heatmap",
    "row_shares",
    "save",
    "sheet",
    "tints",
    "write_report",
]
