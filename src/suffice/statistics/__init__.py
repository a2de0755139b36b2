"""What can be promised and checked, one file each. One import line here makes a statistic known everywhere."""

from suffice.statistics.covariance import Covariance as Covariance
from suffice.statistics.distribution import Distribution as Distribution
from suffice.statistics.fit import Fit as Fit
from suffice.statistics.given import GivenRecords as GivenRecords
from suffice.statistics.limit import Limit as Limit
from suffice.statistics.mean import Mean as Mean
from suffice.statistics.statistic import STATISTICS as STATISTICS
from suffice.statistics.table import CountTable as CountTable
from suffice.statistics.third_moment import ThirdMoment as ThirdMoment
from suffice.statistics.whole_numbers import WholeNumbers as WholeNumbers
