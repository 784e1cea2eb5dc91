"""A report as one HTML file that needs nothing else."""

from regard.output.pictures.page.build import render_report, write_report
from regard.output.pictures.page.report import Report, ShownTranslation

__all__ = ["Report", "ShownTranslation", "render_report", "write_report"]
