"""Arrays of batches for consumers: the buffer protocol, NumPy, DLPack, without a copy."""
import ctypes
import enum

import package
from support.harness import Scenario, main

package.run_again_with("numpy", package.TOOLS / "python", "/usr/bin/python3")
import forebay  # noqa: E402
import numpy  # noqa: E402

POINTER = ctypes.pythonapi.PyCapsule_GetPointer
POINTER.restype, POINTER.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


class Tensor(ctypes.Structure):
    """DLTensor."""
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("dimensions", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("offset", ctypes.c_uint64)]


class Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", Tensor)]


class Device(enum.IntEnum):
    CPU = 1
    CUDA = 2


def address(array):
    return array.__array_interface__["data"][0]


class Arrays(Scenario):
    def setUp(self):
        super().setUp()
        files = self.job(order={"batch_size": 300})
        files.put_criteo(900)
        self.loader = forebay.Loader(files.folder / "job.toml")
        self.addCleanup(self.loader.close)
        self.batch = next(iter(self.loader))

    def arrays(self):
        batch = self.batch
        return [batch.labels, batch.dense, batch.values, batch.lengths, batch["I1"], batch["I13"], *batch["C1"], *batch["C26"]]

    def test_numpy_sees_the_batchs_own_memory(self):
        memory = self.batch._memory
        for array in self.arrays():
            for seen in (numpy.asarray(array), numpy.array(array, copy=False), numpy.from_dlpack(array)):
                self.assertEqual((seen.ctypes.data, seen.shape, seen.dtype.str), (address(array), array.shape, array.dtype))
                self.assertEqual(seen.tolist(), array.tolist())
                self.assertEqual(seen.nbytes, array.nbytes)
                self.assertTrue(address(memory) <= seen.ctypes.data < address(memory) + memory.nbytes)

    def test_views_of_numpy_cannot_be_written(self):
        for array in self.arrays():
            for seen in (numpy.asarray(array), numpy.from_dlpack(array)):
                self.assertFalse(seen.flags.writeable)
                with self.assertRaises(ValueError):
                    seen.flags.writeable = True
        with self.assertRaises(TypeError):
            memoryview(self.batch.labels)[0] = 1

    def shows(self, array, kind):
        """Whether the array gives out a buffer with these flags."""
        view = ctypes.create_string_buffer(256)
        try:
            ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(array), view, kind)
        except BufferError:
            return False
        ctypes.pythonapi.PyBuffer_Release(view)
        return True

    def test_a_buffer_is_contiguous_where_the_consumer_asks_for_that(self):
        simple, nd, strides = 0, 0x8, 0x18
        by_rows, by_columns, either = (strides | flag for flag in (0x20, 0x40, 0x80))
        everything = [simple, nd, strides, by_rows, by_columns, either]
        loader = forebay.Loader(self.loader._job, set={"order.batch_size": 1})
        self.addCleanup(loader.close)
        single = next(iter(loader))
        for array, kinds in ((self.batch.labels, everything), (self.batch["I3"], [strides]),
                             (self.batch.dense, [simple, nd, strides, by_rows, either]), (single["I3"], everything),
                             (single.dense, everything)):
            self.assertEqual([kind for kind in everything if self.shows(array, kind)], kinds)

    def test_an_interface_alone_keeps_the_memory(self):
        class Interface:
            def __init__(self, array):
                self.array, self.__array_interface__ = array, array.__array_interface__

        seen = numpy.asarray(Interface(self.batch["I2"]))
        self.assertEqual(seen.tolist(), self.batch["I2"].tolist())
        self.assertFalse(seen.flags.writeable)

    def test_views_outlive_batch_and_loader(self):
        views = [numpy.asarray(array) for array in self.arrays()]
        want = [view.tolist() for view in views]
        memories = memoryview(self.batch.dense)
        del self.batch
        for batch in self.loader:
            del batch
        self.loader.close()
        self.assertEqual([view.tolist() for view in views], want)
        self.assertEqual(memories.tolist(), want[1])

    def test_a_capsule_has_the_version_that_was_asked_for(self):
        array = self.batch["I3"]
        for options, name in (({}, b"dltensor"), ({"max_version": (0, 8)}, b"dltensor"), ({"stream": None}, b"dltensor"),
                              ({"max_version": (1, 0)}, b"dltensor_versioned"), ({"max_version": (2, 1)}, b"dltensor_versioned")):
            capsule = array.__dlpack__(**options)
            at = POINTER(capsule, name)
            if name == b"dltensor":
                tensor = Tensor.from_address(at)
            else:
                versioned = Versioned.from_address(at)
                self.assertEqual((versioned.major, versioned.minor, versioned.flags), (1, 0, 1))
                tensor = versioned.tensor
            self.assertEqual((tensor.data, tensor.dimensions, tensor.code, tensor.bits, tensor.lanes), (address(array), 1, 2, 32, 1))
            self.assertEqual((tensor.shape[0], tensor.strides[0], tensor.offset), (300, 13, 0))
            self.assertEqual(tuple(tensor.device), array.__dlpack_device__())
            self.assertEqual(tuple(tensor.device), (1, 0))

    def test_a_copy_is_made_when_it_is_asked_for(self):
        for array in (self.batch.dense, self.batch["I3"], self.batch.values):
            capsule = array.__dlpack__(max_version=(1, 0), copy=True)
            versioned = Versioned.from_address(POINTER(capsule, b"dltensor_versioned"))
            self.assertEqual(versioned.flags, 2)
            self.assertNotEqual(versioned.tensor.data, address(array))
            if numpy.lib.NumpyVersion(numpy.__version__) >= "2.1.0":
                copied = numpy.from_dlpack(array, copy=True)
                self.assertTrue(copied.flags.writeable)
                copied[...] = 7
                self.assertEqual(numpy.from_dlpack(array, copy=False).ctypes.data, address(array))
            self.assertNotEqual(array.tolist()[0], 7)

    def test_a_copy_may_be_unversioned(self):
        for array in (self.batch.dense, self.batch["I3"]):
            capsule = array.__dlpack__(copy=True)
            tensor = Tensor.from_address(POINTER(capsule, b"dltensor"))
            self.assertNotEqual(tensor.data, address(array))
            first = array.tolist()[0][:3] if array.ndim == 2 else array.tolist()[:3]
            self.assertEqual(list((ctypes.c_float * 3).from_address(tensor.data)), first)

    def test_a_device_may_be_a_number_of_an_enumeration(self):
        # PyTorch passes its own enumeration.
        for options in ({"dl_device": (Device.CPU, 0)}, {"dl_device": (Device.CPU, 0), "max_version": (1, 1), "copy": False}):
            self.assertIsNotNone(self.batch.labels.__dlpack__(**options))
        with self.assertRaises(BufferError):
            self.batch.labels.__dlpack__(dl_device=(Device.CUDA, 0))
        for wrong in ({"max_version": 1}, {"dl_device": "cpu"}, {"copy": "yes"}, {"streams": None}):
            with self.assertRaises(TypeError):
                self.batch.labels.__dlpack__(**wrong)

    def test_a_capsule_that_nobody_takes_gives_its_memory_back(self):
        loader = forebay.Loader(self.loader._job, set={"pipeline.memory": "64MiB"})
        self.addCleanup(loader.close)
        for _ in range(30):
            for batch in loader:
                batch.dense.__dlpack__(), batch.values.__dlpack__(max_version=(1, 0)), batch.dense.__dlpack__(copy=True)
        self.assertLessEqual(loader.stats()["memory"], 64 << 20)

    def test_other_devices_and_streams_are_refused(self):
        for options in ({"dl_device": (2, 0)}, {"stream": 1}, {"dl_device": (2, 0), "copy": True}):
            with self.assertRaises(BufferError):
                self.batch.labels.__dlpack__(**options)
        self.assertIsNotNone(self.batch.labels.__dlpack__(dl_device=(1, 0), copy=False))

    def test_what_is_held_counts_until_the_last_view_goes(self):
        loader = forebay.Loader(self.loader._job, set={"pipeline.memory": "64MiB", "order.batch_size": 900})
        self.addCleanup(loader.close)
        for keep in (lambda batch: batch, lambda batch: numpy.asarray(batch["C5"][0]), lambda batch: batch.dense.__dlpack__(),
                     lambda batch: memoryview(batch["I1"])):
            kept = []
            with self.assertRaisesRegex(forebay.ConfigError, "pipeline.memory"):
                while len(kept) < 5000:
                    kept += map(keep, loader)
            kept.clear()
            self.assertEqual(len(list(map(len, loader))) >= 0, True)


if __name__ == "__main__":
    main()
