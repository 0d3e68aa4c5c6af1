"""A job on several nodes: the trainer, workers, perhaps a head, all real processes on loopback."""
import os
import pathlib
import random
import signal
import socket
import time

from support.harness import Job, Running, Scenario


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def resident(pid):
    """Resident bytes of a process; 0 once it is gone."""
    try:
        with open(f"/proc/{pid}/status") as status:
            for line in status:
                if line.startswith("VmRSS"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


class Cluster:
    """One run of a job and whoever works for it. Ends what it started."""

    def __init__(self, test, job, command="ingest", *options, head=None, prefix=(), worker_prefix=(), **cluster):
        self.test, self.job = test, job
        sets = {"listen": "tcp://127.0.0.1:0", **cluster}
        if head:
            sets["head"] = head
        self.sets = [word for key, value in sets.items()
                     for word in ("--set", f"cluster.{key}={str(value).lower() if isinstance(value, bool) else value}")]
        self.head = head
        self.address_file = job.folder / ".forebay" / "address"
        self.workers = {}
        self.join = None  # where workers go instead of straight to the head
        self.number = 0
        self.command, self.options = command, options
        self.prefix, self.worker_prefix = prefix, worker_prefix
        self.start_trainer()
        test.addCleanup(self.kill_all)

    def start_trainer(self, *more):
        self.trainer = Running([self.command, "job.toml", "--json", *self.sets, *self.options, *more],
                               self.job.folder, self.prefix)
        self.test.wait_until(lambda: self.address_file.exists() or not self.trainer.alive())

    @property
    def address(self):
        return self.head or self.address_file.read_text().strip()

    def worker(self, *options, name=None):
        self.number += 1
        name = name or f"w{self.number}"
        words = ["worker", "--join", self.join or self.address, "--name", name, "--cpus", "1", "--memory", "300MiB", *options]
        self.workers[name] = Running(words, self.job.folder, self.worker_prefix)
        return self.workers[name]

    def kill(self, name):
        worker = self.workers.pop(name)
        worker.signal(signal.SIGKILL)
        worker.wait()

    def finish(self, timeout=180):
        """The trainer's end, and that of every worker that still lives."""
        finished = self.trainer.wait(timeout)
        ends = {name: worker.wait(30) for name, worker in self.workers.items()}
        self.workers = {}
        return finished, ends

    def kill_all(self):
        for running in [self.trainer, *self.workers.values()]:
            if running.process.returncode is None and running.alive():
                running.signal(signal.SIGCONT)
                running.signal(signal.SIGKILL)
                running.wait()


class Head:
    """A head of its own, which can be killed and come back at the same place."""

    def __init__(self, test, folder, *options, store="head-store", prefix=()):
        self.test, self.folder = test, pathlib.Path(folder)
        self.options, self.store, self.prefix = options, store, prefix
        self.address = f"tcp://127.0.0.1:{free_port()}"
        self.start()
        test.addCleanup(self.kill)

    def start(self):
        self.running = Running(["head", "--listen", self.address, "--store", self.store, "--json", *self.options], self.folder,
                               self.prefix)
        self.test.wait_until(lambda: "join at" in self.running.stderr_now() or not self.running.alive())

    def kill(self):
        if self.running.process.returncode is None:
            self.running.signal(signal.SIGKILL)
            self.running.wait()


class ClusterScenario(Scenario):
    def work(self, rows=20000, epochs=4, microseconds=20, **tables):
        """A job of `epochs` times 30 splits that takes rows x epochs x microseconds of CPU."""
        job = Job(self.folder / "job", order={"batch_size": 512, "epochs": epochs, "seed": 3},
                  transform=[{"op": "spin", "microseconds": microseconds}], pipeline={"memory": "400MiB"}, **tables)
        job.put_criteo(rows, files=3)
        return job

    def digest_alone(self, job):
        return self.assert_done(job.run("ingest", "--json", "--set", "transform.0.microseconds=0"))["order_digest"]

    def assert_same_run(self, finished, digest, rows):
        result = self.assert_done(finished)
        self.assertEqual(result["order_digest"], digest, finished)
        self.assertEqual(result["rows"], rows, finished)
        self.assertEqual(sum(result["rows_by_node"].values()), rows, finished)
        return result

    def rows_so_far(self, job):
        """Of a job that runs; 0 while there is nothing to see."""
        asked = Running(["status", "--dir", job.folder, "--json"], self.folder).wait(30)
        return asked.json.get("rows", 0) if asked.status == 0 else 0

    def splits_made(self, job):
        """By each node of a job that runs."""
        asked = Running(["status", "--dir", job.folder, "--json"], self.folder).wait(30)
        return {node["name"]: node["splits"] for node in asked.json.get("nodes", [])} if asked.status == 0 else {}

    def harass(self, cluster, act, times, pause=(0.1, 0.4), seed=1):
        """Does `act` again and again until the trainer ends; how often."""
        draw = random.Random(seed)
        done = 0
        while done < times and cluster.trainer.alive():
            time.sleep(draw.uniform(*pause))
            if not cluster.trainer.alive():
                break
            act(draw)
            done += 1
        return done


def alive(pid):
    return os.path.exists(f"/proc/{pid}")
