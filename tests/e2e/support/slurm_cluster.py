"""A Slurm of one node that a test owns: munge, controller and node daemon in a folder, on free ports."""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol", "squeue", "scancel", "munge")


def missing():
    """What a Slurm cluster would need and this machine has not; empty when it can run."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    absent = [name for name in PROGRAMS if shutil.which(name, path=path) is None]
    if absent:
        return "not installed: " + " ".join(absent) + " (Debian: slurm-wlm munge)"
    return "" if os.geteuid() == 0 else "slurmd runs as root alone"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class SlurmCluster:
    """Started by start(), ended by stop(), which kills what it started, by pid."""

    CPUS = 4

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.daemons = []
        self.host = socket.gethostname().split(".")[0]
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf"),
                            "PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin"}
        for name in [name for name in self.environment if name.startswith(("SLURM_", "SBATCH_")) and name != "SLURM_CONF"]:
            del self.environment[name]

    def start(self):
        for name in ("state", "spool", "munge"):
            (self.folder / name).mkdir(parents=True)
            (self.folder / name).chmod(0o700)
        self.folder.chmod(0o755)
        (self.folder / "slurm.conf").write_text(self._configuration())
        (self.folder / "cgroup.conf").write_text("CgroupAutomount=no\n")
        self._start_munge()
        self._daemon("slurmctld", "slurmctld", "-D", "-c", "-f", self.folder / "slurm.conf")
        self._daemon("slurmd", "slurmd", "-D", "-N", self.host, "-f", self.folder / "slurm.conf")
        self._wait(lambda: "idle" in self.run("sinfo", "--noheader", "--format=%T").stdout, "its node never became idle")

    def _configuration(self):
        return f"""
ClusterName=forebay-test
SlurmctldHost={self.host}(127.0.0.1)
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={self.folder}/munge/socket,cred_expire=5
CryptoType=crypto/munge
StateSaveLocation={self.folder}/state
SlurmdSpoolDir={self.folder}/spool
SlurmctldPidFile={self.folder}/slurmctld.pid
SlurmdPidFile={self.folder}/slurmd.pid
SlurmctldLogFile={self.folder}/slurmctld.log
SlurmdLogFile={self.folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,bf_interval=2,defer
PropagateResourceLimits=NONE
ReturnToService=2
KillWait=10
MailProg=/bin/true
SlurmdParameters=config_overrides
MinJobAge=300
SlurmctldTimeout=60
SlurmdTimeout=60
NodeName={self.host} NodeAddr=127.0.0.1 CPUs={self.CPUS} RealMemory=8000 State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""

    def _start_munge(self):
        munge = self.folder / "munge"
        (munge / "key").write_bytes(os.urandom(128))
        (munge / "key").chmod(0o400)
        self._daemon("munged", "munged", "--foreground", "--force", "--key-file", munge / "key", "--socket", munge / "socket",
                     "--pid-file", munge / "pid", "--log-file", munge / "log", "--seed-file", munge / "seed", "--num-threads", "2")
        self._wait(lambda: (munge / "socket").exists(), "munged never made its socket")

    def _daemon(self, name, program, *arguments):
        with open(self.folder / f"{name}.out", "wb") as out:
            self.daemons.append((name, subprocess.Popen(
                [shutil.which(program, path=self.environment["PATH"]), *map(str, arguments)], env=self.environment,
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)))

    def _wait(self, ready, complaint, seconds=60):
        end = time.monotonic() + seconds
        while not ready():
            dead = [name for name, process in self.daemons if process.poll() is not None]
            if dead or time.monotonic() > end:
                raise AssertionError(f"{complaint}; ended: {dead}\n{self.logs()}")
            time.sleep(0.1)

    def logs(self):
        files = sorted(self.folder.glob("*.log")) + sorted(self.folder.glob("*.out"))
        return "\n".join(f"== {path.name}\n{path.read_text(errors='replace')[-2500:]}" for path in files)

    def run(self, *words, timeout=60, **options):
        return subprocess.run([str(word) for word in words], env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=timeout, **options)

    def submit(self, *words):
        done = self.run("sbatch", "--parsable", *words)
        assert done.returncode == 0, done.stderr + self.logs()
        return done.stdout.strip().split(";")[0]

    def job(self, number):
        """A job's fields as scontrol shows them; empty when it is forgotten."""
        shown = self.run("scontrol", "--oneliner", "show", "job", number).stdout
        return dict(word.split("=", 1) for word in shown.split() if "=" in word)

    def state(self, number):
        return self.job(number).get("JobState", "")

    def stop(self):
        """Every process it started ends: jobs first, then the daemons, the last started first."""
        if self.daemons:
            self.run("scancel", "--quiet", "--user=root", "--signal=KILL", "--full")
            self.run("scancel", "--quiet", "--user=root")
            end = time.monotonic() + 20
            while self.run("squeue", "--noheader").stdout.strip() and time.monotonic() < end:
                time.sleep(0.2)
        for _, process in reversed(self.daemons):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.daemons = []
