"""Every option with its sentence, those of a table that may be left out too."""

from dataclasses import dataclass, field

from regard.config import Config, list_options
from regard.models import ModelConfig


@dataclass(frozen=True)
class Frame(Config):
    """A table in a table."""

    width: float = 2.0
    """How wide
    it is."""


@dataclass(frozen=True)
class Picture(Config):
    """What holds one, or none."""

    title: str = ""
    """What stands below it."""
    frame: Frame | None = None
    wall: Frame = field(default_factory=Frame)


def test_the_options_of_a_table_that_may_be_left_out_are_listed():
    assert [(each.path, each.default, each.sentence) for each in list_options(Picture)] == [
        ("title", '""', "What stands below it."),
        ("frame.width", "2.0", "How wide it is."),
        ("wall.width", "2.0", "How wide it is."),
    ]
    assert Picture.from_mapping({"frame": {"width": 1}}, "picture").frame == Frame(1.0)
    assert Picture.from_mapping({}, "picture").to_mapping() == {"title": "", "wall": {"width": 2.0}}


def test_every_option_of_a_model_has_a_sentence():
    options = {each.path: each for each in list_options(ModelConfig, "model.")}
    assert options["model.encoder.memory.span"].default == "0"
    assert options["model.decoder[luong].attention.window"].default == '"global"'
    assert all(each.sentence for each in options.values())
