"""Child processes that never outlive the comparison, and the ports they listen on."""
import ctypes
import os
import signal
import socket
import subprocess
import time

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)


class Failure(Exception):
    """Something could not be started or measured; the text says what."""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for_port(port, process, seconds=10):
    """Polls until `port` accepts; fails as soon as the process is gone."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process.poll() is not None:
            raise Failure(f"{process.args[0]} ended with status {process.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port), 0.5).close()
            return
        except OSError:
            time.sleep(0.02)
    raise Failure(f"{process.args[0]} does not accept on port {port}")


class Processes:
    """Starts children pinned to cores and stops them all at the end, also on an error or Ctrl-C. The
    kernel ends them should this process be killed."""

    def __init__(self):
        self.children = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for child in reversed(self.children[:]):
            self.stop(child)

    def start(self, argv, core, **options):
        parent = os.getpid()

        def prepare():
            os.sched_setaffinity(0, {core})
            LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:  # it died before prctl took effect
                os._exit(1)

        options.setdefault("stdin", subprocess.DEVNULL)
        try:
            # A session of its own: Ctrl-C reaches this process alone, which then stops them in order.
            child = subprocess.Popen(argv, preexec_fn=prepare, start_new_session=True, **options)
        except OSError as error:
            raise Failure(f"{argv[0]}: {error.strerror}") from error
        self.children.append(child)
        return child

    def stop(self, child, seconds=5):
        """SIGTERM, then SIGKILL. Returns the exit status."""
        if child.poll() is None:
            child.terminate()
            try:
                child.wait(seconds)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        for pipe in (child.stdout, child.stderr):
            if pipe:
                pipe.close()
        if child in self.children:
            self.children.remove(child)
        return child.returncode
