#!/usr/bin/python3
"""Runs Ringway, its peers and a plain Redis under the same load, in turn, and prints throughput, latency
and the CPU time of the proxy process for each request, with ratios to twemproxy. See docs/benchmarks.md.

  bench/load/compare.py --quick
  bench/load/compare.py --rounds 5 --predixy /path/to/predixy --json bench/results/2026-01-31.json
  bench/load/compare.py --callgrind 20000 --scenarios p16-c50
"""
import argparse
import fnmatch
import json
import os
import platform
import signal
import socket
import subprocess
import sys
import tempfile
import time

import probes
import report
from processes import Failure, Processes
from scenarios import all_scenarios
from targets import chosen_targets, start_redis

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARDS = 3


class Stack:
    """The servers behind the proxies, what they hold, and the load generator."""

    def __init__(self, args, processes, directory):
        self.args, self.processes, self.directory = args, processes, directory
        self.proxy_core, self.load_core = choose_cores(args)
        self.log = open(os.path.join(directory, "log"), "ab")
        self.shards, self.data = [], None

    def start(self, targets):
        os.sched_setaffinity(0, {self.load_core})
        self.shards = [start_redis(self.processes, self.load_core, self.directory, self.log)[1]
                       for _ in range(SHARDS)]
        for target in targets:
            self.start_target(target)

    def start_target(self, target):
        target.start(self.processes, self.proxy_core, self.shards, self.directory, self.log)

    def loadgen(self, port, flags):
        """Runs the load generator to its end and returns what it printed."""
        child = self.processes.start([self.args.loadgen, "--port", str(port)] + flags, self.load_core,
                                     stdout=subprocess.PIPE, stderr=self.log, cwd=self.directory, text=True)
        out = child.communicate()[0]
        self.processes.stop(child)
        if child.returncode != 0:
            raise Failure(f"loadgen ended with status {child.returncode}: {out.strip()}")
        return json.loads(out)

    def fill(self, scenario, extra_ports):
        """Gives every server every key, so that a GET hits wherever a proxy looks for it."""
        ports = self.shards + extra_ports
        if self.data == (scenario.data(), ports):
            return
        for port in ports:
            with socket.create_connection(("127.0.0.1", port)) as s:
                s.sendall(b"FLUSHALL\r\n")
                if s.recv(64) != b"+OK\r\n":
                    raise Failure("FLUSHALL failed")
            self.loadgen(port, ["--command", "fill", "--pipeline", "16", "--clients", "4",
                                "--value-size", str(scenario.value_size), "--keys", str(scenario.keys)])
        self.data = (scenario.data(), ports)

    def load(self, scenario, target, flags):
        sample = self.loadgen(target.port, scenario.flags() + flags)
        if target.child.poll() is not None:
            raise Failure(f"{target.name} ended with status {target.child.returncode}")
        return sample


def choose_cores(args):
    allowed = sorted(os.sched_getaffinity(0))
    proxy = allowed[-1] if args.proxy_core is None else args.proxy_core
    load = allowed[0] if args.load_core is None else args.load_core
    if proxy == load:
        raise Failure("the proxy needs a core of its own; this machine allows only one")
    return proxy, load


def measure(stack, target, scenario):
    flags = ["--warmup", str(stack.args.warmup), "--seconds", str(stack.args.seconds),
             "--watch-pid", str(target.child.pid)]
    return stack.load(scenario, target, flags)


def run_rounds(stack, targets, scenarios, samples):
    """A B C, A B C, ...: what is compared runs within seconds of each other."""
    direct = [t.port for t in targets if t.name == "direct"]
    for scenario in scenarios:
        stack.fill(scenario, direct)
        rows = samples[scenario.name] = {target.name: [] for target in targets}
        for number in range(stack.args.rounds):
            for target in targets:
                try:
                    sample = measure(stack, target, scenario)
                except Failure as failure:
                    sample = None
                    print(f"\n{scenario.name}: {target.name}: {failure}", file=sys.stderr)
                    if target.child.poll() is not None:
                        stack.start_target(target)
                rows[target.name].append(sample)
                progress(f"{scenario.name} round {number + 1}/{stack.args.rounds} {target.name}")
    progress("")


def run_probe(stack, targets, scenarios, probe, requests):
    counts = {}
    direct = [t.port for t in targets if t.name == "direct" and t.port]
    for scenario in scenarios:
        stack.fill(scenario, direct)
        counts[scenario.name] = {}
        for target in targets:
            progress(f"{scenario.name} {target.name}")
            try:
                counts[scenario.name][target.name] = probe(stack, target, scenario, requests)
            except Failure as failure:
                print(f"\n{scenario.name}: {target.name}: {failure}", file=sys.stderr)
                counts[scenario.name][target.name] = None
    progress("")
    return counts


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def choose_scenarios(args):
    chosen = [s for s in all_scenarios() if s.quick or not args.quick or args.scenarios]
    if args.scenarios:
        patterns = args.scenarios.split(",")
        chosen = [s for s in chosen if any(fnmatch.fnmatch(s.name, p) for p in patterns)]
    if not chosen:
        raise Failure("no such scenario; there are: " + " ".join(s.name for s in all_scenarios()))
    return chosen


def machine(stack):
    model = ""
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as f:
        for line in f:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return {"date": time.strftime("%Y-%m-%d %H:%M:%S"), "cpu": model, "kernel": platform.release(),
            "cores": os.cpu_count(), "proxy_core": stack.proxy_core, "load_core": stack.load_core,
            "load_average_before": os.getloadavg()[0]}


def parse_args():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--ringway", default=os.path.join(ROOT, "build/release/ringway"))
    p.add_argument("--ringway-flag", action="append", default=[], help="one more flag for ringway (--ringway-flag=--x)")
    p.add_argument("--predixy", help="its program; left out when absent")
    p.add_argument("--loadgen", default=os.path.join(ROOT, "build/release/bench/load/loadgen"))
    p.add_argument("--targets", help="only these: direct,haproxy,nutcracker,predixy,ringway")
    p.add_argument("--scenarios", help="only these: names or patterns, with commas (p1-*,mget*)")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--seconds", type=float, default=2, help="measured, for each target, scenario and round")
    p.add_argument("--warmup", type=float, default=0.3)
    p.add_argument("--quick", action="store_true", help="fewer scenarios, one round of half a second")
    p.add_argument("--proxy-core", type=int)
    p.add_argument("--load-core", type=int)
    p.add_argument("--json", help="file for every sample and the summary")
    p.add_argument("--callgrind", type=int, metavar="REQUESTS", help="count instructions instead")
    p.add_argument("--syscalls", type=int, metavar="REQUESTS", help="count system calls instead")
    args = p.parse_args()
    if args.quick:
        args.rounds, args.seconds, args.warmup = 1, 0.5, 0.2
    return args


def compare(args, processes, directory):
    args.loadgen = os.path.abspath(args.loadgen)
    if not os.access(args.loadgen, os.X_OK):
        raise Failure(f"no load generator at {args.loadgen}; build it or give --loadgen")
    scenarios = choose_scenarios(args)
    targets, missing = chosen_targets(args)
    for line in missing:
        print(line, file=sys.stderr)
    if not targets:
        raise Failure("nothing to run")
    stack = Stack(args, processes, directory)
    result = {"machine": machine(stack), "arguments": vars(args)}
    if args.callgrind:
        stack.start([])  # each count starts its target anew
        targets = [t for t in targets if t.name != "direct"]
        result["instructions"] = run_probe(stack, targets, scenarios, probes.instructions, args.callgrind)
        report.print_counts("instructions for each request, in user mode", result["instructions"])
    elif args.syscalls:
        stack.start(targets)
        result["system_calls"] = run_probe(stack, targets, scenarios, probes.system_calls, args.syscalls)
        report.print_counts("system calls for each request", result["system_calls"])
    else:
        stack.start(targets)
        samples = {}
        try:
            run_rounds(stack, targets, scenarios, samples)
        finally:  # Ctrl-C: what has been measured is shown all the same
            result["summary"] = report.summarise(samples)
            result["samples"] = samples
            if result["summary"]:
                report.print_table(result["summary"])
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump(result, f, indent=1)


def main():
    args = parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with tempfile.TemporaryDirectory(prefix="ringway-bench-") as directory, Processes() as processes:
            compare(args, processes, directory)
    except Failure as failure:
        print(f"compare.py: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
