#!/usr/bin/env python3
"""What the spreading of hot keys does to the load of shards and to throughput, with it and without it.

  one    four shards, 90 % of all reads are of one key; each redis-server has a share of a core
  zipf   ten shards, a million keys that come in the proportions of a Zipf distribution of exponent 1.2

Starts redis-servers and ringway on this machine and drives them with loadgen. "busiest / mean" compares what the
busiest shard was sent with the mean of all, from two seconds after the load began: by INFO ring's request_share
at the end of the first 1.6 seconds (of which it tells), and by the requests of the whole time. Ends with status 1
when something fails or a client is answered wrongly.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "load"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "move"))
from cpu_limit import CpuLimits, machine  # noqa: E402
from move_bench import Client, judge, load, load_command  # noqa: E402
from processes import Failure, Processes, free_port, wait_for_port  # noqa: E402

SETTLE_SECONDS = 2
SHARE_SECONDS = 1.7  # request_share is that of so long
FORGET_SECONDS = 6  # the proxy halves what it has counted twice a second: writing the keys is no part of the load


class Cluster:
    """Shards, each held to a share of a core if it is given, and a proxy over them."""

    def __init__(self, args, processes, limits, directory, log, shards, share, hot_keys):
        cores = sorted(os.sched_getaffinity(0))
        path = os.path.join(directory, "ringway.yaml")
        self.port = free_port()
        self.servers = []
        lines = [f'listen: ["127.0.0.1:{self.port}"]', f"threads: {args.threads}", f"hot_keys: {hot_keys}", "shards:"]
        for i in range(shards):
            port = free_port()
            argv = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", directory]
            server = processes.start(argv, cores[i % len(cores)], stdout=log, stderr=log)
            wait_for_port(port, server)
            self.servers.append(server)
            lines.append(f'  - {{name: s{i + 1}, address: "127.0.0.1:{port}"}}')
        with open(path, "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")
        proxy = processes.start([args.binary, "--config", path], cores[-1], stdout=log, stderr=log)
        # Two workers are to have both cores.
        os.sched_setaffinity(proxy.pid, cores)
        wait_for_port(self.port, proxy)
        self.client = Client(self.port)
        self.limits, self.share = limits, share

    def limit(self):
        for server in self.servers:
            if self.share:
                self.limits.limit(server, self.share)

    def shards(self):
        """A dict of its figures for each shard."""
        lines = self.client.do("INFO", "ring").splitlines()
        rows = [line.split(":", 1)[1] for line in lines if line.startswith("shard") and line[5].isdigit()]
        return [dict(field.split("=", 1) for field in row.split(",")) for row in rows]

    def hotkeys(self):
        lines = self.client.do("INFO", "hotkeys").splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)


def over_mean(values):
    return max(values) * len(values) / sum(values) if sum(values) else 0.0


def measure(args, cluster, words):
    """Runs the load, and looks at the shards two seconds after its begin, a little later, and at its end."""
    command = load_command(args, cluster.port, "--command", "get", "--warmup", SETTLE_SECONDS, "--seconds",
                           args.seconds, *words)
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        # loadgen prepares its requests first, so it is what shards are sent that says when it begins.
        begun = sum(int(shard["requests"]) for shard in cluster.shards()) + 100
        while sum(int(shard["requests"]) for shard in cluster.shards()) < begun:
            if child.poll() is not None:
                raise Failure(f"loadgen: {child.communicate()[1]}")
            time.sleep(0.02)
        time.sleep(SETTLE_SECONDS)
        early = cluster.shards()
        time.sleep(SHARE_SECONDS)
        shares = [float(shard["request_share"]) for shard in cluster.shards()]
        time.sleep(max(0, args.seconds * 0.8 - SHARE_SECONDS))
        late, hot = cluster.shards(), cluster.hotkeys()
        output, errors = child.communicate(timeout=args.seconds + 60)
    finally:
        if child.poll() is None:
            child.kill()
            child.communicate()
    result = judge(child.returncode, output, errors)
    sent = [int(after["requests"]) - int(before["requests"]) for before, after in zip(early, late)]
    return {"share_over_mean_after_2s": over_mean(shares),
            "requests_over_mean": over_mean(sent), "requests_per_second": result["requests"] / result["seconds"],
            "p99_usec": result["p99_usec"], "keys_spread": int(hot.get("hotkeys_spread", 0)),
            "bucket_reads": int(hot.get("hotkey_bucket_reads", 0)), "fills": int(hot.get("hotkey_fills", 0))}


def run(args, name, hot_keys):
    with tempfile.TemporaryDirectory() as directory, CpuLimits() as limits, Processes() as processes:
        with open(os.path.join(directory, "log"), "w", encoding="utf-8") as log:
            if name == "one":
                cluster = Cluster(args, processes, limits, directory, log, 4, args.server_share, hot_keys)
                keys, words = 1000, ("--hot", "0.9", "--clients", args.clients_of_one)
            else:
                cluster = Cluster(args, processes, limits, directory, log, 10, 0, hot_keys)
                keys, words = args.keys, ("--zipf", "1.2", "--clients", args.clients)
            load(args, cluster.port, "--command", "fill", "--keys", keys, "--pipeline", 100)
            time.sleep(FORGET_SECONDS)
            cluster.limit()
            return measure(args, cluster, ("--keys", keys, *words))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="build/release/ringway")
    parser.add_argument("--loadgen", default="build/release/bench/load/loadgen")
    parser.add_argument("--only", choices=("one", "zipf"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--clients", type=int, default=64, help="of zipf")
    parser.add_argument("--clients-of-one", type=int, default=1000,
                        help="many: those that wait for a server which is held must leave others to ask")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--keys", type=int, default=1_000_000, help="of zipf")
    parser.add_argument("--server-share", type=float, default=0.025,
                        help="of a core for each server of one; 0: no limit")
    parser.add_argument("--min-rate", type=int, default=50,
                        help="hot_keys.min_rate, below its default because a small machine serves few requests")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    settings = {"off": "{detect: false}", "on": f"{{detect: true, min_rate: {args.min_rate}}}"}
    results = {}
    if not args.json:
        print(f"{machine()}; min_rate {args.min_rate}; each server of 'one' has {args.server_share:g} of a core")
        print(f"{'':10}{'busiest / mean':>24}{'requests/s':>12}{'p99 ms':>9}{'spread':>8}{'bucket reads':>14}"
              f"{'fills':>8}")
    for name in [args.only] if args.only else ("one", "zipf"):
        for setting, hot_keys in settings.items():
            try:
                row = results[f"{name} {setting}"] = run(args, name, hot_keys)
            except (Failure, OSError) as failure:
                sys.exit(f"{name} {setting}: {failure}")
            if not args.json:
                print(f"{name + ' ' + setting:10}{row['share_over_mean_after_2s']:12.3f}"
                      f"{row['requests_over_mean']:12.3f}"
                      f"{row['requests_per_second']:12.0f}{row['p99_usec'] / 1000:9.1f}{row['keys_spread']:8}"
                      f"{row['bucket_reads']:14}{row['fills']:8}", flush=True)
    if args.json:
        print(json.dumps(results))


if __name__ == "__main__":
    main()
