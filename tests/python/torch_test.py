"""Tensors of PyTorch on a batch's memory, and a whole training program that is killed and goes on."""
import subprocess
import sys

import package
from package import SOURCE, environment
from support.harness import Scenario, main

package.run_again_with("torch", package.TOOLS / "python", "/usr/bin/python3", "python3")
import forebay  # noqa: E402
import torch  # noqa: E402

PROGRAM = SOURCE / "examples/python/train_pytorch.py"


class Torch(Scenario):
    def setUp(self):
        super().setUp()
        self.files = self.job(order={"batch_size": 20}, trainer={"deterministic": True})
        self.files.put_criteo(4000)  # 200 batches
        self.path = self.files.folder / "job.toml"

    def test_tensors_are_views_of_the_batch(self):
        with forebay.Loader(self.path) as loader:
            batch = next(iter(loader))
            for array in (batch.labels, batch.dense, batch.values, batch.lengths, batch["I4"], *batch["C7"]):
                tensor = torch.from_dlpack(array)
                self.assertEqual(tensor.data_ptr(), array.__array_interface__["data"][0])
                self.assertEqual((tuple(tensor.shape), tensor.tolist()), (array.shape, array.tolist()))
            for device in (None, "cpu"):
                tensors = batch.torch(device)
                self.assertEqual(sorted(tensors), ["dense", "labels", "lengths", "values"])
                for name, tensor in tensors.items():
                    self.assertEqual(tensor.data_ptr(), getattr(batch, name).__array_interface__["data"][0])
            self.assertEqual(tensors["dense"].dtype, torch.float32)
            self.assertEqual(tensors["lengths"].dtype, torch.int32)

    def test_a_device_that_is_not_there_is_named(self):
        if torch.cuda.is_available():
            self.skipTest("PyTorch has a CUDA device here")
        with forebay.Loader(self.path) as loader, self.assertRaisesRegex(forebay.ConfigError, "no CUDA device"):
            next(iter(loader)).torch("cuda")

    def test_a_tensor_that_is_written_changes_nobody_elses_batch(self):
        with forebay.Loader(self.path) as loader, forebay.Loader(self.path) as other:
            for batch, untouched in zip(loader, other):
                for array in (batch.labels, batch.dense, batch.values, batch.lengths):
                    torch.from_dlpack(array).zero_()
                self.assertNotEqual(sum(untouched.lengths.tolist()[0]), 0)
            self.assertEqual(loader.stats()["order_digest"], other.stats()["order_digest"])
            self.assertEqual(loader.state_dict(), other.state_dict())

    def test_a_tensor_keeps_its_memory(self):
        loader = forebay.Loader(self.path)
        batch = next(iter(loader))
        tensor, want = torch.from_dlpack(batch.dense), batch.dense.tolist()
        del batch
        loader.close()
        del loader
        self.assertEqual(tensor.tolist(), want)

    def test_the_tensors_of_torchrec_are_made_when_it_is_there(self):
        with forebay.Loader(self.path) as loader:
            batch = next(iter(loader))
            try:
                import torchrec
            except ImportError:
                with self.assertRaisesRegex(ImportError, "torchrec"):
                    batch.kjt()
                self.skipTest("torchrec is not installed")
            jagged = batch.kjt()
            self.assertIsInstance(jagged, torchrec.KeyedJaggedTensor)
            self.assertEqual(jagged.keys(), loader.schema.sparse)
            self.assertEqual(jagged.values().data_ptr(), batch.values.__array_interface__["data"][0])

    def start(self, checkpoint):
        return subprocess.Popen([sys.executable, PROGRAM, self.path, checkpoint], stdout=subprocess.PIPE, text=True, env=environment())

    def test_a_training_program_goes_on_from_its_checkpoint_to_the_same_model(self):
        whole = self.start(self.folder / "whole.pt")
        lines = whole.communicate(timeout=250)[0].splitlines()
        self.assertEqual((whole.returncode, len(lines)), (0, 4))
        killed = self.start(self.folder / "killed.pt")
        self.assertTrue(killed.stdout.readline().startswith("batch 49: loss "))
        killed.kill()
        killed.communicate()
        resumed = self.start(self.folder / "killed.pt")
        rest = resumed.communicate(timeout=250)[0].splitlines()
        self.assertEqual([line.split(",")[0] for line in rest], [line.split(",")[0] for line in lines[4 - len(rest):]])
        want, got = (torch.load(self.folder / name) for name in ("whole.pt", "killed.pt"))
        self.assertEqual(got["loader"], want["loader"])
        for name, values in want["model"].items():
            self.assertTrue(torch.equal(got["model"][name], values), name)


if __name__ == "__main__":
    main()
