#!/usr/bin/env python3
"""Runs Redis's own test suite, unchanged, against a plain redis-server and against Ringway, and compares.

    run_suite.py --redis-source DIR --ringway build/release/ringway [--files unit/expire ...]

Each file of the suite gets fresh servers. What passes on the plain server and not through Ringway is named; the exit
code is 1 if one of these is not in cannot-pass.txt. See README.md.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import suite_output
import suite_servers

HERE = os.path.dirname(os.path.abspath(__file__))
BINARIES = ("redis-server", "redis-cli", "redis-benchmark", "redis-check-aof", "redis-check-rdb")
# Seconds without a finished test after which the suite gives a file up; some tests of theirs take longer.
PATIENCE_SECONDS = 25
PATIENCE_OF_FILE = {"unit/hyperloglog": 120}
FILE_SECONDS = 400
# Runs of one file: each leaves out more tests that hung or broke their block.
MAX_RUNS = 9
MAX_RUNS_WITHOUT_GAIN = 3


@dataclasses.dataclass(frozen=True)
class Target:
    name: str
    shards: int
    proxied: bool
    cluster_mode: bool  # without the tests that the suite itself leaves out where keys are spread

    @property
    def plain(self):
        return "plain-cluster" if self.cluster_mode else "plain"


TARGETS = {
    "plain": Target("plain", 1, False, False),
    "one": Target("one", 1, True, False),
    "plain-cluster": Target("plain-cluster", 1, False, True),
    "three": Target("three", 3, True, True),
}


def check_version(source):
    """The suite tests what its version does; a server of another version fails it."""
    with open(os.path.join(source, "src/version.h"), encoding="utf-8") as header:
        wanted = re.search(r'REDIS_VERSION "([^"]+)"', header.read())[1]
    found = re.search(r"v=(\S+)", subprocess.run(["redis-server", "--version"], capture_output=True, text=True,
                                                 check=True).stdout)[1]
    if wanted != found:
        sys.exit(f"{source} is Redis {wanted}, the installed redis-server is {found}")


def list_files(source):
    listed = subprocess.run(["tclsh8.6", "tests/test_helper.tcl", "--list-tests"], cwd=source, capture_output=True,
                            text=True, check=True)
    return listed.stdout.split()


class Suite:
    """A copy of the suite to run in, for one thread: it writes into its own folder and wants Redis's programs there."""

    def __init__(self, source, directory, port_base):
        self.directory = directory
        self._port_base = port_base
        shutil.copytree(os.path.join(source, "tests"), os.path.join(directory, "tests"), symlinks=True)
        shutil.copytree(os.path.join(source, "utils"), os.path.join(directory, "utils"), symlinks=True)
        shutil.copy(os.path.join(source, "runtest"), directory)
        os.mkdir(os.path.join(directory, "src"))
        for binary in BINARIES:
            os.symlink(shutil.which(binary), os.path.join(directory, "src", binary))

    def run(self, file, port, target, tags, left_out):
        skips = os.path.join(self.directory, "skips")
        with open(skips, "w", encoding="utf-8") as out:
            out.write("".join(name + "\n" for name in left_out))
        command = ["./runtest", "--host", "127.0.0.1", "--port", str(port), "--single", file, "--durable", "--timeout",
                   str(PATIENCE_OF_FILE.get(file, PATIENCE_SECONDS)), "--baseport", str(self._port_base), "--portcount",
                   "900", "--skipfile", skips]
        command += ["--tags", tags] if tags else []
        command += ["--cluster-mode"] if target.cluster_mode else []
        # Into a file, not a pipe: a test client that hangs would hold the pipe open.
        with tempfile.TemporaryFile() as out:
            process = subprocess.Popen(command, cwd=self.directory, env=dict(os.environ, TERM="dumb"), stdout=out,
                                       stderr=out, stdin=subprocess.DEVNULL, start_new_session=True)
            try:
                process.wait(FILE_SECONDS)
            except subprocess.TimeoutExpired:
                pass
            finally:
                try:
                    os.killpg(process.pid, signal.SIGKILL)  # the session is the suite's own
                except ProcessLookupError:
                    pass
                process.wait()
            out.seek(0)
            return out.read().decode("utf-8", "replace")


class Runner:
    def __init__(self, arguments, cannot_pass):
        self._arguments = arguments
        self._cannot_pass = cannot_pass

    def _run_once(self, suite, file, target, left_out):
        with tempfile.TemporaryDirectory(prefix="ringway-compat-") as directory:
            ringway = os.path.abspath(self._arguments.ringway) if target.proxied else None
            try:
                servers = suite_servers.Servers(directory, target.shards, ringway, self._arguments.ringway_option)
            except suite_servers.NotStarted as error:
                sys.exit(str(error))
            try:
                text = suite.run(file, servers.port, target, self._arguments.tags, left_out)
            finally:
                servers.stop()
            output = suite_output.parse(text)
            if self._arguments.keep:
                name = f"{file.replace('/', '_')}.{target.name}.{len(left_out)}"
                with open(os.path.join(self._arguments.keep, name + ".txt"), "w", encoding="utf-8") as out:
                    out.write(text)
                if target.proxied:
                    shutil.copy(servers.proxy_log, os.path.join(self._arguments.keep, name + ".log"))
            return output, servers.ended

    def run(self, suite, file, target):
        """The best of some runs: as long as tests hang or break others, they are left out of the next."""
        left_out = [] if self._arguments.try_all else sorted(self._cannot_pass.get(target.name, {}))
        best, notes, without_gain = None, [], 0
        for _ in range(MAX_RUNS):
            output, ended = self._run_once(suite, file, target, left_out)
            if ended:
                notes.append(ended)
            if best is None or len(output.passed) > len(best.passed):
                best, without_gain = output, 0
            else:
                without_gain += 1
            guilty = [name for name in dict.fromkeys(output.guilty()) if name not in left_out and "\n" not in name]
            if output.clean or not guilty or without_gain >= MAX_RUNS_WITHOUT_GAIN:
                break
            notes += [f"left out after it hung or broke others: {name}" for name in guilty]
            left_out = left_out + guilty
        else:
            notes.append("gave up: too many tests hang or break others")
        if not best.clean:
            notes.append("not gone through to its end")
        return {"passed": best.passed, "failures": [dataclasses.asdict(f) for f in best.failures],
                "notes": list(dict.fromkeys(notes))}


def run_all(arguments, cannot_pass, files, names, results):
    runner = Runner(arguments, cannot_pass)
    work = [(file, name) for file in files for name in names if file not in results.setdefault(name, {})]
    with tempfile.TemporaryDirectory(prefix="ringway-compat-suite-") as directory:
        free = []
        for slot in range(arguments.jobs):
            slot_directory = os.path.join(directory, str(slot))
            os.mkdir(slot_directory)
            free.append(Suite(arguments.redis_source, slot_directory, arguments.baseport + 1000 * slot))

        def one(item):
            suite = free.pop()
            try:
                return item, runner.run(suite, item[0], TARGETS[item[1]])
            finally:
                free.append(suite)

        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as executor:
            for (file, name), result in executor.map(one, work):
                results[name][file] = result
                failed = sum(1 for failure in result["failures"] if failure["name"])
                print(f"{name:14} {file:34} {len(result['passed']):4} passed {failed:4} failed", flush=True)
                for note in result["notes"]:
                    print(f"{'':14} {note}", flush=True)


def print_table(files, names, results):
    print("\n" + f"{'file':34}" + "".join(f"{name:>20}" for name in names))
    totals = dict.fromkeys(names, (0, 0))
    for file in files:
        counts = {}
        for name in names:
            result = results[name][file]
            counts[name] = (len(result["passed"]), sum(1 for failure in result["failures"] if failure["name"]))
            totals[name] = tuple(map(sum, zip(totals[name], counts[name])))
        if any(sum(pair) for pair in counts.values()):
            print(f"{file:34}" + "".join(f"{counts[name][0]:>12}/{counts[name][1]:<7}" for name in names))
    print(f"{'total, passed/failed':34}" + "".join(f"{totals[name][0]:>12}/{totals[name][1]:<7}" for name in names))


def summary(message):
    """One line of what the suite says: it cuts ten characters off the first if that is no assertion, and repeats it."""
    lines = message.split("\n")
    return lines[min(1, len(lines) - 1)][:200]


def name_the_lost(files, names, results, cannot_pass):
    """Prints each test that Ringway loses; returns how many of them are not expected to be lost."""
    unexpected = 0
    for name in names:
        target = TARGETS[name]
        if not target.proxied or target.plain not in results:
            continue
        known = cannot_pass.get(name, {})
        print(f"\nlost by {name}:")
        for file in files:
            result = results[name][file]
            messages = {failure["name"]: summary(failure["message"]) for failure in result["failures"]}
            for test in suite_output.lost(results[target.plain][file]["passed"], result["passed"]):
                reason = known.get(test)
                unexpected += reason is None
                why = f"cannot pass: {reason}" if reason else "FAILED: " + messages.get(test, "did not run")
                print(f"  {file}: {test}\n      {why}")
            for test in result["passed"]:
                if test in known:
                    print(f"  {file}: {test}\n      PASSED although it is in the list of those that cannot")
    return unexpected


def arguments_of_command_line():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--redis-source", required=True, help="a checkout of Redis of the installed server's version")
    parser.add_argument("--ringway", default="build/release/ringway")
    parser.add_argument("--ringway-option", action="append", default=[], help="one more option for ringway; repeat it for more")
    parser.add_argument("--targets", nargs="+", choices=TARGETS, default=list(TARGETS))
    parser.add_argument("--files", nargs="+", help="of the suite, as unit/expire; all unless given")
    parser.add_argument("--tags", default="-slow", help="which tests, in the suite's own words")
    parser.add_argument("--jobs", type=int, default=1, help="files at the same time")
    parser.add_argument("--baseport", type=int, default=21111, help="where the suite looks for ports of its own")
    parser.add_argument("--try-all", action="store_true", help="run the tests that cannot pass as well")
    parser.add_argument("--results", help="a JSON file with results of earlier runs: plain ones are taken from it, all are put into it")
    parser.add_argument("--keep", help="a folder for what the suite and ringway print")
    return parser.parse_args()


def main():
    arguments = arguments_of_command_line()
    arguments.redis_source = os.path.abspath(arguments.redis_source)
    check_version(arguments.redis_source)
    with open(os.path.join(HERE, "cannot-pass.txt"), encoding="utf-8") as lines:
        cannot_pass = suite_output.read_cannot_pass(lines.read())
    if arguments.keep:
        os.makedirs(arguments.keep, exist_ok=True)
    known = list_files(arguments.redis_source)
    files = arguments.files or known
    if unknown := sorted(set(files) - set(known)):
        sys.exit("not files of the suite: " + " ".join(unknown))

    results = {}
    if arguments.results and os.path.exists(arguments.results):
        with open(arguments.results, encoding="utf-8") as earlier:
            results = {name: result for name, result in json.load(earlier).items() if not TARGETS[name].proxied}
    names = [name for name in TARGETS if name in arguments.targets]
    started = time.monotonic()
    run_all(arguments, cannot_pass, files, names, results)
    if arguments.results:
        with open(arguments.results, "w", encoding="utf-8") as out:
            json.dump(results, out, indent=1)
    print_table(files, names, results)
    compared = {name: result for name, result in results.items() if all(file in result for file in files)}
    unexpected = name_the_lost(files, names, compared, cannot_pass)
    print(f"\n{unexpected} tests lost that can pass, {time.monotonic() - started:.0f} seconds")
    sys.exit(1 if unexpected else 0)


if __name__ == "__main__":
    main()
