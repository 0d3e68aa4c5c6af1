#!/usr/bin/env python3
"""Draws what `forebay tune compare --report DIR` measured: usage: plot.py DIR [PIPELINE...]

Reads DIR/runs.csv and DIR/trace.csv, writes SVG files to DIR/plots and prints the name of each on a line of
its own: summary.svg, then one a PIPELINE (01.svg, 02.svg, ... in the order given). Exit 3: no matplotlib.
"""
import collections
import csv
import pathlib
import re
import sys

try:
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot
except ImportError:
    sys.exit(3)

# Okabe and Ito's colours, which colour-blind people can distinguish; further stages repeat them with
# hatching.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999"]
HATCHES = ["", "///", "..."]
OURS, ORACLE, LIMIT = "#0072B2", "#000000", "#D55E00"
GIB = 1 << 30
DOTS_DPI = 200  # Thousands of dots are an image within the picture, or they would be most of its size.
STYLE = {"font.size": 8, "axes.titlesize": 9, "axes.spines.top": False, "axes.spines.right": False,
         "svg.hashsalt": "forebay", "svg.fonttype": "none", "legend.frameon": False,
         "text.parse_math": False}


def rows_of(path):
    with open(path, newline="") as file:
        yield from csv.DictReader(file)


def number(text):
    return None if text == "-" else float(text)


def save(figure, path):
    figure.savefig(path, format="svg", dpi=DOTS_DPI, metadata={"Date": None})
    pyplot.close(figure)
    print(path.name, flush=True)


def read_runs(folder):
    """{policy: [run, ...]} in the order of the file."""
    runs = collections.defaultdict(list)
    for row in rows_of(folder / "runs.csv"):
        runs[row["policy"]].append(row)
    return runs


def read_traces(folder, wanted):
    """{pipeline: {policy: {seed: [period, ...]}}} of the pipelines wanted."""
    traces = {name: {} for name in wanted}
    for row in rows_of(folder / "trace.csv"):
        if row["pipeline"] in traces:
            seeds = traces[row["pipeline"]].setdefault(row["policy"], {})
            seeds.setdefault(row["seed"], []).append(row)
    return traces


def draw_distribution(axes, runs, measure, title):
    """A box of the quartiles and the median, whiskers at 5 and 95 %, and every run as a dot."""
    policies = list(runs)
    for at, policy in enumerate(policies):
        values = [value for run in runs[policy] if (value := number(run[measure])) is not None]
        if not values:
            continue
        colour = OURS if policy.startswith("intune") else "#666666"
        axes.boxplot([values], positions=[at], vert=False, widths=0.55, whis=(5, 95), showfliers=False,
                     medianprops={"color": colour, "linewidth": 2}, boxprops={"color": colour},
                     whiskerprops={"color": colour}, capprops={"color": colour})
        step = 0.5 / max(len(values) - 1, 1)
        spread = [at - 0.25 + index * step for index in range(len(values))]
        axes.plot(values, spread, ".", color=colour, alpha=0.25, markersize=3, zorder=1, rasterized=True)
    axes.set_yticks(range(len(policies)), policies)
    axes.axvline(1, color=ORACLE, linewidth=0.8, linestyle="--")
    axes.set_xlim(0, 1.05)
    axes.set_xlabel("splits trained / the oracle's")
    axes.set_title(title, loc="left")


def draw_summary(runs, path):
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 1.2 + 0.42 * len(runs)), sharey=True,
                                            layout="constrained")
    draw_distribution(left, runs, "ratio_overall", "From the first decision on")
    draw_distribution(right, runs, "ratio_after_30", "After 30 decisions")
    left.invert_yaxis()
    figure.suptitle("Throughput over the best fixed allocation's: quartiles, median, 5th to 95th percentile;"
                    " a dot is a run", x=0.01, ha="left", fontsize=9)
    save(figure, path)


def column(periods, name, unit=1.0):
    return [float(period[name]) / unit for period in periods]


def edges(periods):
    return column(periods, "begin_seconds") + [float(periods[-1]["end_seconds"])]


def draw_steps(axes, seeds, name, bound, unit=1.0, **labels):
    """`name` of every seed against `bound`, which is the same for all; true to scale up to a fifth above it."""
    for periods in seeds.values():
        axes.stairs(column(periods, name, unit), edges(periods), baseline=None, color=OURS, linewidth=0.9,
                    alpha=1 if len(seeds) == 1 else 0.6, label=labels["ours"])
    periods = next(iter(seeds.values()))
    most = column(periods, bound, unit)
    axes.stairs(most, edges(periods), baseline=None, color=labels["colour"], linewidth=1, linestyle="--",
                label=labels["theirs"])
    axes.set_ylim(0, 1.2 * max(most))


def draw_throughput(axes, seeds):
    draw_steps(axes, seeds, "splits_per_second", "oracle_splits_per_second", ours="trained, a line a seed",
               theirs="oracle", colour=ORACLE)
    dead = [period["begin_seconds"] for periods in seeds.values() for period in periods if period["actors"] == "0"]
    if dead:
        axes.text(0.5, 0.5, f"out of memory before {min(map(float, dead)):g} s", color=LIMIT, ha="center",
                  transform=axes.transAxes)


def actors_by_stage(periods):
    """{stage: [actors, ...]} of `load=4 decode=3`; a stage's name may hold blanks."""
    stages = collections.defaultdict(list)
    for period in periods:
        for name, count in re.findall(r"(.+?)=(\d+)(?: |$)", period["allocation"]):
            stages[name].append(int(count))
    return stages


def draw_allocation(axes, seeds):
    periods = next(iter(seeds.values()))
    below = [0] * len(periods)
    for index, (name, counts) in enumerate(actors_by_stage(periods).items()):
        above = [low + count for low, count in zip(below, counts)]
        axes.stairs(above, edges(periods), baseline=below, fill=True, label=name, linewidth=0.2,
                    facecolor=COLOURS[index % len(COLOURS)], edgecolor="white",
                    hatch=HATCHES[index // len(COLOURS) % len(HATCHES)])
        below = above


def draw_memory(axes, seeds):
    draw_steps(axes, seeds, "memory_peak_bytes", "memory_limit_bytes", GIB, ours="peak of each period", theirs="limit",
               colour=LIMIT)


PANELS = [("splits/s", draw_throughput), ("actors (first seed)", draw_allocation), ("memory, GiB", draw_memory)]


def legend_of(axes):
    handles = {}
    for handle, label in zip(*axes.get_legend_handles_labels()):
        handles.setdefault(label, handle)
    return list(handles.values()), list(handles)


def draw_pipeline(pipeline, policies, path):
    """Policies below each other; beside each other throughput, actors and memory, on one scale each."""
    count = len(policies)
    figure, grid = pyplot.subplots(count, len(PANELS), figsize=(12, 1.5 + 1.35 * count), squeeze=False,
                                   sharex=True, layout="constrained")
    for line, (policy, seeds) in enumerate(policies.items()):
        for place, (title, draw) in enumerate(PANELS):
            axes = grid[line][place]
            draw(axes, seeds)
            axes.set_title(f"{policy}: {title}", loc="left")
    for place in range(len(PANELS)):
        grid[-1][place].set_xlabel("seconds")
        handles, labels = legend_of(grid[0][place])
        grid[0][place].legend(handles, labels, loc="lower left", bbox_to_anchor=(0, 1.18), fontsize=7,
                              ncols=5 if place == 1 else 2, borderaxespad=0, handlelength=1.2, columnspacing=0.8)
    figure.suptitle(f"Pipeline {pipeline}", x=0.01, ha="left")
    save(figure, path)


def main(folder, pipelines):
    folder = pathlib.Path(folder)
    plots = folder / "plots"
    plots.mkdir(exist_ok=True)
    runs = read_runs(folder)
    if not runs:
        return
    with pyplot.rc_context(STYLE):
        draw_summary(runs, plots / "summary.svg")
        traces = read_traces(folder, pipelines)
        for index, name in enumerate(pipelines, 1):
            if traces[name]:
                draw_pipeline(name, traces[name], plots / f"{index:02}.svg")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
