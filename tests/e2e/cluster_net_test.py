"""Separate hosts, as network namespaces: real addresses, keys, and a link that is cut, slow and lossy."""
import os
import subprocess
import time
import unittest

from support import harness
from support.cluster import Cluster, ClusterScenario
from support.relay import Relay


def run(*words):
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)


class Hosts:
    """Two hosts joined by one link: the trainer's, 10.77.0.1, and the workers', 10.77.0.2."""

    def __init__(self, test):
        tag = f"fb{os.getpid() % 100000}"
        self.names = [f"{tag}a", f"{tag}b"]
        self.link = [f"{tag}va", f"{tag}vb"]
        test.addCleanup(self.remove)
        steps = [("ip", "netns", "add", name) for name in self.names]
        steps.append(("ip", "link", "add", self.link[0], "netns", self.names[0], "type", "veth",
                      "peer", "name", self.link[1], "netns", self.names[1]))
        for i in (0, 1):
            inside = ("ip", "-n", self.names[i])
            steps += [(*inside, "addr", "add", f"10.77.0.{i + 1}/24", "dev", self.link[i]),
                      (*inside, "link", "set", self.link[i], "up"), (*inside, "link", "set", "lo", "up")]
        for step in steps:
            done = run(*step)
            if done.returncode != 0:
                raise unittest.SkipTest(f"no network namespaces here: {' '.join(step)}: {done.stderr.strip()}")

    def on(self, host):
        return ("ip", "netns", "exec", self.names[host])

    def cut(self):
        run("ip", "-n", self.names[1], "link", "set", self.link[1], "down")

    def heal(self):
        run("ip", "-n", self.names[1], "link", "set", self.link[1], "up")

    def shape(self, *netem):
        """Returns False where the kernel has no such queue."""
        return run(*self.on(1), "tc", "qdisc", "replace", "dev", self.link[1], "root", "netem", *netem).returncode == 0

    def remove(self):
        for name in self.names:
            run("ip", "netns", "del", name)


class Links(ClusterScenario):
    def setUp(self):
        super().setUp()
        self.hosts = Hosts(self)
        self.work_here = self.work(epochs=5)
        self.digest = self.digest_alone(self.work_here)
        made = harness.Running(["keys", "new", "keys"], self.work_here.folder).wait()
        self.assertEqual(made.status, 0, made)

    def cluster(self, workers=2, **options):
        cluster = Cluster(self, self.work_here, prefix=self.hosts.on(0), worker_prefix=self.hosts.on(1),
                          listen="tcp://10.77.0.1:0", keys="keys", local=False, heartbeat="100ms", **options)
        for _ in range(workers):
            cluster.worker("--keys", "keys")
        return cluster

    def test_a_cut_link_that_heals_loses_nothing(self):
        cluster = self.cluster()

        def cut(draw):
            self.hosts.cut()
            time.sleep(draw.choice((0.2, 1.5)))
            self.hosts.heal()

        self.assertGreater(self.harass(cluster, cut, times=4, pause=(0.3, 0.6)), 0)
        finished, _ = cluster.finish()
        self.assert_same_run(finished, self.digest, 100000)
        self.assertIn("lost", finished.err)

    def test_loss_delay_and_duplicates_on_the_link_change_nothing(self):
        if not self.hosts.shape("delay", "5ms", "2ms", "loss", "1%", "duplicate", "2%", "reorder", "5%"):
            self.skipTest("this kernel has no netem")
        finished, _ = self.cluster().finish()
        self.assert_same_run(finished, self.digest, 100000)


class Keys(ClusterScenario):
    def test_files_that_hold_no_key_are_named_once_and_nodes_with_keys_work(self):
        job = self.work(rows=5000, epochs=2, microseconds=0)
        digest = self.digest_alone(job)
        self.assert_done(harness.Running(["keys", "new", "keys", "--json"], job.folder).wait())
        clients = job.folder / "keys" / "clients"
        (clients / "garbage.key").write_bytes(b"\0garbage" * 1000)
        (clients / "empty.key").touch()
        (clients / "folder.key").mkdir()
        os.mkfifo(clients / "fifo.key")
        names = [path.name for path in clients.iterdir() if path.name != "client.key"]
        cluster = Cluster(self, job, local=False, keys="keys")
        self.wait_until(lambda: all(name in cluster.trainer.stderr_now() for name in names))
        (clients / "half.key").write_text((clients / "client.key").read_text()[:20])
        cluster.worker("--keys", "keys")
        finished, _ = cluster.finish()
        self.assert_same_run(finished, digest, 10000)
        for name in names:
            self.assertEqual(finished.err.count(name), 1, finished)


class Ways(ClusterScenario):
    """The same on loopback, through a relay that works on any kernel."""

    def through_relay(self, job, workers=2, **way):
        cluster = Cluster(self, job, local=False, heartbeat="200ms")
        relay = Relay(cluster.address, **way)
        self.addCleanup(relay.close)
        cluster.join = relay.address
        for _ in range(workers):
            cluster.worker()
        return cluster, relay

    def test_a_link_that_is_cut_repeatedly_loses_nothing(self):
        job = self.work(epochs=6)
        digest = self.digest_alone(job)
        cluster, relay = self.through_relay(job, delay=0.002)
        self.assertGreater(self.harass(cluster, lambda _: relay.cut(), times=6), 0)
        finished, _ = cluster.finish()
        self.assert_same_run(finished, digest, 120000)

    def test_a_slow_link_is_compressed_and_memory_stays_bounded(self):
        job = self.work(epochs=40, microseconds=0)
        digest = self.digest_alone(job)
        cluster, relay = self.through_relay(job, workers=1, bytes_per_second=8 << 20)
        finished, ends = cluster.finish()
        self.assert_same_run(finished, digest, 800000)
        self.assertIn("compression ", ends["w1"].err)
        self.assertLess(ends["w1"].peak_bytes, 300 * harness.MIB, ends["w1"])
        self.assertLess(finished.peak_bytes, 400 * harness.MIB, finished)


if __name__ == "__main__":
    harness.main()
