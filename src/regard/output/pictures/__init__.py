"""Pictures: attention as files and in the terminal; training and quality too on a page."""

from regard.output.pictures.canvas import save
from regard.output.pictures.heatmap import HeatMap, heatmap, sheet
from regard.output.pictures.page import Report, ShownTranslation, write_report
from regard.output.pictures.terminal import TerminalAlignment

__all__ = [
    "HeatMap",
    "Report",
    "ShownTranslation",
    "TerminalAlignment",
    "heatmap",
    "save",
    "sheet",
    "write_report",
]
