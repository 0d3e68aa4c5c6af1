"""A run's figures for other programs: TensorBoard's event files and CSV, over kills and resumes."""
import csv
import json
import os
import pathlib
import signal
import struct
import subprocess

from support.harness import Running, Scenario, main

OPS = [{"op": "log1p", "columns": ["I*"]}, {"op": "sigrid_hash", "columns": ["C*"], "salt": 0, "max_value": 5000}]
TRAIN = {"train/loss", "train/learning_rate", "train/rows_per_second", "train/starved_ratio"}
EVAL = {"eval/auc", "eval/log_loss", "eval/normalized_entropy", "eval/calibration"}

# Reads the files as `tensorboard` does; prints {tag: [[step, value], ...]}.
READ_WITH_TENSORBOARD = """
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0})
events.Reload()
print(json.dumps({tag: [[one.step, one.value] for one in events.Scalars(tag)] for tag in events.Tags()["scalars"]}))
"""


def records(content):
    """The contents of a TFRecord file's whole records; what half a record left is not looked at."""
    at = 0
    while at + 12 <= len(content):
        (size,) = struct.unpack_from("<Q", content, at)
        if at + 16 + size > len(content):
            return
        yield content[at + 12:at + 12 + size]
        at += 16 + size


def fields(message):
    """(number, value) of each field of a protobuf message, numbers and bytes as they are."""
    at = 0

    def varint():
        nonlocal at
        number, shift = 0, 0
        while True:
            byte = message[at]
            at += 1
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number
    while at < len(message):
        key = varint()
        if key & 7 == 0:
            value = varint()
        elif key & 7 == 2:
            size = varint()
            value, at = message[at:at + size], at + size
        else:
            size = {1: 8, 5: 4}[key & 7]
            value, at = message[at:at + size], at + size
        yield key >> 3, value


def scalars(folder):
    """{tag: [(step, value), ...]} over all files of a folder, with what later runs take back left out."""
    found = {}
    for path in sorted(folder.glob("events.out.tfevents.*")):
        for number, record in enumerate(records(path.read_bytes())):
            event = dict(fields(record))
            assert number > 0 or event[3] == b"brain.Event:2", "the first record says the version"
            step = event.get(2, 0)
            if 7 in event:
                found = {tag: [one for one in ones if one[0] < step] for tag, ones in found.items()}
            for _, value in fields(event.get(5, b"")):
                value = dict(fields(value))
                found.setdefault(value[1].decode(), []).append((step, struct.unpack("<f", value[2])[0]))
    return found


class TrainLog(Scenario):
    def trained(self, rows=40000, **trainer):
        made = Running(["synth", "criteo", "--rows", rows, "--files", 2, "--seed", "1", "--out", "job/data",
                        "--json"], self.folder).wait()
        self.assert_done(made)
        return self.job(order={"batch_size": 512, "epochs": 3}, transform=OPS,
                        trainer={"evaluate_share": 0.1, "checkpoint_every": "1h", "evaluate_every": 50,
                                 "tensorboard": "logs/one", "csv": "run.csv", "log_every": 20, **trainer})

    def table(self, job):
        with open(job.folder / "run.csv", newline="") as file:
            return list(csv.DictReader(file))

    def test_figures_are_in_both_files(self):
        job = self.trained()
        result = self.assert_done(job.run("train", "--json"))
        steps = list(range(20, result["batches"] + 1, 20))
        logged = scalars(job.folder / "logs/one")
        self.assertEqual(set(logged), TRAIN | EVAL)
        for tag in TRAIN:
            self.assertEqual([step for step, _ in logged[tag]], steps, tag)
        self.assertEqual(dict(logged["train/learning_rate"])[20], struct.unpack("f", struct.pack("f", 0.01))[0])
        self.assertEqual([step for step, _ in logged["eval/auc"]], [each["step"] for each in result["evaluations"]])
        self.assertAlmostEqual(logged["eval/auc"][-1][1], result["auc"], 6)
        table = self.table(job)
        trained = [row for row in table if row["loss"]]
        self.assertEqual([int(row["step"]) for row in trained], steps)
        for row, (_, loss) in zip(trained, logged["train/loss"]):
            self.assertAlmostEqual(float(row["loss"]), loss, 6)
        self.assertEqual([float(row["auc"]) for row in table if row["auc"]],
                         [each["auc"] for each in result["evaluations"]])
        self.assertEqual(int(table[-1]["rows"]), result["rows"])

    def test_the_next_run_continues_the_files_of_a_killed_one(self):
        job = self.trained()
        self.assert_done(job.run("train", "--json", "--set", "trainer.csv=whole.csv", "--set",
                                 "trainer.tensorboard=logs/whole"))
        want = scalars(job.folder / "logs/whole")
        job.change(trainer={"checkpoint": "others"})
        running = job.start("train", "--json", "--set", "trainer.checkpoint_every=50ms")
        self.wait_until(lambda: len(list((job.folder / "others").glob("checkpoint-*"))) > 1 or not running.alive())
        running.signal(signal.SIGKILL)
        running.wait()
        with open(job.folder / "run.csv", "a") as file:
            file.write("999999,1,1,0.5,,,,,,,\n1")  # As if it had got further, and half a line.
        self.assert_done(job.run("train", "--json", "--resume"))
        got = scalars(job.folder / "logs/one")
        for tag in TRAIN | EVAL:
            self.assertEqual([step for step, _ in got[tag]], [step for step, _ in want[tag]], tag)
        for tag in EVAL | {"train/loss", "train/learning_rate"}:
            self.assertEqual(got[tag], want[tag], tag)
        steps = [(row["step"], bool(row["auc"])) for row in self.table(job)]
        self.assertEqual(len(steps), len(set(steps)))
        self.assertEqual(len(steps), len(want["train/loss"]) + len(want["eval/auc"]))

    def test_tensorboard_reads_what_a_run_and_its_resume_wrote(self):
        source = pathlib.Path(os.environ.get("FOREBAY_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
        tools = subprocess.run([source / "tools/python_tools.sh"], capture_output=True, text=True, timeout=280)
        self.assertEqual(tools.returncode, 0, tools.stderr)
        job = self.trained(rows=20000)
        self.assert_done(job.run("train", "--json", "--set", "order.epochs=1"))
        # Steps of a killed run after its last checkpoint, and half a record.
        (first,) = (job.folder / "logs/one").glob("events*")
        content = first.read_bytes()
        last = list(records(content))[-1]
        first.write_bytes(content + content[-16 - len(last):] + content[:7])
        self.assert_done(job.run("train", "--json", "--resume"))
        read = subprocess.run([tools.stdout.split()[-1], "-c", READ_WITH_TENSORBOARD, job.folder / "logs/one"],
                              capture_output=True, text=True, timeout=60, check=True)
        theirs = json.loads(read.stdout.splitlines()[-1])
        ours = scalars(job.folder / "logs/one")
        self.assertEqual(set(theirs), TRAIN | EVAL)
        for tag in TRAIN:
            self.assertEqual([tuple(one) for one in theirs[tag]], ours[tag], tag)

    def test_a_path_that_cannot_be_written_is_refused_before_the_start(self):
        job = self.trained()
        job.put("taken", "a file")
        job.put("other.csv", "a,b\n1,2\n")
        for setting in ("trainer.tensorboard=/proc/logs", "trainer.tensorboard=taken", "trainer.csv=/proc/run.csv"):
            key, _, place = setting.partition("=")
            self.assert_refused(job.run("train", "--json", "--set", setting), 2, place, key)
        self.assertFalse(any((job.folder / "checkpoints").glob("checkpoint-*")))
        self.assert_done(job.run("train", "--json"))
        self.assert_refused(job.run("train", "--json", "--resume", "--set", "trainer.csv=other.csv"), 2, "other.csv")
        self.assertEqual((job.folder / "other.csv").read_text(), "a,b\n1,2\n")


if __name__ == "__main__":
    main()
