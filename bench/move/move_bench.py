#!/usr/bin/env python3
"""What a move of keys costs: how long commands are held, what clients feel, and how fast keys go.

Starts redis-servers and ringway on this machine and drives them with loadgen. Prints a line for each figure and,
with --json, one object. Ends with status 1 when a move fails or a client is answered wrongly.
"""
import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "load"))
from processes import Failure, Processes, free_port, wait_for_port  # noqa: E402

SHARDS = 3
VALUE_BYTES = 32
HOLD_KEYS = 2000
SETTLE_SECONDS = 600


class Client:
    """As much of RESP2 as is needed here."""

    def __init__(self, port):
        self.stream = socket.create_connection(("127.0.0.1", port), 60).makefile("rwb")

    def do(self, *words):
        parts = [str(word).encode() for word in words]
        self.stream.write(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts))
        self.stream.flush()
        return self.read()

    def read(self):
        line = self.stream.readline()
        if not line.endswith(b"\r\n"):
            raise Failure("the proxy closed the connection")
        kind, text = line[:1], line[1:-2].decode()
        if kind == b"-":
            raise Failure(text)
        if kind == b":":
            return int(text)
        if kind == b"$":
            return None if text == "-1" else self.stream.read(int(text) + 2)[:-2].decode()
        if kind == b"*":
            return [self.read() for _ in range(int(text))]
        return text


class Ring:
    """Shards, one server more, and a proxy over the shards."""

    def __init__(self, processes, binary, directory, log, migration):
        cores = sorted(os.sched_getaffinity(0))
        self.addresses = []
        for i in range(SHARDS + 1):
            port = free_port()
            argv = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", directory]
            wait_for_port(port, processes.start(argv, cores[i % len(cores)], stdout=log, stderr=log))
            self.addresses.append(f"127.0.0.1:{port}")
        self.port = free_port()
        path = os.path.join(directory, "ringway.yaml")
        with open(path, "w", encoding="utf-8") as f:
            f.write(f'listen: ["127.0.0.1:{self.port}"]\nthreads: 1\nmigration: {migration}\nshards:\n')
            for i in range(SHARDS):
                f.write(f'  - {{name: s{i + 1}, address: "{self.addresses[i]}"}}\n')
        wait_for_port(self.port, processes.start([binary, "--config", path], cores[-1], stdout=log, stderr=log))
        self.client = Client(self.port)

    def info(self):
        lines = self.client.do("INFO", "migration").splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def settle(self):
        end = time.monotonic() + SETTLE_SECONDS
        while self.client.do("RING", "WAIT", 1000) != 1:
            if time.monotonic() > end:
                raise Failure(f"the move does not settle: {self.info()}")
        return self.info()

    def change(self, *words):
        """Seconds from the answer to the end, and INFO migration then."""
        self.client.do("RING", "APPLY", *words)
        start = time.monotonic()
        info = self.settle()
        return time.monotonic() - start, info


def load_command(args, port, *words):
    return [args.loadgen, "--port", str(port), "--value-size", str(VALUE_BYTES), *map(str, words)]


def load(args, port, *words):
    done = subprocess.run(load_command(args, port, *words), capture_output=True, text=True, check=False)
    return judge(done.returncode, done.stdout, done.stderr)


def judge(status, output, errors):
    if status != 0:
        raise Failure(f"loadgen: {output} {errors}")
    result = json.loads(output)
    if result["errors"] or result["misses"]:
        raise Failure(f"clients got errors or misses: {output}")
    return result


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def hold_times(args, processes, directory, log):
    """Moves back and forth, each a hold, under load."""
    ring = Ring(processes, args.binary, directory, log, "{max_source_busy: 1}")
    load(args, ring.port, "--command", "fill", "--keys", HOLD_KEYS)
    words = ("--keys", HOLD_KEYS, "--clients", args.clients, "--seconds", 86400)
    background = processes.start(load_command(args, ring.port, *words), 0, stdout=subprocess.DEVNULL)
    holds = []
    for i in range(args.moves):
        _, info = ring.change("WEIGHT", "s1", 1 + (i + 1) % 2)
        holds.append(float(info["migration_hold_usec"]) / 1000)
    processes.stop(background)
    return {"moves": args.moves, "hold_ms_p50": percentile(holds, 0.5), "hold_ms_p99": percentile(holds, 0.99),
            "hold_ms_max": max(holds)}


def client_latency(args, processes, directory, log):
    """The p99 of clients before a move, and during its background part."""
    ring = Ring(processes, args.binary, directory, log, "{max_source_busy: 0.25}")
    load(args, ring.port, "--command", "fill", "--keys", args.keys, "--pipeline", 100)
    words = ("--keys", args.keys, "--clients", args.clients, "--seconds", args.seconds)
    before = load(args, ring.port, "--warmup", 1, *words)
    ring.client.do("RING", "ADD", "s4", ring.addresses[SHARDS])
    during = load(args, ring.port, *words)
    still_moving = ring.info()["migration_state"] == "moving"
    info = ring.settle()
    return {"p99_usec_before": before["p99_usec"], "p99_usec_during": during["p99_usec"],
            "p99_ratio": during["p99_usec"] / before["p99_usec"], "moved_to_the_end_of_measuring": still_moving,
            "keys_on_access": int(info["migration_keys_moved_on_access"])}


def speed(args, processes, directory, log):
    """Keys a second with the limits off and no clients."""
    ring = Ring(processes, args.binary, directory, log, "{max_source_busy: 1, keys_per_second: 0}")
    load(args, ring.port, "--command", "fill", "--keys", args.keys, "--pipeline", 100)
    seconds, info = ring.change("ADD", "s4", ring.addresses[SHARDS])
    moved = int(info["migration_keys_moved"])
    return {"keys_moved": moved, "seconds": seconds, "keys_per_second": moved / seconds}


MEASURES = {"hold": hold_times, "latency": client_latency, "speed": speed}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default="build/release/ringway")
    parser.add_argument("--loadgen", default="build/release/bench/load/loadgen")
    parser.add_argument("--only", choices=MEASURES)
    parser.add_argument("--moves", type=int, default=100)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    results = {}
    for name in [args.only] if args.only else MEASURES:
        with tempfile.TemporaryDirectory() as directory, Processes() as processes:
            with open(os.path.join(directory, "log"), "w", encoding="utf-8") as log:
                try:
                    results[name] = MEASURES[name](args, processes, directory, log)
                except (Failure, OSError) as failure:
                    sys.exit(f"{name}: {failure}")
        if not args.json:
            print(name + ": " + ", ".join(f"{key} {value:.2f}" if isinstance(value, float) else f"{key} {value}"
                                          for key, value in results[name].items()), flush=True)
    if args.json:
        print(json.dumps(results))


if __name__ == "__main__":
    main()
