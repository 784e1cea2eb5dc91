"""What was arguments of ``regard evaluate``, all tasks' options together."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class EvaluateArguments:
    """A call of the verb; what each option means, its help says."""

    model: Path
    source: Path
    reference: Path | None
    columns: tuple[int, int] | None
    column: str | None
    second_column: int | None
    separator: str
    header: bool
    vertical: bool
    continuous: bool
    gold: Path | None
    beam: int
    length_power: float
    tokenize: str
    lowercase: bool
    out: Path | None
    json: bool
    max_length: int
    weights: str
    device: str
    command: str
    """What to type to have it again."""

    @property
    def title(self) -> str:
        """What is tested, on what."""
        return f"{self.model.name} on {self.source.name}"
