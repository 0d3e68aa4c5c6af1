"""Functions for the tests of transforms, as a user's module: they go to their processes by name."""
import os
import sys
import time

import numpy


def ratio(columns):
    return {"ratio": columns["I1"] / (numpy.abs(columns["I2"]) + 1)}


def lists(columns):
    """Of C1 the first id of each row, doubled with its number of ids."""
    values, lengths = columns["C1"]
    return {"count": lengths, "twice": (numpy.repeat(values, 2), 2 * lengths)}


def everything(columns):
    """The sum of all columns, whatever they are."""
    total = 0
    for column in columns.values():
        total = total + (column[1] if isinstance(column, tuple) else numpy.nan_to_num(column))
    return {"sum": total}


def in_place(columns):
    ones = columns["I1"]
    ones[:] = 1
    return {"ones": ones}


def raises(columns):
    ids = columns["C1"][0]
    if (ids == 1234).any():
        raise ValueError("an id that nobody expects")
    return {"ratio": columns["I1"]}


class Silent(Exception):
    def __str__(self):
        raise LookupError("no words")


def raises_silently(columns):
    raise Silent


def needs_two_rows(columns):
    if len(columns["I1"]) > 1:
        raise RuntimeError("only with others")
    return {"ratio": columns["I1"]}


def leaves(columns):
    sys.exit("bye")


def prints(columns):
    print("printed by a function", flush=True)
    return {"ratio": columns["I1"]}


def returns(what):
    """A function that returns `what(columns)`, which has no name of its own."""
    return lambda columns: what(columns)


def nothing(columns):
    return None


def too_short(columns):
    return {"ratio": columns["I1"][1:]}


def too_deep(columns):
    return {"ratio": columns["I1"].reshape(-1, 1)}


def texts(columns):
    return {"ratio": numpy.full(len(columns["I1"]), "x")}


def too_few(columns):
    return {}


def too_many(columns):
    return {"ratio": columns["I1"], "other": columns["I1"]}


def no_lists(columns):
    return {"ratio": columns["I1"], "twice": columns["I1"]}


def wrong_lengths(columns):
    return {"ratio": columns["I1"], "twice": (numpy.arange(3), numpy.zeros(len(columns["I1"]), int))}


def negative_lengths(columns):
    lengths = numpy.zeros(len(columns["I1"]), int)
    lengths[0], lengths[1] = -3, 3
    return {"ratio": columns["I1"], "twice": (numpy.arange(0), lengths)}


def too_many_ids(columns):
    rows = len(columns["I1"])
    return {"ratio": columns["I1"], "twice": (numpy.arange(5 * rows), numpy.full(rows, 5))}


def slow(columns):
    time.sleep(float(os.environ.get("SLOW_SECONDS", "0.01")))
    return {"ratio": columns["I1"]}


def number_of_cpus(columns):
    return {"ratio": numpy.full(len(columns["I1"]), len(os.sched_getaffinity(0)))}


def takes_memory(columns):
    takes_memory.kept = getattr(takes_memory, "kept", [])
    takes_memory.kept.append(numpy.ones(1 << 20))
    return {"ratio": columns["I1"]}


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, columns):
        return {"ratio": columns["I1"] * self.factor}
