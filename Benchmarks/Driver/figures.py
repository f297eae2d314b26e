"""From times to figures: a median with its quartiles."""

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
        """Times as rates, and the other way round: the upper quartile becomes the lower."""
        return Figure(dividend / self.upper, dividend / self.median, dividend / self.lower)


def time(case, name):
    """The nanoseconds of one operation, over all rounds."""
    return Figure.of([time for times in case["times"][name] for time in times])


def difference(case, name, reference):
    """How many nanoseconds longer than the reference's, in the same round, one operation takes."""
    pairs = zip(case["times"][name], case["times"][reference])
    return Figure.of([statistics.median(own) - statistics.median(other) for own, other in pairs])


def ratio(case, name, reference):
    """How many times as long as the reference's, in the same round, one operation takes."""
    pairs = zip(case["times"][name], case["times"][reference])
    return Figure.of([statistics.median(own) / statistics.median(other) for own, other in pairs])
