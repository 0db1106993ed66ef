#!/usr/bin/env python3
"""Several hosts on one machine, for tests and measurements of worlds that span hosts.

    hosts.py [--hosts N] run COMMAND...       N hosts (2) for as long as COMMAND runs; exits as it does
    hosts.py exec HOST COMMAND...             within run: COMMAND on host 0, 1, ...
    hosts.py link HOST up|down                within run: takes the host's network away, or gives it back
    hosts.py mtu HOST BYTES
    hosts.py kill HOST                        ends every process of the host at once, and its network with them
    hosts.py crash HOST                       ends every process of the host at once; the host is there again, with none

A host is a set of namespaces (network, UTS, mount, IPC, PID) with a host name (host0, host1, ...), a /dev/shm, a boot id and
an address of its own: 10.77.0.1, 10.77.0.2, ... Nothing outside of them is changed, nothing outside can be reached from
them, and nothing stays: they end with COMMAND, or with this program, however it ends. Two hosts are joined by a cable, more by
a switch. Needs root, or the right to make these namespaces.

COMMAND finds in SPARKGAP_HOSTS the process of each host whose namespaces can be entered, separated by spaces.
Exit code 77: this machine forbids namespaces, and says so.
"""

import argparse
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import uuid

import network

FORBIDDEN = 77
VARIABLE = "SPARKGAP_HOSTS"
NAMESPACES = ["--net", "--uts", "--mount", "--ipc", "--pid"]
PR_SET_PDEATHSIG = 1
IP_OF_HOST = "10.77.0.{}"
# Of each host; several of them must not take the machine's memory between them.
SHM = "2g"


def main():
    arguments = parse_arguments()
    if arguments.command == "hold":
        return hold(int(arguments.rest[0]), arguments.hosts)
    if arguments.command == "run":
        return run(arguments.hosts, arguments.rest)
    held = os.environ.get(VARIABLE, "").split()
    host = int(arguments.rest[0])
    if host >= len(held):
        sys.exit(f"There is no host {host}: {VARIABLE} is \"{os.environ.get(VARIABLE, '')}\". Is this within hosts.py run?")
    process = held[host]
    if arguments.command == "exec":
        os.execvp("nsenter", ["nsenter", "-t", process, "-n", "-u", "-m", "-i", "-p", "--", *arguments.rest[1:]])
    if arguments.command == "kill":
        os.kill(int(process), signal.SIGKILL)
        return 0
    if arguments.command == "crash":
        os.kill(int(process), signal.SIGUSR1)
        return 0
    with network.network_of(process):
        if arguments.command == "link":
            network.set_link("eth0", up={"up": True, "down": False}[arguments.rest[1]])
        else:
            network.set_link("eth0", mtu=int(arguments.rest[1]))
    return 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("command", choices=["run", "exec", "link", "mtu", "kill", "crash", "hold"])
    parser.add_argument("rest", nargs=argparse.REMAINDER)
    return parser.parse_args()


def run(number, command):
    # A signal ends the hosts, too: they die with this process.
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, lambda number, frame: sys.exit(128 + number))
    holders = []
    try:
        # The last one is the switch.
        for host in range(number + (number > 2)):
            holders.append(start_holder(host, number))
        processes = [inner_process(holder) for holder in holders]
        connect(processes, number)
        environment = dict(os.environ, **{VARIABLE: " ".join(processes[:number])})
        return subprocess.run(command, env=environment, preexec_fn=die_with_parent).returncode
    finally:
        for holder in holders:
            holder.kill()
            holder.wait()


def start_holder(host, number):
    command = ["unshare", *NAMESPACES, "--fork", "--kill-child", "--propagation", "private", sys.executable,
               os.path.abspath(__file__), "--hosts", str(number), "hold", str(host)]
    holder = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              preexec_fn=die_with_parent)
    if holder.stdout.readline().strip() != "ready":
        problem = holder.stderr.read().strip()
        print(f"This machine makes no hosts out of namespaces: {problem}", file=sys.stderr)
        sys.exit(FORBIDDEN)
    return holder


def inner_process(holder):
    """unshare's child is the first process of the namespaces; ours is what it has become."""
    with open(f"/proc/{holder.pid}/task/{holder.pid}/children", encoding="ascii") as children:
        return children.read().split()[0]


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def hold(host, number):
    """Becomes the first process of a host: sets it up and stays."""
    name = f"host{host}"
    sh("hostname", name)
    sh("mount", "-t", "tmpfs", "-o", f"size={SHM},mode=1777", "tmpfs", "/dev/shm")
    sh("mount", "-t", "proc", "proc", "/proc")
    files = {"/etc/hosts": "127.0.0.1 localhost\n" + "".join(f"{IP_OF_HOST.format(i + 1)} host{i}\n" for i in range(number)),
             "/etc/hostname": name + "\n",
             "/proc/sys/kernel/random/boot_id": str(uuid.uuid4()) + "\n"}
    # On a file system of this host's own, bound over those of the machine.
    sh("mount", "-t", "tmpfs", "tmpfs", "/mnt")
    for path, text in files.items():
        own = "/mnt/" + os.path.basename(path)
        with open(own, "w", encoding="ascii") as file:
            file.write(text)
        sh("mount", "--bind", own, path)
    network.set_link("lo", up=True)
    signal.signal(signal.SIGUSR1, crash)
    print("ready", flush=True)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        signal.pause()


def crash(*_):
    """To the first process of a host "all" are those of the host, and none outside."""
    if os.getpid() == 1:
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)


def connect(processes, number):
    numbers = [int(process) for process in processes]
    if number == 2:
        network.join((numbers[0], "eth0"), (numbers[1], "eth0"))
    elif number > 2:
        switch = numbers[number]
        with network.network_of(switch):
            network.add_switch("switch")
            network.set_link("switch", up=True)
        for host in range(number):
            network.join((numbers[host], "eth0"), (switch, f"port{host}"))
            with network.network_of(switch):
                network.set_link(f"port{host}", up=True, switch="switch")
    for host in range(number if number > 1 else 0):
        with network.network_of(numbers[host]):
            network.add_address("eth0", IP_OF_HOST.format(host + 1), 24)
            network.set_link("eth0", up=True)
    # NCCL takes no interface that is up and does not run yet.
    for host in range(number if number > 1 else 0):
        with network.network_of(numbers[host]):
            network.await_running("eth0")


def sh(*command):
    subprocess.run(command, check=True)


if __name__ == "__main__":
    sys.exit(main())
