"""What ``regard evaluate`` does for each task; `TaskSpec.evaluation` names the function."""

from regard.cli.evaluations.arguments import EvaluateArguments

__all__ = ["EvaluateArguments"]
