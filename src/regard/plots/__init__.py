"""Pictures: attention, labels, tags and samples as files and in the terminal; training and quality too on a page."""

from regard.plots.figures.beam_tree import draw_beam_tree
from regard.plots.figures.canvas import save
from regard.plots.figures.confusion import draw_confusion, row_shares
from regard.plots.figures.growth import draw_growth
from regard.plots.figures.heatmap import HeatMap, draw_what_if, heatmap, sheet
from regard.plots.figures.pooling import draw_pooling, end_of_scale
from regard.plots.figures.reading import draw_reading
from regard.plots.figures.tags import draw_tags, tints
from regard.plots.page.report import Report, ShownTranslation, write_report
from regard.plots.terminal.heatmap import TerminalAlignment, TerminalWhatIf
from regard.plots.terminal.tree import TerminalGrowth, TerminalGrowthHeading, TerminalStep, TerminalTree
from regard.plots.terminal.words import TerminalPooling, TerminalReading, TerminalTagging

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
