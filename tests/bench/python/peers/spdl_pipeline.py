"""SPDL: a pipeline of threads that read and transform. usage: spdl_pipeline.py FOLDER"""
import work
from spdl.pipeline import PipelineBuilder


def batches():
    pipeline = (PipelineBuilder().add_source(list(work.parts())).pipe(work.tables, concurrency=2)
                .pipe(work.arrays_of, concurrency=2).add_sink(4).build(num_threads=3))
    with pipeline.auto_stop():
        for arrays in pipeline:
            yield from work.batches_of(arrays)


if __name__ == "__main__":
    work.report(batches)
