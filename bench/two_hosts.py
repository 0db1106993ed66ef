"""Two hosts that are namespaces of this machine (tools/hosts/hosts.py), and a standalone Spark on them."""

import contextlib
import os
import subprocess
import sys
import time

import run

HOSTS = run.REPOSITORY / "tools" / "hosts" / "hosts.py"
VARIABLE = "SPARKGAP_HOSTS"
SPARK = run.REPOSITORY / "launcher" / "spark-home" / "target" / "spark"
ADDRESSES = ("10.77.0.1", "10.77.0.2")
PATIENCE_SECONDS = 60
# Of whoever has imported this, before it goes to another folder.
PROGRAM = os.path.abspath(sys.argv[0])


def are_here():
    return VARIABLE in os.environ


def make():
    """Makes the hosts and starts this program again where they are, in place of this process: whatever ends it ends them."""
    if not are_here():
        os.execv(sys.executable, [sys.executable, str(HOSTS), "--hosts", "2", "run", sys.executable, PROGRAM,
                                  *sys.argv[1:]])


def on(host):
    """The words that bring a command to a host."""
    return [str(HOSTS), "exec", str(host)]


@contextlib.contextmanager
def spark(folder, memory):
    """A master on the first host and a worker of one core on each. Gives its URL and what its clients need in their
    environment; `folder` takes logs and what the workers keep."""
    processes = []
    url = f"spark://{ADDRESSES[0]}:7077"
    try:
        start(processes, folder, 0, "Master", "--port", "7077")
        await_log(folder / "Master-0", "I have been elected leader")
        for host in range(2):
            start(processes, folder, host, "Worker", "--cores", "1", "--memory", memory, "--work-dir", str(folder / f"work-{host}"),
                  url)
        for host in range(2):
            await_log(folder / f"Worker-{host}", "Successfully registered with master")
        yield url, environment(0)
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            process.wait(PATIENCE_SECONDS)


def environment(host):
    return dict(os.environ, SPARK_HOME=str(SPARK), SPARK_SCALA_VERSION=run.property_of_pom("scala.binary.version"),
                SPARK_LOCAL_IP=ADDRESSES[host])


def start(processes, folder, host, what, *arguments):
    command = on(host) + ["java", "-Xmx256m", "-XX:+UseSerialGC", f"-Dlog4j2.configurationFile={run.REPOSITORY}/conf/log4j2.properties",
                          "-cp", f"{SPARK}/jars/*", f"org.apache.spark.deploy.{what.lower()}.{what}", "--host",
                          ADDRESSES[host], *arguments]
    with (folder / f"{what}-{host}").open("w") as log:
        processes.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment(host)))


def await_log(log, text):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while text not in log.read_text():
        if time.monotonic() > deadline:
            sys.exit(f"{log.name} did not come up:\n{log.read_text()}")
        time.sleep(0.1)
