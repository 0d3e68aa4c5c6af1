#!/usr/bin/env python3
"""Fails when a file includes what its layer may not see, or its own header not first.

These tables are the architecture."""
import pathlib
import re
import sys

# A layer is a folder or, where one folder holds two layers, a file stem; the longest prefix of a
# file's path names its layer. A layer may include itself and the
# layers listed for it, nothing else.
CORE = ["core/base", "core/data", "core/wire", "core/store", "core/net", "core/runtime", "core/node", "core/net/zmq"]
SPEC = ["actors/operator_table", "actors/pipeline_spec", "actors/rank_share", "actors/stage_groups", "actors/stage_list"]
BLOCKS = ["actors/source/index/block_builder"]
FORMAT = ["actors/format" + part for part in ("", "/criteo", "/csv", "/npy", "/parquet", "/formats")]
SOURCE = ["actors/source" + part for part in ("/stored", "/index", "")]
STORE = ["actors/input/store" + part for part in ("/storage_spec", "/protocol", "/transfer", "")]
ACTORS = SPEC + BLOCKS + ["actors/input"] + STORE + FORMAT + ["actors/python", "actors/transform/order", "actors/transform"] + SOURCE + ["actors/stage/rows", "actors/stage", "actors/output", "actors"]
TUNER = ["tuner"] + ["tuner/" + part for part in
                     ("plan", "sim", "world", "model", "cluster", "agent", "paper", "cuts", "policy", "live", "emulated", "log", "compare")]
SCHEDULER = ["scheduler", "scheduler/client", "scheduler/head", "scheduler/worker"]
TRAINER = ["trainer", "trainer/embedding", "trainer/ranks"]
# From bottom to top: each folder may include only earlier ones.
ENGINE = ["engine/" + part for part in
          ("network", "actors", "process", "energy", "job", "outputs", "report", "plan", "trace", "metrics", "history", "dashboard", "modelled", "control", "counting", "run", "convert", "cluster", "emulated", "session", "loader",
           "ranks", "train", "analyze")]
TOOLS = ["tools/" + part for part in
         ("process", "synth", "launch", "symmetric", "inspect", "terminal", "doctor", "compare", "bench", "bench/cluster",
          "bench/training", "command")]
MAY_SEE = {
    "core/base": [],
    "core/data": ["core/base"],
    "core/wire": CORE[:2],
    "core/store": CORE[:3],
    "core/store/rows": CORE[:1],
    "core/net": CORE[:3],
    "core/runtime": CORE[:5],
    "core/node": CORE[:7],
    "core/net/zmq": CORE[:3] + ["core/net"],
    "actors/operator_table": [],
    "actors/pipeline_spec": CORE[:1],
    "actors/rank_share": [],
    "actors/stage_list": CORE[:2] + SPEC[:2],
    "actors/stage_groups": CORE[:2] + ["actors/pipeline_spec", "actors/stage_list"],
    "actors/source/index/block_builder": CORE[:1],
    "actors/input": CORE[:1],
    "actors/input/store/storage_spec": [],
    "actors/input/store/protocol": CORE[:1] + STORE[:1],
    "actors/input/store/transfer": CORE[:2] + ["actors/input"] + STORE[:2],
    "actors/input/store": CORE[:2] + ["actors/input"] + STORE,
    "actors/format": CORE[:2] + SPEC + BLOCKS + ["actors/input"],
    "actors/format/criteo": CORE[:2] + SPEC + BLOCKS + ["actors/format", "actors/format/csv"],
    "actors/format/csv": CORE[:2] + SPEC + BLOCKS + ["actors/format"],
    "actors/format/npy": CORE[:2] + SPEC + ["actors/input", "actors/format"],
    "actors/format/parquet/encoding": CORE[:1],
    "actors/format/parquet": CORE[:2] + SPEC + BLOCKS +
        ["actors/input", "actors/format", "actors/format/csv", "actors/format/parquet/encoding"],
    "actors/format/formats": CORE[:1] + SPEC + ["actors/input"] + FORMAT,
    "actors/python": CORE[:1],
    "actors/transform/order": [],
    "actors/transform": CORE[:2] + SPEC + ["actors/python", "actors/transform/order"],
    "actors/source/stored": CORE[:2] + ["actors/input"],
    "actors/source/index": CORE[:2] + SPEC + BLOCKS + ["actors/input", "actors/format", "actors/source/stored"],
    "actors/source": CORE + SPEC + BLOCKS + ["actors/input"] + FORMAT + SOURCE,
    "actors/output": CORE[:2] + ["actors/format", "actors/format/parquet"],
    "actors/stage/rows": CORE[:2],
    "actors/stage": CORE + SPEC + ["actors/stage/rows", "actors/format", "actors/transform", "actors/source"],
    "actors": CORE + ACTORS,
    "tuner": CORE[:1],
    "tuner/plan": ["core/base", "tuner"],
    "tuner/sim": ["core/base", "tuner", "tuner/plan"],
    "tuner/world": ["core/base", "tuner", "tuner/plan", "tuner/sim"],
    "tuner/model": ["core/base", "tuner", "tuner/plan"],
    "tuner/cluster": ["core/base", "tuner", "tuner/plan", "tuner/model"],
    "tuner/agent": ["core/base", "tuner", "tuner/plan", "tuner/sim", "tuner/model"],
    "tuner/paper": ["core/base", "tuner", "tuner/plan", "tuner/sim", "tuner/model", "tuner/agent"],
    "tuner/cuts": ["core/base", "tuner"],
    "tuner/policy": ["core/base", "tuner", "tuner/plan", "tuner/model", "tuner/agent", "tuner/paper", "tuner/cuts"],
    "tuner/live": CORE + ["tuner"],
    "tuner/emulated": CORE + ["tuner", "tuner/live", "tuner/sim", "tuner/world"],
    "tuner/log": ["core/base", "tuner", "tuner/cluster"],
    "tuner/compare": ["core/base", "tuner", "tuner/plan", "tuner/sim", "tuner/world", "tuner/cluster", "tuner/policy"],
    "scheduler": CORE[:3] + ["core/runtime"],
    "scheduler/client": CORE[:3] + ["core/runtime", "scheduler"],
    "scheduler/head": CORE[:4] + ["core/runtime", "scheduler"],
    "scheduler/worker": CORE[:3] + ["core/runtime", "scheduler"],
    "trainer": CORE + ACTORS,
    "trainer/ranks": CORE[:2] + ["trainer"],
    "trainer/embedding": CORE + ["core/store/rows"] + ACTORS + ["trainer"],
    "trainer/torch": CORE + ACTORS + ["trainer", "trainer/embedding", "trainer/ranks"],
    "engine/network": CORE,
    "engine/actors": CORE + ["engine/network"],
    "engine/process": CORE[:1],
    "engine/energy": CORE[:1] + ["core/runtime"],
    "engine/job": CORE[:2] + STORE[:1] + ["actors", *SPEC, "trainer"],
    "engine/outputs": CORE[:1] + STORE + ["actors/input", "actors/format/formats", "trainer"] + ["engine/process", "engine/job"],
    "engine/report": CORE[:1] + ["engine/energy", "engine/job"],
    "engine/plan": CORE[:1] + ["actors/transform", "engine/report"],
    "engine/trace": CORE[:1] + ["actors", "actors/stage_list"] + ["engine/report"],
    "engine/metrics": CORE[:1] + ["core/net", "actors", "scheduler"] + ["engine/energy", "engine/job", "engine/report"],
    "engine/history": CORE[:1] + ["core/runtime", "scheduler"] + ["engine/report", "engine/metrics"],
    "engine/dashboard": CORE[:1] + ["core/net", "core/runtime", "engine/job", "engine/history"],
    "engine/modelled": CORE[:1] + ["core/runtime", "actors/source/index"] + TUNER + ["engine/job", "engine/report"],
    "engine/control": CORE[:1],
    "engine/counting": CORE[:2] + ["core/data"] + ACTORS + ["engine/job"],
    "engine/run": CORE[:6] + ACTORS + TUNER + ["scheduler", "trainer"] +
        ["engine/process", "engine/energy", "engine/job", "engine/report", "engine/plan", "engine/trace", "engine/metrics", "engine/history", "engine/control", "engine/counting"],
    "engine/cluster": CORE + ACTORS + TUNER + SCHEDULER + ["trainer"] +
        ["engine/network", "engine/actors", "engine/process", "engine/energy", "engine/job", "engine/outputs", "engine/metrics", "engine/run"],
    "engine/emulated": CORE + SCHEDULER + TUNER + ["engine/network", "engine/cluster", "engine/modelled"],
    "engine/convert": CORE[:2] + ["core/runtime"] + ACTORS + ["engine/process", "engine/job", "engine/outputs", "engine/run"],
    "engine/session": CORE[:1] + ["core/data", "actors", "actors/rank_share", "engine/process", "engine/energy", "engine/job", "engine/plan", "engine/trace", "engine/metrics", "engine/history", "engine/dashboard", "engine/run",
                                  "engine/cluster", "engine/report", "trainer"],
    "engine/loader": CORE[:1] + ["core/data", "core/runtime", "engine/process", "engine/job", "engine/session"],
    "engine/ranks": CORE + TRAINER + ["engine/network", "engine/process", "engine/job", "engine/cluster"],
    "engine/train": CORE + ACTORS + ["tuner"] + TRAINER +
        ["engine/process", "engine/job", "engine/report", "engine/run", "engine/cluster", "engine/session", "engine/ranks"],
    "engine/analyze": CORE[:1] + ["actors", "actors/stage_list", "actors/transform", "core/runtime", "scheduler", "trainer",
                                  "tuner", "tuner/plan", "tuner/model"] +
        ["engine/process", "engine/job", "engine/report", "engine/metrics", "engine/run", "engine/cluster", "engine/train"],
    "tools/process": CORE[:1] + ["engine/process", "engine/report"],
    "tools/synth": CORE[:1],
    "tools/launch": CORE[:2] + ["engine/job"],
    "tools/symmetric": CORE[:2] + ["core/net", "engine/process", "engine/job"],
    "tools/inspect": CORE[:2] + ACTORS + ["trainer", "tuner", "tuner/log"] +
        ["engine/process", "engine/job", "engine/report", "engine/run"],
    "tools/terminal": CORE[:1] + ["core/runtime", "actors", "trainer", "engine/process", "engine/energy", "engine/job",
                                  "engine/report", "engine/metrics", "engine/run", "engine/train", "tools/process",
                                  "tools/inspect"],
    "tools/doctor": CORE[:2] + ACTORS + ["trainer"] +
        ["engine/process", "engine/job", "engine/outputs", "engine/report", "engine/run", "engine/cluster",
         "engine/dashboard", "engine/metrics", "tools/process", "tools/inspect"],
    "tools/compare": CORE[:1] + TUNER +
        ["engine/process", "engine/job", "engine/report", "engine/modelled", "tools/process", "tools/inspect"],
    "tools/bench": CORE[:2] + ["core/runtime", "actors/output"] + ACTORS + TUNER + ["trainer", "engine/process", "tools/process",
                                                                 "tools/synth"],
    "tools/bench/parquet": CORE[:2] + ["actors/output", "engine/process", "tools/bench"] + ACTORS,
    "tools/bench/cluster": CORE + ACTORS + SCHEDULER + ["engine/process", "engine/job", "engine/run", "engine/network", "engine/cluster",
                                                        "tools/process", "tools/bench"],
    "tools/bench/training": CORE + ["core/store/rows"] + TRAINER + ["engine/process", "engine/ranks", "tools/bench"],
    "tools/command": CORE + ACTORS + TUNER + TRAINER + ENGINE + TOOLS,
    "tools/command/cluster": CORE + SCHEDULER + ENGINE + ["tools/launch", "tools/process", "tools/symmetric",
                                                          "tools/command"],
    "tools/command/tune": CORE[:1] + ["core/runtime"] + TUNER + ENGINE + ["tools/inspect", "tools/compare", "tools/process",
                                                       "tools/terminal", "tools/command"],
    "tools/app_main": CORE[:1] + ["engine/process", "tools/process", "tools/command"],
    "tools/exit_calls": CORE[:1] + ["tools/process"],
    "python/src": [],  # the public headers alone
}
# The layers that may include each third-party library. Headers not listed are the standard library's
# or the system's.
LIBRARY_HOME = {
    "tl": ["core/base"],
    "zmq": ["core/net", "tools/bench"],  # the bench compares with ZeroMQ alone
    "msgpack": ["core/wire"],
    "rocksdb": ["core/store"],
    "brotli": ["actors/format/parquet"],
    "snappy": ["actors/format/parquet"],
    "lz4": ["core/wire", "actors/format/parquet"],
    "prometheus": ["engine/metrics"],
    "civetweb": ["engine/dashboard"],
    "xxhash": ["core/data", "actors/format", "actors/source"],
    "zlib": ["actors/source", "actors/output", "actors/format/parquet"],
    "zstd": ["actors/source", "actors/output", "core/wire", "actors/format/parquet", "tools/bench/parquet"],
    "curl": ["actors/input/store/transfer"],
    "expat": ["actors/input/store/protocol"],
    "openssl": ["actors/input/store/protocol"],
    "toml++": ["engine/job"],
    "CLI": ["tools/command"],
    "nlohmann": ["core/base", "engine", "tools", "actors", "trainer", "tuner/log", "tuner/agent", "tuner/cuts"],
    "spdlog": ["engine/run"],
    "nanobind": ["python/src"],
    "torch": ["trainer/torch"],
    "ATen": ["trainer/torch"],
    "c10": ["trainer/torch"],
    "caf": ["tests/bench"],
    "catch2": ["tests/support"],
}
OURS = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
THEIRS = re.compile(r"^\s*#\s*include\s+<([\w+]+)")


def layer_of(path):
    """The layer of a source file: the longest prefix in the table, or None."""
    stem = path.rsplit(".", 1)[0]
    found = [layer for layer in MAY_SEE
             if stem.startswith(layer + "/") or (stem == layer and not pathlib.Path(layer).is_dir())]
    return max(found, key=len, default=None)


def violation(path, line):
    """What `line` of `path` includes and may not, or None."""
    layer = layer_of(path)
    if match := OURS.match(line):
        target = layer_of(match[1])
        if path.startswith("tests/"):
            return None
        if target is None or (target != layer and target not in MAY_SEE[layer]):
            return match[1]
    if match := THEIRS.match(line):
        homes = LIBRARY_HOME.get(match[1])
        if homes and not any(path.startswith(home + "/") for home in homes):
            return f"<{match[1]}>" if not path.startswith("tests/") or match[1] == "catch2" else None
    return None


def hidden_lack(path, text):
    """A .cpp that does not include its own header first would hide what that header lacks."""
    header = path.removesuffix(".cpp") + ".h"
    first = next((match[1] for line in text.splitlines() if (match := OURS.match(line) or THEIRS.match(line))), None)
    if path.endswith(".cpp") and pathlib.Path(header).exists() and first != header:
        return [f"{path}: includes {first} before {header}"]
    return []


def main():
    found = []
    for top in ("core", "actors", "scheduler", "tuner", "trainer", "engine", "tools", "python", "tests"):
        for file in sorted(pathlib.Path(top).rglob("*")):
            path = str(file)
            if file.suffix not in {".h", ".cpp"}:
                continue
            if top != "tests" and layer_of(path) is None:
                found.append(f"{path}: is in no layer; add its folder to tools/lint/layers.py")
                continue
            text = file.read_text()
            found += hidden_lack(path, text)
            found += [f"{path}:{number}: may not see {seen}"
                      for number, line in enumerate(text.splitlines(), 1)
                      if (seen := violation(path, line))]
    print("\n".join(found) or "layers: ok")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
