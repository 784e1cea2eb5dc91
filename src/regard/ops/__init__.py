"""The equations: pure functions of tensors, without parameters or state. README.md says which lives where."""

from regard.ops.backends import Choice as Choice
from regard.ops.backends import explain as explain
from regard.ops.dispatch import run as run
from regard.ops.dispatch import run_both as run_both
from regard.ops.dispatch import step as step
from regard.ops.recurrence import Asking as Asking
from regard.ops.recurrence import Inputs as Inputs
from regard.ops.recurrence import Outputs as Outputs
from regard.ops.recurrence import Read as Read
from regard.ops.recurrence import Recurrence as Recurrence
from regard.ops.recurrence import Source as Source
from regard.ops.recurrence import Weights as Weights
