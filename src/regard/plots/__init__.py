"""Plots: figures (matplotlib), renderables for the terminal (rich), HTML for notebooks, and the report page."""

from regard.plots.colours import tag_colours
from regard.plots.figures.beam_tree import draw_beam_tree
from regard.plots.figures.canvas import save
from regard.plots.figures.confusion import draw_confusion, row_shares
from regard.plots.figures.heatmap import HeatMap, draw_heatmap, draw_heatmaps, draw_what_if
from regard.plots.figures.sample import draw_sample
from regard.plots.figures.words import draw_pooling, draw_reading, draw_tags, pooling_scale_end
from regard.plots.page.report import Report, ShownTranslation, write_report
from regard.plots.terminal.beam_tree import TerminalTree
from regard.plots.terminal.heatmap import TerminalAlignment, TerminalWhatIf
from regard.plots.terminal.sample import TerminalSample, TerminalSampleHeading, TerminalSampleStep
from regard.plots.terminal.words import TerminalPooling, TerminalReading, TerminalTagging

__all__ = [
    "HeatMap",
    "Report",
    "ShownTranslation",
    "TerminalAlignment",
    "TerminalPooling",
    "TerminalReading",
    "TerminalSample",
    "TerminalSampleHeading",
    "TerminalSampleStep",
    "TerminalTagging",
    "TerminalTree",
    "TerminalWhatIf",
    "draw_beam_tree",
    "draw_confusion",
    "draw_heatmap",
    "draw_heatmaps",
    "draw_pooling",
    "draw_reading",
    "draw_sample",
    "draw_tags",
    "draw_what_if",
    "pooling_scale_end",
    "row_shares",
    "save",
    "tag_colours",
    "write_report",
]
