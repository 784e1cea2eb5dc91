"""A report as one HTML file that needs nothing else."""

from regard.plots.page.report import Report, ShownResult, ShownTranslation, render_report, write_report

__all__ = ["Report", "ShownResult", "ShownTranslation", "render_report", "write_report"]
