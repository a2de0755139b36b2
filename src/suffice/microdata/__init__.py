"""Methods for microdata, one file each. One import line here makes a method known everywhere."""

from suffice.microdata.addition import Addition as Addition
from suffice.microdata.fitted import Fitted as Fitted
from suffice.microdata.householder import Householder as Householder
from suffice.microdata.ipso import Ipso as Ipso
from suffice.microdata.ipso_a import IpsoA as IpsoA
from suffice.microdata.ipso_b import IpsoB as IpsoB
from suffice.microdata.micro_hybrid import MicroHybrid as MicroHybrid
from suffice.microdata.microaggregate import Microaggregate as Microaggregate
from suffice.microdata.microaggregate_noise import MicroaggregateNoise as MicroaggregateNoise
from suffice.microdata.mixture import Mixture as Mixture
from suffice.microdata.moment_householder import MomentHouseholder as MomentHouseholder
from suffice.microdata.outliers_apart import OutliersApart as OutliersApart
from suffice.microdata.residual_correlation import ResidualCorrelation as ResidualCorrelation
from suffice.microdata.resize import Resize as Resize
from suffice.microdata.restore import Restore as Restore
from suffice.microdata.romm import Romm as Romm
from suffice.microdata.rotate import Rotate as Rotate
from suffice.microdata.score_correlation import ScoreCorrelation as ScoreCorrelation
