"""What is said of a scene: one sentence, and always the same one for the same scene.

In: a `Scene`. Out: a line such as ``two small red circles above a large blue square .`` A lone group is placed
in the picture; of several, each is placed from the next one, and the verb agrees with the one it speaks of.
"""

from regard.worlds.scenes.scene import Group, Scene

_NUMBERS = ("two", "three", "four")
_PLACES = {
    (-1, 1): "in the top left corner",
    (0, 1): "at the top",
    (1, 1): "in the top right corner",
    (-1, 0): "at the left",
    (0, 0): "in the middle",
    (1, 0): "at the right",
    (-1, -1): "in the bottom left corner",
    (0, -1): "at the bottom",
    (1, -1): "in the bottom right corner",
}
"""Places in the picture by column and row, counted from the middle."""


def describe(scene: Scene) -> str:
    """Say what there is and where."""
    first, *others = scene
    if not others:
        return f"{_named(first)} {_PLACES[_third(first.x), _third(first.y)]} ."
    words = [_named(first), _relation(first, others[0]), _named(others[0])]
    if len(others) == 2:
        second, third = others
        verb = "is" if second.count == 1 else "are"
        words += [", which", verb, _relation(second, third), _named(third)]
    return " ".join([*words, "."])


def _named(group: Group) -> str:
    size = "large" if group.size > 0 else "small"
    if group.count == 1:
        return f"a {size} {group.colour} {group.shape}"
    return f"{_NUMBERS[group.count - 2]} {size} {group.colour} {group.shape}s"


def _relation(one: Group, other: Group) -> str:
    """Say where one group stands, seen from another: the longer way decides."""
    across, up = one.x - other.x, one.y - other.y
    if abs(up) > abs(across):
        return "above" if up > 0 else "below"
    return "to the right of" if across > 0 else "to the left of"


def _third(where: float) -> int:
    return (where > 1 / 3) - (where < -1 / 3)
