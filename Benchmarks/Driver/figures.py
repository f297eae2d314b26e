"""Computes figures from times. A figure is a median with its quartiles."""

import dataclasses
import statistics


@dataclasses.dataclass(frozen=True)
class Figure:
    lower: float
    median: float
    upper: float

    @classmethod
    def of(cls, values):
        if len(values) == 1:
            return cls(values[0], values[0], values[0])
        lower, median, upper = statistics.quantiles(values, n=4, method="inclusive")
        return cls(lower, median, upper)

    def inverse(self, dividend):
        """Converts times to rates, or rates to times. The upper quartile becomes the lower one."""
        return Figure(dividend / self.upper, dividend / self.median, dividend / self.lower)


def time(case, name):
    """Returns the nanoseconds of one operation, over all rounds."""
    return Figure.of([time for times in case["times"][name] for time in times])


def difference(case, name, reference):
    """Returns an operation's time minus the reference's time in the same round, in nanoseconds."""
    pairs = zip(case["times"][name], case["times"][reference])
    return Figure.of([statistics.median(own) - statistics.median(other) for own, other in pairs])


def ratio(case, name, reference):
    """Returns an operation's time divided by the reference's time in the same round."""
    pairs = zip(case["times"][name], case["times"][reference])
    return Figure.of([statistics.median(own) / statistics.median(other) for own, other in pairs])
