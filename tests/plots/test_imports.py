import subprocess
import sys


def loaded(code, *modules):
    """Run code by itself and say which of the modules it loads."""
    script = f"import sys\n{code}\nprint([m for m in {modules} if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return result.stdout.strip()


def test_importing_the_packages_loads_nothing_heavy():
    code = "import regard.evaluation.alignment, regard.evaluation, regard.plots"
    assert loaded(code, "torch", "matplotlib", "sacrebleu") == "[]"


def test_drawing_never_loads_pyplot():
    code = "import numpy as np, regard.plots as p; p.draw_heatmap(np.eye(2), 'ab', 'cd').canvas.draw()"
    assert loaded(code, "matplotlib.figure", "matplotlib.pyplot", "torch") == "['matplotlib.figure']"
