"""Checks of the comparison itself. Usage: compare_test.py PATH-OF-LOADGEN"""
import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

import probes
import report

LOADGEN = None
HERE = os.path.dirname(os.path.abspath(__file__))

# Stands in for the proxy: says that it is ready as Ringway does, and is a Redis.
STAND_IN = """#!/bin/sh
port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
(until redis-cli -p $port ping >/dev/null 2>&1; do :; done; echo "ready: listening on 127.0.0.1:$port") &
exec redis-server --port $port --save "" --bind 127.0.0.1 >/dev/null
"""


def sample(cpu, requests=1000):
    return {"watched_cpu_seconds": cpu, "requests": requests, "rps": requests, "p50_usec": 1, "p99_usec": 2, "seconds": 1,
            "watched_voluntary_switches": 5, "watched_involuntary_switches": 5, "errors": 0, "disconnects": 0, "wrong": 0}


def processes_in(directory):
    """Living processes that work in `directory`."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/cwd").startswith(directory):
                found.append(pid)
        except OSError:
            pass
    return found


class ReportTest(unittest.TestCase):
    def test_ratio_is_taken_pair_by_pair(self):
        # The machine was four times slower in the second round; the ratio of medians would be 0.6.
        peer = [sample(0.010), sample(0.040), sample(0.010)]
        ours = [sample(0.005), sample(0.020), sample(0.006)]
        self.assertAlmostEqual(report.ratio(ours, peer, report.cpu_per_request), 0.5)

    def test_failed_round_takes_its_pair_with_it(self):
        peer = [sample(0.010), None, sample(0.010)]
        ours = [None, sample(0.020), sample(0.007)]
        self.assertAlmostEqual(report.ratio(ours, peer, report.cpu_per_request), 0.7)
        self.assertIsNone(report.ratio([None], peer, report.cpu_per_request))

    def test_cpu_is_for_each_request(self):
        summary = report.summarise({"s": {"nutcracker": [sample(0.5, 20000)]}})
        self.assertAlmostEqual(summary["s"]["nutcracker"]["cpu_usec_per_request"], 25)

    def test_total_and_headings_of_strace_are_no_calls(self):
        text = ("% time     seconds  usecs/call     calls    errors syscall\n"
                "------ ----------- ----------- --------- --------- ----------------\n"
                " 60.00    0.006000           1      1000           read\n"
                " 40.00    0.004000           1       500        12 epoll_wait\n"
                "------ ----------- ----------- --------- --------- ----------------\n"
                "100.00    0.010000           1      1500        12 total\n")
        self.assertEqual(probes.parse_strace(text), {"read": 1000, "epoll_wait": 500})


@unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "needs two cores")
class CompareTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.directory = os.path.realpath(self.temporary.name)
        self.proxy = os.path.join(self.directory, "stand-in")
        with open(self.proxy, "w", encoding="utf-8") as f:
            f.write(STAND_IN)
        os.chmod(self.proxy, stat.S_IRWXU)
        self.work = os.path.join(self.directory, "work")
        os.mkdir(self.work)

    def tearDown(self):
        self.temporary.cleanup()

    def start(self, *flags):
        argv = [os.path.join(HERE, "compare.py"), "--loadgen", LOADGEN, "--ringway", self.proxy, "--targets",
                "direct,ringway", *flags]
        return subprocess.Popen(argv, env=dict(os.environ, TMPDIR=self.work), stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    def poll(self, condition, what, seconds=30):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.02)

    def test_a_run_measures_and_leaves_nothing(self):
        out = os.path.join(self.directory, "out.json")
        child = self.start("--quick", "--scenarios", "p16-c50", "--json", out)
        text = child.communicate(timeout=60)[0]
        self.assertEqual(child.returncode, 0, text)
        with open(out, encoding="utf-8") as f:
            rows = json.load(f)["summary"]["p16-c50"]
        for name in ("direct", "ringway"):
            self.assertGreater(rows[name]["cpu_usec_per_request"], 0, text)
            self.assertEqual(rows[name]["faults"], 0, text)
        self.assertEqual(processes_in(self.work), [])
        self.assertEqual(os.listdir(self.work), [])

    def test_nothing_is_left_however_it_ends(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            child = self.start("--scenarios", "p1-c50", "--rounds", "50")
            self.poll(lambda: len(processes_in(self.work)) >= 5, "servers and stand-in did not start")
            child.send_signal(number)
            child.communicate(timeout=30)
            self.assertNotEqual(child.returncode, 0)
            self.poll(lambda: not processes_in(self.work), f"processes left after {number.name}")

    def test_a_proxy_that_does_not_start_is_a_failure(self):
        with open(self.proxy, "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\nexit 3\n")
        child = self.start("--quick")
        text = child.communicate(timeout=60)[0]
        self.assertEqual(child.returncode, 1)
        self.assertIn("ringway ended with status 3", text)
        self.assertEqual(processes_in(self.work), [])


if __name__ == "__main__":
    LOADGEN = sys.argv.pop(1)
    unittest.main()
