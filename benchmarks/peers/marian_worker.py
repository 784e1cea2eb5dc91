"""Runs Marian in this process: its command line, or its translator with the seconds of every call.

In: a job as JSON (see `marian.measure_search`). Out: for a search a JSON file. This file is run as a script by the
Python that has ``pymarian`` and imports nothing else.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any


def translate(job: dict[str, Any]) -> dict[str, Any]:
    """The outputs, and the seconds of each call: one per sentence, or all sentences in each call."""
    import _pymarian  # type: ignore[import-not-found]  # in its own environment

    translator = _pymarian.Translator(job["options"])
    sentences = Path(job["sentences"]).read_text(encoding="utf-8").splitlines()
    calls = [sentences] * job["repeats"] if job["together"] else [[sentence] for sentence in sentences]
    outputs, seconds = [], []
    for call in calls:
        started = time.perf_counter()
        translated = translator.translate(call)
        seconds.append(time.perf_counter() - started)
        outputs = translated if job["together"] else [*outputs, *translated]
    return {"seconds": seconds, "outputs": outputs}


def main() -> None:
    """Run Marian, or search and write what came out."""
    job = json.loads(sys.argv[1])
    if "command" in job:
        import _pymarian

        sys.exit(_pymarian.main(job["command"]))
    Path(job["answer"]).write_text(json.dumps(translate(job)))
    os._exit(0)  # without the destructors of a GPU's runtime


if __name__ == "__main__":
    main()
