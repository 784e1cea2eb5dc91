"""``regard demo``: the verb, the files of a world, and how each task's model is tested and shown."""

from regard.cli.demo.command import demo

__all__ = ["demo"]
