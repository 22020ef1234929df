"""A Spark cluster on the loopback interface: a master and two workers, processes of their own, from the package `pyspark`."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

#: How long Java may take to start on a busy machine.
_PATIENCE = 90.0


def missing() -> str | None:
    """Why there can be no cluster; ``None`` if there can be one."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "there is no pyspark"
    return None if shutil.which("java") or os.environ.get("JAVA_HOME") else "there is no Java"


class Cluster:
    """A running cluster. Every worker has one core."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self.folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []
        self._logs = 0
        log = self._start("master.Master", "127.0.0.1", "--port", "0")
        self.address = self._wait_for(log, r"(spark://127\.0\.0\.1:\d+)")
        self.workers: list[subprocess.Popen[bytes]] = []
        for _ in range(workers):
            self.add_worker()

    def add_worker(self) -> subprocess.Popen[bytes]:
        """Another machine, so to say."""
        place = self.folder / f"work-{self._logs}"
        # Machines have addresses of their own: Spark repeats no task on the machine where it already runs.
        host, has = f"127.0.0.{self._logs + 1}", ["--cores", "1", "--memory", "2g"]
        log = self._start("worker.Worker", host, *has, "--work-dir", str(place), self.address)
        self._wait_for(log, "Successfully registered with master")
        self.workers.append(self._processes[-1])
        return self._processes[-1]

    def kill_worker(self) -> None:
        """The last machine goes down: the worker, and with it what it runs."""
        worker = self.workers.pop()
        children = _children(worker.pid)
        for process in [worker.pid, *children]:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        worker.wait()

    def stop(self) -> None:
        """Ends every process that was started here, and no other."""
        for process in reversed(self._processes):
            if process.poll() is None:
                process.terminate()
        for process in self._processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _start(self, program: str, host: str, *arguments: str) -> Path:
        import pyspark

        home = Path(pyspark.__file__).parent
        log = self.folder / f"log-{self._logs}"
        self._logs += 1
        environment = {
            **os.environ,
            "SPARK_HOME": str(home),
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_NO_DAEMONIZE": "1",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_LOCAL_DIRS": str(self.folder / "local"),
        }
        where = ["--host", host, "--webui-port", "0"]
        command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{program}", *where, *arguments]
        with log.open("wb") as out:
            started = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, env=environment)
        self._processes.append(started)
        return log

    def _wait_for(self, log: Path, pattern: str) -> str:
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until and self._processes[-1].poll() is None:
            found = re.search(pattern, log.read_text(errors="replace"))
            if found:
                return found[found.lastindex or 0]
            time.sleep(0.1)
        said = log.read_text(errors="replace")[-2000:]
        self.stop()
        raise RuntimeError(f"the cluster did not start: {said}")


#: The session that is there, and what was set for it.
_current: tuple[Any, dict[str, object]] | None = None


def session(cluster: Cluster, **settings: object) -> Any:
    """The session on a cluster with these settings; one with others ends."""
    global _current
    if _current is not None and _current[1] == settings:
        return _current[0]
    end_session()
    _current = (_session(cluster.address, cluster.folder, settings), settings)
    return _current[0]


def _session(address: str, folder: Path, settings: dict[str, object]) -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(address).appName("chrysalis").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    builder = builder.config("spark.executor.memory", "1g").config("spark.driver.memory", "1g")
    builder = builder.config("spark.executorEnv.PYTHONPATH", os.environ.get("PYTHONPATH", ""))
    builder = builder.config("spark.local.dir", str(folder / "driver")).config("spark.sql.shuffle.partitions", "4")
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "ERROR")
    builder = builder.config("spark.sql.warehouse.dir", str(folder / "warehouse"))
    for name, value in settings.items():
        builder = builder.config(f"spark.{name.replace('__', '.')}", str(value))
    return builder.getOrCreate()


def end_session() -> None:
    """Ends the session that is there, if there is one."""
    global _current
    if _current is not None:
        _current[0].stop()
    _current = None


def cpu_of(pid: int) -> float:
    """What the processes below one have used so far."""
    return sum(_cpu(child) for child in _children(pid))


def _children(pid: int) -> list[int]:
    """All processes below one."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
        if parent == pid:
            found.append(int(folder.name))
            found.extend(_children(int(folder.name)))
    return found


def _cpu(pid: int) -> float:
    """Seconds of a process and of its children that have ended."""
    try:
        fields = (Path("/proc") / str(pid) / "stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
