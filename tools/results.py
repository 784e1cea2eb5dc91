"""Writes RESULTS.md, its curves and the README's table of recipes from results/: `python tools/results.py`.

`regard recipe NAME --data DATA --record results` adds what it measured to results/NAME.json.
"""

import argparse
import re
from pathlib import Path

from regard.plots import save
from regard.recipes import RECIPES
from regard.recipes.page import (
    draw_validation,
    measured_table,
    picture_of,
    read_notes,
    read_results,
    results_page,
)

ROOT = Path(__file__).parents[1]
SECTION = re.compile(r"(<!-- recipes: tools/results\.py -->\n).*?(<!-- /recipes -->)", flags=re.DOTALL)


def pages(root: Path = ROOT) -> dict[Path, str]:
    """The text of each page that has results, by its path."""
    recipes, folder = list(RECIPES.values()), root / "results"
    measured = read_results(folder, recipes)
    table = measured_table(recipes, measured)
    readme = (root / "README.md").read_text(encoding="utf-8")
    return {
        root / "RESULTS.md": results_page(recipes, measured, read_notes(folder, recipes)),
        root / "README.md": SECTION.sub(lambda found: f"{found[1]}\n{table}\n{found[2]}", readme),
    }


def main() -> None:
    """Write the pages and draw the curves."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
    folder = ROOT / "results"
    for name, results in read_results(folder, list(RECIPES.values())).items():
        figure = draw_validation(RECIPES[name], results)
        if figure is not None:
            save(figure, folder / picture_of(RECIPES[name]))


if __name__ == "__main__":
    main()
