#!/usr/bin/python3
"""A kazoo client that plays a part in the fleet tests.

usage: kazoo_peer.py MODE SERVERS PATH LIMIT [STYLE]
MODE   mutex, read, write
LIMIT  seconds to wait for the lock, or "-" for ever
STYLE  "extra": with the extra pattern that counts contenders of Curator, go-zookeeper and zklock; default plain kazoo
Prints "held" or "out"; holds until its input ends, then prints "released".
"""
import logging
import sys

from kazoo.client import KazooClient
from kazoo.exceptions import LockTimeout

CONNECT_S = 60
SESSION_S = 4


def make_lock(client, mode, path, style):
    extra = ["lock-"] if style == "extra" else []
    if mode == "read":
        return client.ReadLock(path, "kazoo", extra_lock_patterns=extra)
    if mode == "write":
        return client.WriteLock(path, "kazoo", extra_lock_patterns=extra)
    return client.Lock(path, "kazoo", extra_lock_patterns=extra)


def main():
    mode, servers, path, limit = sys.argv[1:5]
    style = sys.argv[5] if len(sys.argv) > 5 else "plain"
    logging.disable(logging.CRITICAL)
    client = KazooClient(servers, timeout=SESSION_S)
    client.start(CONNECT_S)
    lock = make_lock(client, mode, path, style)
    try:
        is_held = lock.acquire(timeout=None if limit == "-" else float(limit))
    except LockTimeout:
        is_held = False
    print("held" if is_held else "out", flush=True)
    if is_held:
        sys.stdin.read()
        lock.release()
        print("released", flush=True)
    client.stop()
    client.close()


main()
