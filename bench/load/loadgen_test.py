"""Runs loadgen against a small server that answers truly, lies, drops connections or falls silent,
and checks that each is told from the others. Usage: loadgen_test.py PATH-OF-LOADGEN"""
import asyncio
import json
import subprocess
import sys
import threading
import unittest

LOADGEN = None


class Server:
    """A Redis of GET, SET, MGET, MSET and PING. `behave(index, reply)` may change the reply to
    request number index, return None to end the connection, or b"" to say nothing."""

    def __init__(self, behave):
        self.behave, self.values, self.count = behave, {}, 0
        self.loop = asyncio.new_event_loop()
        self.server = self.loop.run_until_complete(asyncio.start_server(self.serve, "127.0.0.1", 0))
        self.port = self.server.sockets[0].getsockname()[1]
        self.thread = threading.Thread(target=self.loop.run_forever)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.server.close()
        self.loop.run_until_complete(asyncio.sleep(0))
        self.loop.close()

    def bulk(self, key):
        value = self.values.get(key)
        return b"$-1\r\n" if value is None else b"$%d\r\n%s\r\n" % (len(value), value)

    def answer(self, parts):
        if parts[0] == b"PING":
            return b"+PONG\r\n"
        if parts[0] == b"GET":
            return self.bulk(parts[1])
        if parts[0] == b"MGET":
            return b"*%d\r\n" % (len(parts) - 1) + b"".join(map(self.bulk, parts[1:]))
        self.values.update(zip(parts[1::2], parts[2::2]))
        return b"+OK\r\n"

    async def serve(self, reader, writer):
        try:
            while True:
                parts = []
                for _ in range(int((await reader.readuntil(b"\r\n"))[1:])):
                    size = int((await reader.readuntil(b"\r\n"))[1:])
                    parts.append((await reader.readexactly(size + 2))[:-2])
                self.count += 1
                reply = self.behave(self.count, self.answer(parts))
                if reply is None:
                    break
                writer.write(reply)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        writer.close()


def run(behave, *flags):
    with Server(behave) as server:
        argv = [LOADGEN, "--port", str(server.port), "--clients", "5", "--keys", "50", "--ratio", "1:1", *flags]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    return done.returncode, json.loads(done.stdout), server


def honest(_, reply):
    return reply


class LoadgenTest(unittest.TestCase):
    def test_honest_server_is_not_accused(self):
        for command in ("getset", "mget:7", "mset:7", "ping", "connect"):
            status, out, _ = run(honest, "--verify", "--pipeline", "8", "--requests", "800", "--command", command)
            self.assertEqual((status, out["requests"], out["wrong"], out["disconnects"]), (0, 800, 0, 0), out)

    def test_swapped_reply_is_wrong(self):
        status, out, _ = run(lambda i, r: b"$5\r\nhello\r\n" if i % 50 == 0 else r, "--verify", "--requests", "800")
        self.assertEqual(status, 1)
        self.assertEqual(out["wrong"], 16, out)

    def test_forgotten_value_is_lost(self):
        status, out, _ = run(lambda i, r: b"$-1\r\n" if i > 400 and r.startswith(b"$") else r,
                             "--verify", "--requests", "800")
        self.assertEqual((status, out["wrong"]), (1, 0), out)
        self.assertGreater(out["lost"], 0)

    def test_closed_connection_is_counted_and_replaced(self):
        status, out, _ = run(lambda i, r: None if i % 100 == 0 else r, "--verify", "--pipeline", "4", "--requests", "800")
        self.assertEqual((status, out["wrong"]), (0, 0), out)
        self.assertGreaterEqual(out["disconnects"], 6)
        self.assertEqual(out["requests"] + out["unanswered"], 800)

    def test_silence_ends_the_run(self):
        status, out, _ = run(lambda i, r: b"" if i > 100 else r, "--requests", "800", "--stall", "0.3")
        self.assertEqual((status, out["stalled"], out["requests"]), (1, True, 100), out)

    def test_error_replies_are_counted(self):
        _, out, _ = run(lambda i, r: b"-SHARDDOWN \"a\"\r\n" if i % 10 == 0 else r, "--requests", "500")
        self.assertEqual((out["errors"], out["first_error"]), (50, 'SHARDDOWN "a"'))

    def test_nobody_listening_is_a_failure(self):
        with Server(honest) as server:
            port = server.port
        done = subprocess.run([LOADGEN, "--port", str(port), "--stall", "0.2"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)

    def test_fill_sets_every_key_once(self):
        _, out, server = run(honest, "--command", "fill", "--pipeline", "10", "--value-size", "7")
        self.assertEqual((len(server.values), out["requests"]), (50, 50))
        self.assertEqual(set(map(len, server.values.values())), {7})

    def test_seconds_bound_the_run_and_latency_is_measured(self):
        status, out, _ = run(honest, "--warmup", "0.1", "--seconds", "0.3", "--watch-pid", "1")
        self.assertEqual(status, 0)
        self.assertTrue(0.3 <= out["seconds"] < 0.6, out)
        self.assertTrue(0 < out["p50_usec"] <= out["p99_usec"] <= out["max_usec"], out)
        self.assertIn("watched_cpu_seconds", out)

    def test_bad_flags_are_refused(self):
        for bad in (["--clients", "0"], ["--command", "mget"], ["--ratio", "0:0"], ["--nonsense", "1"], ["--port"]):
            done = subprocess.run([LOADGEN, *bad], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, bad)


if __name__ == "__main__":
    LOADGEN = sys.argv.pop(1)
    unittest.main()
