"""Putting like records together: groups of k or more, as arrays of labels."""

from suffice.partition.best import best as best
from suffice.partition.loss import information_loss as information_loss
from suffice.partition.loss import standardised as standardised
from suffice.partition.mdav import mdav as mdav
from suffice.partition.ranking import optimal as optimal
from suffice.partition.ranking import ranking as ranking
