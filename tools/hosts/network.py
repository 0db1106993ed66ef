"""Links between network namespaces, made by netlink: no program is needed for it, and a GPU host may have none."""

import contextlib
import ctypes
import fcntl
import os
import socket
import struct
import time

NLM_F_REQUEST, NLM_F_ACK, NLM_F_EXCL, NLM_F_CREATE = 0x1, 0x4, 0x200, 0x400
NLMSG_ERROR = 2
RTM_NEWLINK, RTM_NEWADDR = 16, 20
IFLA_IFNAME, IFLA_MTU, IFLA_MASTER, IFLA_LINKINFO, IFLA_NET_NS_PID = 3, 4, 10, 18, 19
IFLA_INFO_KIND, IFLA_INFO_DATA, VETH_INFO_PEER = 1, 2, 1
IFA_ADDRESS, IFA_LOCAL = 1, 2
IFF_UP, IFF_RUNNING = 0x1, 0x40
SIOCGIFFLAGS = 0x8913
CLONE_NEWNET = 0x40000000


@contextlib.contextmanager
def network_of(process):
    """Within it, this thread is in the network namespace of that process."""
    libc = ctypes.CDLL(None, use_errno=True)

    def enter(descriptor):
        if libc.setns(descriptor, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"cannot enter the network of process {process}")

    with open("/proc/self/ns/net", "rb") as own, open(f"/proc/{process}/ns/net", "rb") as theirs:
        enter(theirs.fileno())
        try:
            yield
        finally:
            enter(own.fileno())


def join(one, other):
    """A cable between (process, name) and (process, name): each is the namespace of an end, and what it is called there."""
    peer = attribute(VETH_INFO_PEER, link_message(0) + end_of_cable(*other))
    kind = attribute(IFLA_INFO_KIND, b"veth\0") + attribute(IFLA_INFO_DATA, peer)
    request(RTM_NEWLINK, link_message(0) + end_of_cable(*one) + attribute(IFLA_LINKINFO, kind), NLM_F_CREATE | NLM_F_EXCL)


def add_switch(name):
    kind = attribute(IFLA_INFO_KIND, b"bridge\0")
    request(RTM_NEWLINK, link_message(0) + named(name) + attribute(IFLA_LINKINFO, kind), NLM_F_CREATE | NLM_F_EXCL)


def set_link(name, up=None, mtu=None, switch=None):
    """Of the calling thread's namespace."""
    attributes = b""
    if mtu is not None:
        attributes += attribute(IFLA_MTU, struct.pack("=I", mtu))
    if switch is not None:
        attributes += attribute(IFLA_MASTER, struct.pack("=I", socket.if_nametoindex(switch)))
    flags, change = (0, 0) if up is None else (IFF_UP if up else 0, IFF_UP)
    request(RTM_NEWLINK, link_message(socket.if_nametoindex(name), flags, change) + attributes)


def await_running(name, seconds=10):
    """Until the interface says that it can carry something, which follows its being set up after a while."""
    end = time.monotonic() + seconds
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        while True:
            answer = fcntl.ioctl(any_socket, SIOCGIFFLAGS, struct.pack("=16sH14x", name.encode(), 0))
            if struct.unpack_from("=H", answer, 16)[0] & IFF_RUNNING:
                return
            if time.monotonic() > end:
                raise OSError(f"{name} is up and does not run after {seconds} s")
            time.sleep(0.005)


def add_address(name, address, bits):
    packed = socket.inet_aton(address)
    message = struct.pack("=BBBBI", socket.AF_INET, bits, 0, 0, socket.if_nametoindex(name))
    request(RTM_NEWADDR, message + attribute(IFA_LOCAL, packed) + attribute(IFA_ADDRESS, packed), NLM_F_CREATE | NLM_F_EXCL)


def link_message(index, flags=0, change=0):
    return struct.pack("=BxHiII", socket.AF_UNSPEC, 0, index, flags, change)


def end_of_cable(process, name):
    return named(name) + attribute(IFLA_NET_NS_PID, struct.pack("=I", process))


def named(name):
    return attribute(IFLA_IFNAME, name.encode() + b"\0")


def attribute(kind, value):
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def request(kind, body, flags=0):
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as kernel:
        kernel.settimeout(10)
        kernel.send(struct.pack("=IHHII", 16 + len(body), kind, NLM_F_REQUEST | NLM_F_ACK | flags, 1, 0) + body)
        answer = kernel.recv(65536)
    answered, = struct.unpack_from("=H", answer, 4)
    error, = struct.unpack_from("=i", answer, 16)
    if answered != NLMSG_ERROR or error != 0:
        raise OSError(-error, f"the kernel refused a change of the network: {os.strerror(-error)}")
