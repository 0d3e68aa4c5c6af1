"""The process stays below pipeline.memory, as the kernel counts it, or refuses before it starts."""
import re

from harness import MIB, Scenario, allocation, main


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

    def test_a_limit_too_small_to_work_in_is_refused_with_the_figure_that_is_needed(self):
        job = self.job(order={"batch_size": 8192})
        job.put_criteo(20000)
        finished = job.run("ingest", "--json", "--set", "pipeline.memory=8MiB")
        self.assert_refused(finished, 2, "pipeline.memory", "MiB")
        needed = max(float(figure) for figure in re.findall(r"([\d.]+) ?MiB", finished.err))
        finished = job.run("ingest", "--json", "--set", f"pipeline.memory={int(needed) + 2}MiB")
        self.assert_done(finished)
        self.assertLess(finished.peak_bytes, (needed + 2) * MIB)

    def test_wide_batches_count_too(self):
        job = self.job(order={"batch_size": 200000})
        job.put_criteo(40000)
        self.assert_refused(job.run("ingest", "--json", "--set", "pipeline.memory=32MiB"), 2, "pipeline.memory")


if __name__ == "__main__":
    main()
