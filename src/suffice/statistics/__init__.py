"""What can be promised and checked, one file each."""

from suffice.statistics.covariance import Covariance
from suffice.statistics.fit import Fit
from suffice.statistics.given import GivenRecords
from suffice.statistics.limit import Limit
from suffice.statistics.mean import Mean
from suffice.statistics.third_moment import ThirdMoment

STATISTICS = {
    statistic.name: statistic for statistic in (Mean(), Covariance(), Fit(), ThirdMoment(), GivenRecords(), Limit())
}

__all__ = ["STATISTICS", "Covariance", "Fit", "GivenRecords", "Limit", "Mean", "ThirdMoment"]
