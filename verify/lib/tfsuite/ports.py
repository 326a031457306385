"""Free ports for servers of two processes."""

import socket


def free_ports(count):
    """Ports that were free a moment ago; all are taken at once, so that they differ."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("localhost", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports
