"""The manifests of `forebay launch k8s`, against the schemas of the Kubernetes API."""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import unittest

from support.harness import Running, Scenario, main

SOURCE = pathlib.Path(os.environ.get("FOREBAY_SOURCE", pathlib.Path(__file__).parents[2]))
VERSIONS = ("1.31.0", "1.37.0")  # podFailurePolicy left beta with 1.31


def validator():
    """Returns the python that has kubernetes-validate, and why there is none."""
    made = subprocess.run([SOURCE / "tools/python_tools.sh"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return made.stdout.strip(), "" if made.returncode == 0 else "kubernetes-validate cannot be installed: " + made.stderr[-300:]


class Kubernetes(Scenario):
    def launched(self, *options, **tables):
        job = self.job(pipeline={"cpus": 3, "memory": "2GiB"}, cluster={"keys": "keys"}, **tables)
        job.put_criteo(10)
        if not (job.folder / "keys").exists():
            self.assertEqual(Running(["keys", "new", "keys"], job.folder).wait().status, 0)
        job.put("job.toml", "# \"quotes\", 'more', tabs\tand @NAMES@\n" + (job.folder / "job.toml").read_text())
        done = Running(["launch", "k8s", "job.toml", "--json", *options], job.folder).wait()
        folder = job.folder / ".forebay/launch"
        self.assertEqual(self.assert_done(done)["files"][0], str(folder / "kustomization.yaml"))
        return job, folder

    def checked(self, folder, version):
        """Returns the manifests by kind and name, checked against the schemas."""
        python, absent = validator()
        if absent:
            self.skipTest(absent)
        paths = sorted(path for path in folder.glob("*.yaml") if path.name != "kustomization.yaml")
        done = subprocess.run([python, pathlib.Path(__file__).with_name("support") / "k8s_check.py", version, *paths],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return {(each["kind"], each["metadata"]["name"]): each for each in json.loads(done.stdout)}

    def test_every_manifest_fits_the_schema_of_its_kind(self):
        for options, tables in (([], {}),
                                (["--workers", "0", "--command", "ingest"], {}),
                                (["--claim", "ads", "--gpus", "2", "--image", "registry:5000/forebay:1", "--port", "7777"],
                                 {"run": {"grace": "30s"}})):
            for version in VERSIONS:
                with self.subTest(options=options, version=version):
                    _, folder = self.launched("--force", *options, **tables)
                    found = self.checked(folder, version)
                    self.assertEqual(sorted(kind for kind, _ in found), ["ConfigMap", "Job", "Job", "Secret", "Secret", "Service"])

    def test_metrics_have_a_port_and_a_probe(self):
        job, folder = self.launched()
        job.change(cluster={"metrics": "127.0.0.1:0"})
        self.assert_done(Running(["launch", "k8s", "job.toml", "--json"], job.folder).wait())
        found = self.checked(folder, VERSIONS[-1])
        [trainer] = [each for (kind, name), each in found.items() if kind == "Job" and not name.endswith("-workers")]
        container = trainer["spec"]["template"]["spec"]["containers"][0]
        self.assertIn("metrics", [port["name"] for port in container["ports"]])
        self.assertEqual(container["livenessProbe"]["httpGet"], {"path": "/metrics", "port": "metrics"})
        [workers] = [each["spec"]["template"] for (kind, name), each in found.items() if kind == "Job" and name.endswith("-workers")]
        [port] = workers["spec"]["containers"][0]["ports"]
        self.assertEqual((port["name"], workers["metadata"]["annotations"]["prometheus.io/port"]), ("metrics", str(port["containerPort"])))
        self.assertIn(f"0.0.0.0:{port['containerPort']}", workers["spec"]["containers"][0]["command"])

    def test_names_that_kubernetes_does_not_take_are_refused(self):
        job, _ = self.launched()
        for words in (["--claim", "A_b"], ["--claim", "-a"], ["--claim", "a" * 254], ["--image", "a b"]):
            self.assert_refused(Running(["launch", "k8s", "job.toml", *words], job.folder).wait(), 2, words[0])
        self.assert_refused(Running(["launch", "k8s", "job.toml", "--set", "cluster.head=tcp://h:1"], job.folder).wait(), 2, "cluster.head")

    def test_names_labels_ports_and_keys_of_the_manifests_agree(self):
        job, folder = self.launched("--workers", "5", "--set", "order.seed=9")
        found = self.checked(folder, VERSIONS[-1])
        [name] = [name for kind, name in found if kind == "Service"]
        trainer, workers = found["Job", name], found["Job", name + "-workers"]
        self.assertEqual(found["ConfigMap", name]["data"]["job.toml"], (job.folder / "job.toml").read_text())
        head, worker = (found["Secret", f"{name}-{part}-keys"]["data"] for part in ("head", "worker"))
        for entry, data in head.items():
            self.assertEqual(base64.b64decode(data), (job.folder / "keys" / entry.replace("__", "/")).read_bytes())
        self.assertEqual(sorted(worker), ["client.key", "client.key_secret", "server.key"])
        labels = trainer["spec"]["template"]["metadata"]["labels"]
        self.assertLessEqual(found["Service", name]["spec"]["selector"].items(), labels.items())
        self.assertEqual(workers["spec"]["parallelism"], 5)
        pod = workers["spec"]["template"]["spec"]
        self.assertIn(f"tcp://{name}:29400", pod["containers"][0]["command"])
        self.assertNotIn("tolerations", trainer["spec"]["template"]["spec"])
        self.assertTrue(pod["tolerations"])
        for each in (trainer, workers):
            resources = each["spec"]["template"]["spec"]["containers"][0]["resources"]
            self.assertEqual(resources["requests"]["memory"], resources["limits"]["memory"])
        self.assertIn("order.seed=9", trainer["spec"]["template"]["spec"]["containers"][0]["command"])

    def test_only_one_file_holds_keys_and_only_its_owner_can_read_it(self):
        job, folder = self.launched()
        secret = base64.b64encode((job.folder / "keys/server.key_secret").read_bytes()).decode()
        for path in folder.iterdir():
            self.assertEqual(secret in path.read_text(), path.name == "secret.yaml", path)
        self.assertEqual((folder / "secret.yaml").stat().st_mode & 0o777, 0o600)
        shutil.rmtree(job.folder / "keys")
        self.assert_refused(Running(["launch", "k8s", "job.toml"], job.folder).wait(), 2, "cluster.keys")

    @unittest.skipIf(shutil.which("kubectl") is None, "kubectl is not installed")
    def test_kustomize_builds_the_manifests(self):
        _, folder = self.launched()
        built = subprocess.run(["kubectl", "kustomize", folder], capture_output=True, text=True, timeout=60)
        self.assertEqual(built.returncode, 0, built.stderr)
        self.assertEqual(built.stdout.count("\nkind: "), 6)


if __name__ == "__main__":
    main()
