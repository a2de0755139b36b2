"""Putting like records together: groups of k or more, as arrays of labels."""

from suffice.algorithms.partition.best import best as best
from suffice.algorithms.partition.loss import information_loss as information_loss
from suffice.algorithms.partition.loss import standardised as standardised
from suffice.algorithms.partition.mdav import mdav as mdav
from suffice.algorithms.partition.ranking import optimal as optimal
from suffice.algorithms.partition.ranking import ranking as ranking
