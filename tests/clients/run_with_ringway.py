#!/usr/bin/env python3
"""Runs a client's test against a fresh ringway over three redis-servers.

    run_with_ringway.py RINGWAY COMMAND [ARGUMENT ...]

COMMAND finds the address in RINGWAY_HOST and RINGWAY_PORT; its exit code is this program's. With
RINGWAY_TEST_TARGET=direct it talks to one plain redis-server instead, which proves the test itself.
"""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

PATIENCE_SECONDS = 15
COMMAND_SECONDS = 100
PR_SET_PDEATHSIG = 1


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def reserve_port():
    """A bound socket that never listens keeps the port for a server that sets SO_REUSEADDR."""
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    return holder


def wait_for(condition, what):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    sys.exit(f"{what} within {PATIENCE_SECONDS} seconds")


def answers_ping(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(64).startswith(b"+PONG")
    except OSError:
        return False


def start_redis(directory, holder):
    port = holder.getsockname()[1]
    log = open(os.path.join(directory, f"redis-{port}.log"), "wb")
    process = subprocess.Popen(
        ["redis-server", "--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no", "--dir", directory],
        stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=die_with_parent)
    return process, port


def start_ringway(binary, directory, ports):
    path = os.path.join(directory, "ringway.log")
    log = open(path, "wb")
    command = [binary, "--listen", "127.0.0.1:0", "--threads", "2"]
    for number, port in enumerate(ports, start=1):
        command += ["--shard", f"s{number}=127.0.0.1:{port}"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=die_with_parent)

    def address():
        if process.poll() is not None:
            sys.exit("ringway ended:\n" + open(path).read())
        for line in open(path):
            if "ready: listening on " in line and line.endswith("\n"):
                return line.strip().rsplit(" ", 1)[1]
        return None

    return process, int(wait_for(address, "ringway was not ready").rsplit(":", 1)[1])


def main():
    binary, command = sys.argv[1], sys.argv[2:]
    direct = os.environ.get("RINGWAY_TEST_TARGET") == "direct"
    processes = []
    code = 1
    with tempfile.TemporaryDirectory(prefix="ringway-client-") as directory:
        try:
            holders = [reserve_port() for _ in range(1 if direct else 3)]
            started = [start_redis(directory, holder) for holder in holders]
            processes += [process for process, _ in started]
            ports = [port for _, port in started]
            for port in ports:
                wait_for(lambda: answers_ping(port), "redis-server was not ready")
            port = ports[0]
            if not direct:
                ringway, port = start_ringway(binary, directory, ports)
                processes.append(ringway)
            environment = dict(os.environ, RINGWAY_HOST="127.0.0.1", RINGWAY_PORT=str(port))
            code = subprocess.run(command, env=environment, timeout=COMMAND_SECONDS, check=False).returncode
            if not direct and ringway.poll() is not None:
                print("ringway ended during the test:\n" + open(os.path.join(directory, "ringway.log")).read())
                code = 1
        finally:
            for process in reversed(processes):
                process.terminate()
            for process in processes:
                try:
                    process.wait(timeout=PATIENCE_SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
    sys.exit(code)


if __name__ == "__main__":
    main()
