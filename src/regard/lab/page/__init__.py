"""An experiment's page, and the report on all of them."""

from regard.lab.page.build import write_page, write_report

__all__ = ["write_page", "write_report"]
