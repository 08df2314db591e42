"""Counts instead of times: instructions for a request (callgrind) and system calls for a request
(strace). Both slow the proxy down much, so they say nothing about time."""
import os
import re
import shutil
import signal
import subprocess

from processes import Failure

CALLGRIND_WARM = 2000  # requests of the run that is subtracted


def callgrind_total(stack, target, scenario, requests):
    """Instructions from start to end of a process that served `requests`."""
    log = os.path.join(stack.directory, f"callgrind.{target.name}.log")
    target.wrapper = ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", f"--log-file={log}")
    try:
        stack.start_target(target)
        stack.load(scenario, target, ["--requests", str(requests), "--stall", "60"])
        stack.processes.stop(target.child, 60)
    finally:
        target.wrapper = ()
    with open(log, encoding="utf-8", errors="replace") as f:
        found = re.search(r"Collected\s*:\s*(\d+)", f.read())
    if not found:
        raise Failure(f"callgrind of {target.name} left no total (was it killed?)")
    return int(found[1])


def instructions(stack, target, scenario, requests):
    """User instructions for one request. Two runs of different length are subtracted, which removes
    start, connections and end."""
    if not shutil.which("valgrind"):
        raise Failure("valgrind is not installed")
    less = callgrind_total(stack, target, scenario, CALLGRIND_WARM)
    more = callgrind_total(stack, target, scenario, CALLGRIND_WARM + requests)
    return {"instructions": (more - less) / requests}


def parse_strace(text):
    """{system call: calls} of the table that strace -c prints."""
    calls = {}
    for line in text.splitlines():
        fields = line.split()
        if len(fields) >= 5 and re.fullmatch(r"[\d.]+", fields[0]) and fields[3].isdigit() and fields[-1] != "total":
            calls[fields[-1]] = int(fields[3])
    return calls


def system_calls(stack, target, scenario, requests):
    """System calls for one request, those of connecting (a few for each client) included."""
    if not shutil.which("strace"):
        raise Failure("strace is not installed")
    path = os.path.join(stack.directory, f"strace.{target.name}.log")
    tracer = stack.processes.start(["strace", "-f", "-c", "-o", path, "-p", str(target.child.pid)], stack.load_core,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    attached = tracer.stderr.readline()  # "strace: Process N attached", or why not
    if "attached" not in attached:
        raise Failure(f"strace: {attached.strip()}")
    sample = stack.load(scenario, target, ["--requests", str(requests), "--stall", "60"])
    tracer.send_signal(signal.SIGINT)  # detaches and writes the table
    tracer.wait(20)
    stack.processes.stop(tracer)
    with open(path, encoding="utf-8", errors="replace") as f:
        calls = parse_strace(f.read())
    row = {"all": sum(calls.values()) / sample["requests"]}
    for name, count in sorted(calls.items(), key=lambda item: -item[1]):
        if count / sample["requests"] >= 0.005:
            row[name] = count / sample["requests"]
    return row
