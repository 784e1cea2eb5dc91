"""Pictures of attention, of training and of quality: as files, in the terminal, on a page."""

from regard.output.pictures.canvas import save
from regard.output.pictures.curves import quality_by_length, training_curves
from regard.output.pictures.heatmap import HeatMap, heatmap, sheet
from regard.output.pictures.page import Report, ShownTranslation, write_report
from regard.output.pictures.terminal import TerminalAlignment

__all__ = [
    "HeatMap",
    "Report",
    "ShownTranslation",
    "TerminalAlignment",
    "heatmap",
    "quality_by_length",
    "save",
    "sheet",
    "training_curves",
    "write_report",
]
