"""The process stays below pipeline.memory, as the kernel counts it, or refuses before it starts."""
import re
import subprocess

from support.harness import MIB, Scenario, allocation, main


def zstd_wide(path):
    """Compresses stdin, whose size zstd does not know, as `--long=31` does."""
    with open(path, "wb") as file:
        return subprocess.Popen(["zstd", "-q", "-1", "--long=31", "-c"], stdin=subprocess.PIPE, stdout=file)


class Memory(Scenario):
    def gigabyte(self):
        job = self.job(order={"batch_size": 8192},
                       transform=[{"op": "log1p", "columns": ["I*"]},
                                  {"op": "sigrid_hash", "columns": ["C*"], "salt": 0, "max_value": 1000000}])
        block = "".join(job.put_criteo(20000)).encode()
        copies = (10 ** 9 // 4) // len(block) + 1
        for i in range(4):
            with open(job.put(f"data/day_{i}.tsv", b""), "wb") as file:
                for _ in range(copies):
                    file.write(block)
        return job, 4 * copies * 20000

    def test_a_gigabyte_goes_through_400_mib(self):
        job, rows = self.gigabyte()
        for options in ([], allocation(2, 4, 2, 4)):
            finished = job.run("ingest", "--json", "--set", "pipeline.memory=400MiB", *options, timeout=300)
            result = self.assert_done(finished)
            self.assertEqual(result["rows"], rows)
            self.assertLess(finished.peak_bytes, 400 * MIB)
            self.assertLess(abs(result["peak_memory_bytes"] - finished.peak_bytes), 8 * MIB)

    def test_a_limit_that_is_too_small_is_refused_with_the_bytes_needed(self):
        job = self.job(order={"batch_size": 8192})
        job.put_criteo(20000)
        finished = job.run("ingest", "--json", "--set", "pipeline.memory=8MiB")
        self.assert_refused(finished, 2, "pipeline.memory", "MiB")
        needed = max(float(figure) for figure in re.findall(r"([\d.]+) ?MiB", finished.err))
        finished = job.run("ingest", "--json", "--set", f"pipeline.memory={int(needed) + 2}MiB")
        self.assert_done(finished)
        self.assertLess(finished.peak_bytes, (needed + 2) * MIB)

    def test_a_zstd_window_counts_as_memory_as_far_as_it_is_used(self):
        job = self.job(dataset={"paths": ["data/*"]}, order={"batch_size": 500})
        plain = "".join(job.put_criteo(200)).encode()
        want = self.assert_done(job.run("ingest", "--json"))["order_digest"]

        def pack(content):
            with zstd_wide(job.put("data/day_0.tsv.zst", b"")) as packer:
                packer.stdin.write(content)
            self.assertEqual(packer.returncode, 0)

        (job.folder / "data/day_0.tsv").unlink()
        pack(plain)
        finished = job.run("ingest", "--json", "--set", "pipeline.memory=200MiB")
        self.assertEqual(self.assert_done(finished)["order_digest"], want)
        self.assertLess(finished.peak_bytes, 200 * MIB)
        copies = 80 * MIB // len(plain)
        pack(plain * copies)
        refused = job.run("index", "--set", "pipeline.memory=100MiB")
        self.assert_refused(refused, 2, "day_0.tsv.zst", "2048 MiB", "pipeline.memory", "zstd --long=23")
        self.assertLess(refused.peak_bytes, 100 * MIB)
        finished = job.run("index", "--json", "--set", "pipeline.memory=250MiB")
        self.assertEqual(self.assert_done(finished)["rows"], 200 * copies)
        self.assertLess(finished.peak_bytes, 250 * MIB)

    def test_wide_batches_count_too(self):
        job = self.job(order={"batch_size": 200000})
        job.put_criteo(40000)
        self.assert_refused(job.run("ingest", "--json", "--set", "pipeline.memory=32MiB"), 2, "pipeline.memory")


if __name__ == "__main__":
    main()
