"""The equations: pure functions of tensors, without parameters or state. README.md says which lives where."""

from regard.ops.backends import Choice as Choice
from regard.ops.backends import explain as explain
