#!/usr/bin/env python3
"""A stranger: connects to every port of a range on which somebody listens, again and again until its standard input ends.

    knock.py ADDRESS FIRST LAST

At each open port it says nothing, says garbage, and asks as libfabric would, with a proof that proves nothing. In the end it
prints how many of its connections were taken.
"""

import os
import select
import socket
import sys

# A request of libfabric's tcp: version, type, length, and as many bytes of data.
REQUEST = bytes([3, 1, 0, 40, 1]).ljust(16, b"\0") + b"k" * 40
WORDS = (REQUEST, b"", os.urandom(5000))
# Connections that stay open meanwhile: a process has only so many.
KEPT = 100
PAUSE_SECONDS = 0.001


def main():
    address, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    kept, taken = [], 0
    while not select.select([sys.stdin], [], [], PAUSE_SECONDS)[0]:
        for port in range(first, last + 1):
            for word in WORDS:
                connection = knock(address, port, word)
                if connection is None:
                    break
                kept.append(connection)
                taken += 1
        for connection in kept[:-KEPT]:
            connection.close()
        del kept[:-KEPT]
    print(taken)


def knock(address, port, word):
    """The connection, or None if nobody listens."""
    try:
        connection = socket.create_connection((address, port), timeout=1)
        connection.sendall(word)
        return connection
    except OSError:
        return None


if __name__ == "__main__":
    main()
