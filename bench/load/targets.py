"""The servers and proxies that are compared: how each is configured and started."""
import os
import re
import select
import shutil
import time

from processes import Failure, free_port, wait_for_port

REDIS = "redis-server"


def start_redis(processes, core, directory, log):
    """Returns (process, port). hz 1: an idle server must not take time from its core's neighbours.
    No protected mode: it lets 127.0.0.1 in but not the other loopback addresses that `connect` calls from."""
    for attempt in range(5):
        port = free_port()
        child = processes.start([REDIS, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--hz", "1",
                                 "--tcp-backlog", "4096", "--protected-mode", "no", "--dir", directory], core, stdout=log, stderr=log)
        try:
            wait_for_port(port, child)
            return child, port
        except Failure:
            processes.stop(child)
            if attempt == 4:
                raise


class Target:
    """One competitor. `start` leaves `child` (the process measured) and `port`."""
    name = ""
    wrapper = ()  # put before the command line, e.g. valgrind

    def __init__(self, binary):
        self.binary, self.child, self.port = binary, None, None

    def start(self, processes, core, shards, directory, log):
        self.port = free_port()
        argv = list(self.wrapper) + self.command(shards, directory)
        self.child = processes.start(argv, core, stdout=log, stderr=log, cwd=directory)
        wait_for_port(self.port, self.child, 60)

    def command(self, shards, directory):
        raise NotImplementedError

    def write(self, directory, name, text):
        path = os.path.join(directory, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path


class Direct(Target):
    """A Redis in the proxy's place, on the proxy's core: what a request costs without a proxy."""
    name = "direct"

    def start(self, processes, core, shards, directory, log):
        self.child, self.port = start_redis(processes, core, directory, log)


class Haproxy(Target):
    """Passes bytes to one server and parses nothing: the floor of a proxy that pairs connections."""
    name = "haproxy"

    def command(self, shards, directory):
        config = f"""global
  nbthread 1
  maxconn 4000
defaults
  mode tcp
  timeout connect 5s
  timeout client 1m
  timeout server 1m
frontend clients
  bind 127.0.0.1:{self.port} backlog 4096
  default_backend shard
backend shard
  server a 127.0.0.1:{shards[0]}
"""
        return [self.binary, "-db", "-f", self.write(directory, "haproxy.cfg", config)]


class Nutcracker(Target):
    """twemproxy as Debian has it, one connection to each server, its default hash and ring."""
    name = "nutcracker"

    def command(self, shards, directory):
        servers = "".join(f"    - 127.0.0.1:{port}:1 s{i}\n" for i, port in enumerate(shards))
        config = (f"bench:\n  listen: 127.0.0.1:{self.port}\n  hash: fnv1a_64\n  distribution: ketama\n"
                  f"  redis: true\n  preconnect: true\n  backlog: 4096\n  servers:\n{servers}")
        return [self.binary, "-c", self.write(directory, "nutcracker.yml", config), "-a", "127.0.0.1",
                "-s", str(free_port()), "-o", os.path.join(directory, "nutcracker.log")]


class Predixy(Target):
    """One worker thread; a standalone pool of the same servers."""
    name = "predixy"

    def command(self, shards, directory):
        groups = "".join(f"  Group g{i} {{\n    + 127.0.0.1:{port}\n  }}\n" for i, port in enumerate(shards))
        config = (f"Name bench\nBind 127.0.0.1:{self.port}\nWorkerThreads 1\nClientTimeout 300\n"
                  f"Log {directory}/predixy.log\nAuthority {{\n  Auth {{\n    Mode admin\n  }}\n}}\n"
                  "StandaloneServerPool {\n  Databases 1\n  Hash crc16\n  HashTag \"{}\"\n  Distribution modula\n"
                  "  MasterReadPriority 60\n  RefreshMethod fixed\n  ServerTimeout 0\n  ServerFailureLimit 10\n"
                  f"  ServerRetryTimeout 1\n{groups}}}\n")
        return [self.binary, self.write(directory, "predixy.conf", config)]


class Ringway(Target):
    name = "ringway"

    def __init__(self, binary, extra=()):
        super().__init__(binary)
        self.extra = list(extra)

    def start(self, processes, core, shards, directory, log):
        argv = list(self.wrapper) + [self.binary, "--listen", "127.0.0.1:0", "--threads", "1"]
        for i, port in enumerate(shards):
            argv += ["--shard", f"{chr(ord('a') + i)}=127.0.0.1:{port}"]
        path = os.path.join(directory, "ringway.out")
        with open(path, "wb") as out:
            self.child = processes.start(argv + self.extra, core, stdout=out, stderr=log, cwd=directory)
        self.port = self.read_port(path, 60)

    def read_port(self, path, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with open(path, encoding="utf-8", errors="replace") as f:
                found = re.search(r"^ready: listening on \S*:(\d+)$", f.read(), re.M)
            if found:
                return int(found[1])
            if self.child.poll() is not None:
                raise Failure(f"ringway ended with status {self.child.returncode}")
            select.select([], [], [], 0.02)
        raise Failure("ringway printed no line 'ready: listening on HOST:PORT'")


def chosen_targets(args):
    """The targets that can run here, in the order in which they run, and why others cannot."""
    candidates = [Direct(REDIS), Haproxy("haproxy"), Nutcracker("nutcracker")]
    if args.predixy:
        candidates.append(Predixy(args.predixy))
    candidates.append(Ringway(args.ringway, args.ringway_flag))
    wanted = set(args.targets.split(",")) if args.targets else None
    chosen, missing = [], []
    for target in candidates:
        if wanted is not None and target.name not in wanted:
            continue
        path = shutil.which(target.binary, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        if path is None:
            missing.append(f"{target.name} left out: no program {target.binary}")
            continue
        target.binary = os.path.abspath(path)
        chosen.append(target)
    return chosen, missing
