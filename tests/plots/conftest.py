"""What holds for every picture: nothing is cut off, no two words touch; and how one reads in a pipe."""

import io

import numpy as np
import pytest
from rich.console import Console


@pytest.fixture
def well_set():
    """Assert that all letters lie inside the figure and no two texts overlap, on a screen and in a file."""

    def check(figure):
        for dots_per_inch in (100, 200):
            figure.set_dpi(dots_per_inch)
            figure.canvas.draw()
            texts = [text for text in figure.axes[0].texts if text.get_text().strip()]
            boxes = np.array([text.get_window_extent().extents for text in texts]).reshape(-1, 4)
            low, high = boxes[:, :2], boxes[:, 2:]
            cut_off = (low < 0).any(axis=1) | (high > figure.bbox.extents[2:]).any(axis=1)
            assert not [texts[k].get_text() for k in np.flatnonzero(cut_off)]
            shared = np.minimum(high[:, None], high) - np.maximum(low[:, None], low)  # (texts, texts, 2)
            touching = np.argwhere(np.triu((shared > 1).all(axis=-1), 1))  # a pixel of rounding
            assert not [(texts[j].get_text(), texts[k].get_text()) for j, k in touching]

    return check


@pytest.fixture
def plain():
    """The lines of a renderable as a pipe gets them."""

    def render(picture, width=80, encoding="utf-8"):
        file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        Console(file=file, width=width).print(picture)
        file.flush()
        return file.buffer.getvalue().decode(encoding).splitlines()

    return render


@pytest.fixture
def coloured():
    """A renderable with the codes of a terminal of all colours."""

    def render(picture, width=80, colours="truecolor"):
        file = io.StringIO()
        Console(file=file, width=width, force_terminal=True, color_system=colours).print(picture)
        return file.getvalue()

    return render
