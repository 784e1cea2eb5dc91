"""Plots: figures (matplotlib), renderables for the terminal (rich), HTML for notebooks, and the report page."""

from regard.plots.figures.beam_tree import draw_beam_tree as draw_beam_tree
from regard.plots.figures.canvas import save as save
from regard.plots.figures.confusion import draw_confusion as draw_confusion
from regard.plots.figures.heatmap import HeatMap as HeatMap
from regard.plots.figures.heatmap import draw_heatmap as draw_heatmap
from regard.plots.figures.heatmap import draw_heatmaps as draw_heatmaps
from regard.plots.figures.heatmap import draw_what_if as draw_what_if
from regard.plots.figures.sample import draw_sample as draw_sample
from regard.plots.figures.words import draw_pooling as draw_pooling
from regard.plots.figures.words import draw_reading as draw_reading
from regard.plots.figures.words import draw_tags as draw_tags
from regard.plots.page.report import Report as Report
from regard.plots.page.report import ShownTranslation as ShownTranslation
from regard.plots.page.report import write_report as write_report
from regard.plots.terminal.beam_tree import TerminalTree as TerminalTree
from regard.plots.terminal.heatmap import TerminalAlignment as TerminalAlignment
from regard.plots.terminal.heatmap import TerminalWhatIf as TerminalWhatIf
from regard.plots.terminal.sample import TerminalSample as TerminalSample
from regard.plots.terminal.sample import TerminalSampleHeading as TerminalSampleHeading
from regard.plots.terminal.sample import TerminalSampleStep as TerminalSampleStep
from regard.plots.terminal.trace import TerminalTrace as TerminalTrace
from regard.plots.terminal.words import TerminalPooling as TerminalPooling
from regard.plots.terminal.words import TerminalReading as TerminalReading
from regard.plots.terminal.words import TerminalTagging as TerminalTagging
