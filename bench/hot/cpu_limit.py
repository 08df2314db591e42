"""Holds processes to a share of a core, by a control group of each."""
import os
import subprocess

from processes import Failure

PERIOD_USEC = 40_000
V1 = "/sys/fs/cgroup/cpu"
V2 = "/sys/fs/cgroup"


class CpuLimits:
    """Makes groups and removes them at the end. Needs root."""

    def __init__(self):
        self.groups = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for group in self.groups:
            with open(os.path.join(group, "cgroup.procs"), encoding="utf-8") as f:
                members = f.read().split()
            for pid in members:
                self.write(os.path.dirname(group), "cgroup.procs", pid)
            os.rmdir(group)

    def limit(self, process, share):
        """At most `share` (0..1) of a core from now on."""
        first = os.path.exists(os.path.join(V1, "cpu.cfs_quota_us"))
        group = os.path.join(V1 if first else V2, f"ringway-bench-{process.pid}")
        try:
            os.mkdir(group)
            self.groups.append(group)
            quota = max(1000, int(share * PERIOD_USEC))
            if first:
                self.write(group, "cpu.cfs_period_us", PERIOD_USEC)
                self.write(group, "cpu.cfs_quota_us", quota)
            else:
                self.write(group, "cpu.max", f"{quota} {PERIOD_USEC}")
            self.write(group, "cgroup.procs", process.pid)
        except OSError as error:
            raise Failure(f"no control group for a share of a core: {error}") from error

    @staticmethod
    def write(group, name, value):
        with open(os.path.join(group, name), "w", encoding="utf-8") as f:
            f.write(f"{value}\n")


def machine():
    """One line on where this runs."""
    name = subprocess.run(["uname", "-rm"], capture_output=True, text=True, check=False).stdout.strip()
    return f"{len(os.sched_getaffinity(0))} cores, {name}"
