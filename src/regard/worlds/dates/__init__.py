"""Dates as people write them → ISO 8601."""

from regard.worlds.dates.world import Dates

__all__ = ["Dates"]
