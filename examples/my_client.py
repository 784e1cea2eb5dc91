"""A client of a service: translations with their links, and a translation while it grows.

Start one before: regard serve runs/demo-microworld
"""

import sys

from regard import Client, SearchOptions


def main(url="http://127.0.0.1:8000"):
    """Translate a sentence twice: at once, and word by word."""
    with Client(url) as client:
        for translation in client.translate(["the house is small ."], SearchOptions(n_best=3)):
            print(translation.text, translation.score, sorted(translation.links))
            translation.plot("attention.png")
        for index, translation in client.stream_translations(["the house is small ."]):
            print(index, translation)  # a text while it grows, and last the whole `Translation`


if __name__ == "__main__":
    main(*sys.argv[1:])
