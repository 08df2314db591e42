"""Fresh servers for one run of one file of Redis's suite."""

import ctypes
import os
import signal
import socket
import subprocess
import time

PATIENCE_SECONDS = 15
PR_SET_PDEATHSIG = 1
# What the suite wants to be allowed.
REDIS_OPTIONS = ["--save", "", "--enable-protected-configs", "yes", "--enable-debug-command", "yes",
                 "--enable-module-command", "yes", "--loglevel", "warning"]


class NotStarted(Exception):
    pass


def _die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _reserve_port():
    """A bound socket that never listens keeps the port for a server that sets SO_REUSEADDR."""
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    return holder


def _answers_ping(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(64).startswith(b"+PONG")
    except OSError:
        return False


class Servers:
    """`shards` redis-servers, and Ringway before them unless `ringway` is None. `port` is where the suite goes."""

    def __init__(self, directory, shards, ringway, ringway_options):
        self.directory = directory
        self.ended = ""  # which server ended before it was stopped
        self.proxy_log = os.path.join(directory, "ringway.log")
        self._processes = []
        self._holders = []
        try:
            ports = [self._start_redis(number) for number in range(1, shards + 1)]
            for port in ports:
                self._wait(lambda port=port: _answers_ping(port), f"redis-server on port {port}")
            self.port = self._start_ringway(ringway, ringway_options, ports) if ringway else ports[0]
        except BaseException:
            self.stop()
            raise

    def _start(self, name, command, directory):
        with open(os.path.join(self.directory, name + ".log"), "wb") as log:
            process = subprocess.Popen(command, cwd=directory, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                       preexec_fn=_die_with_parent)
        self._processes.append((name, process))

    def _start_redis(self, number):
        holder = _reserve_port()
        self._holders.append(holder)
        port = holder.getsockname()[1]
        directory = os.path.join(self.directory, f"shard{number}")
        os.mkdir(directory)
        self._start(f"redis{number}", ["redis-server", "--bind", "127.0.0.1", "--port", str(port), "--dir", directory]
                    + REDIS_OPTIONS, directory)
        return port

    def _start_ringway(self, ringway, options, ports):
        command = [ringway, "--listen", "127.0.0.1:0"] + options
        for number, port in enumerate(ports, start=1):
            command += ["--shard", f"s{number}=127.0.0.1:{port}"]
        self._start("ringway", command, self.directory)

        def address():
            with open(self.proxy_log, encoding="utf-8", errors="replace") as log:
                for line in log:
                    if "ready: listening on " in line and line.endswith("\n"):
                        return line.strip().rsplit(":", 1)[1]
            return None

        return int(self._wait(address, "ringway"))

    def _wait(self, condition, what):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline and all(process.poll() is None for _, process in self._processes):
            if value := condition():
                return value
            time.sleep(0.01)
        raise NotStarted(f"{what} did not start, see {self.directory}")

    def stop(self):
        for name, process in self._processes:
            if process.poll() is not None:
                self.ended = f"{name} ended with {process.returncode}"
        for _, process in reversed(self._processes):
            process.terminate()
        for name, process in self._processes:
            try:
                process.wait(timeout=PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                self.ended = self.ended or f"{name} did not stop when it was told to"
        for holder in self._holders:
            holder.close()
        self._processes, self._holders = [], []
