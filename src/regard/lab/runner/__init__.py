"""What every experiment is built from: the bench it runs on, the finding it returns and the verdict in it."""

from regard.lab.runner.bench import Bench as Bench
from regard.lab.runner.bench import train_for as train_for
from regard.lab.runner.experiment import CaptionedFigure as CaptionedFigure
from regard.lab.runner.experiment import Check as Check
from regard.lab.runner.experiment import Experiment as Experiment
from regard.lab.runner.experiment import Finding as Finding
from regard.lab.runner.experiment import Table as Table
from regard.lab.runner.experiment import Verdict as Verdict
from regard.lab.runner.registration import Registration as Registration
from regard.lab.runner.registration import read_registration as read_registration
