#!/usr/bin/env python3
"""Debian's python3-redis, as applications use it."""

import os
import threading
import unittest

import redis

HOST = os.environ["RINGWAY_HOST"]
PORT = int(os.environ["RINGWAY_PORT"])


class PythonRedis(unittest.TestCase):
    def setUp(self):
        self.redis = redis.Redis(HOST, PORT, decode_responses=True, client_name="python-test")
        self.redis.flushall()

    def tearDown(self):
        self.redis.close()

    def test_connect_checks(self):
        self.assertTrue(self.redis.ping())
        self.assertEqual(self.redis.client_getname(), "python-test")
        info = self.redis.info()
        self.assertEqual(info["role"], "master")
        self.assertEqual(info["loading"], 0)
        self.assertIn("redis_version", info)
        self.assertEqual(self.redis.info("everything")["role"], "master")
        checked = redis.Redis(HOST, PORT, health_check_interval=1)
        self.assertTrue(checked.ping())
        self.assertEqual(redis.from_url(f"redis://{HOST}:{PORT}/3").client_list()[0]["db"] in ("0", "3"), True)
        self.assertEqual(self.redis.config_get("maxclients"), {"maxclients": "10000"})
        self.assertGreater(self.redis.command_count(), 200)
        self.assertGreater(len(self.redis.command()), 200)
        self.assertEqual(len(self.redis.time()), 2)

    def test_strings(self):
        self.assertTrue(self.redis.set("a", "1"))
        self.assertIsNone(self.redis.set("a", "2", nx=True))
        self.assertEqual(self.redis.incr("a", 5), 6)
        self.assertEqual(self.redis.getset("a", "x"), "6")
        self.assertEqual(self.redis.append("a", "yz"), 3)
        self.assertEqual(self.redis.getrange("a", 0, 1), "xy")
        raw = redis.Redis(HOST, PORT)
        every_byte = bytes(range(256))
        raw.set(every_byte, every_byte)
        self.assertEqual(raw.get(every_byte), every_byte)

    def test_many_keys(self):
        values = {f"key:{i}": str(i) for i in range(200)}
        self.assertTrue(self.redis.mset(values))
        self.assertEqual(self.redis.mget(list(values)), list(values.values()))
        self.assertEqual(self.redis.mget("key:1", "none"), ["1", None])
        self.assertEqual(self.redis.exists("key:1", "key:2", "none"), 2)
        self.assertEqual(self.redis.dbsize(), 200)
        self.assertEqual(set(self.redis.scan_iter(count=10)), set(values))
        self.assertEqual(set(self.redis.scan_iter(match="key:1?")), {f"key:1{i}" for i in range(10)})
        self.assertEqual(set(self.redis.keys("*")), set(values))
        self.assertEqual(self.redis.delete(*values), 200)
        self.assertTrue(self.redis.msetnx({"{t}a": 1, "{t}b": 2}))

    def test_structures(self):
        self.redis.hset("h", mapping={"f": "v", "n": 1})
        self.assertEqual(self.redis.hincrby("h", "n", 4), 5)
        self.assertEqual(self.redis.hgetall("h"), {"f": "v", "n": "5"})
        self.assertEqual(dict(self.redis.hscan_iter("h")), {"f": "v", "n": "5"})
        self.redis.rpush("l", "a", "b", "c")
        self.assertEqual(self.redis.lrange("l", 0, -1), ["a", "b", "c"])
        self.assertEqual(self.redis.lpop("l", 2), ["a", "b"])
        self.redis.sadd("s", "x", "y")
        self.assertEqual(self.redis.smembers("s"), {"x", "y"})
        self.redis.zadd("z", {"one": 1, "two": 2.5})
        self.assertEqual(self.redis.zrange("z", 0, -1, withscores=True), [("one", 1.0), ("two", 2.5)])
        self.redis.geoadd("g", (13.361389, 38.115556, "Palermo"))
        self.assertAlmostEqual(self.redis.geopos("g", "Palermo")[0][0], 13.361389, places=4)

    def test_streams(self):
        entry = self.redis.xadd("x", {"f": "v"})
        self.assertEqual(self.redis.xrange("x"), [(entry, {"f": "v"})])
        self.redis.xgroup_create("x", "group", id="0")
        self.assertEqual(self.redis.xreadgroup("group", "me", {"x": ">"}), [["x", [(entry, {"f": "v"})]]])
        self.assertEqual(self.redis.xack("x", "group", entry), 1)
        self.assertEqual(self.redis.xinfo_stream("x")["length"], 1)

    def test_pipeline_keeps_order(self):
        pipe = self.redis.pipeline(transaction=False)
        for i in range(500):
            pipe.set(f"p:{i}", i)
            pipe.get(f"p:{i}")
        answers = pipe.execute()
        self.assertEqual(answers[1::2], [str(i) for i in range(500)])
        self.redis.set("text", "x")
        answers = self.redis.pipeline(transaction=False).incr("text").get("text").execute(raise_on_error=False)
        self.assertIsInstance(answers[0], redis.ResponseError)
        self.assertEqual(answers[1], "x")

    def test_scripts(self):
        self.assertEqual(self.redis.eval("return {KEYS[1], ARGV[1]}", 1, "k", "v"), ["k", "v"])
        script = self.redis.register_script("return redis.call('INCRBY', KEYS[1], ARGV[1])")
        for i in range(50):
            self.assertEqual(script(keys=[f"counter:{i}"], args=[i]), i)
        pipe = self.redis.pipeline(transaction=False)
        script(keys=["counter:1"], args=[1], client=pipe)
        self.assertEqual(pipe.execute(), [2])
        self.redis.script_flush()
        self.assertEqual(script(keys=["counter:1"], args=[1]), 3)

    def test_expiry(self):
        self.redis.set("e", "x", ex=100)
        self.assertIn(self.redis.ttl("e"), (99, 100))
        self.redis.persist("e")
        self.assertEqual(self.redis.ttl("e"), -1)
        self.redis.pexpire("e", 1)
        for _ in range(1000):
            if self.redis.get("e") is None:
                return
        self.assertIsNone(self.redis.get("e"))

    def test_errors(self):
        self.redis.set("text", "x")
        with self.assertRaisesRegex(redis.ResponseError, "WRONGTYPE"):
            self.redis.lpush("text", "y")
        with self.assertRaisesRegex(redis.ResponseError, "unknown command"):
            self.redis.execute_command("NOSUCHCOMMAND")
        with self.assertRaises(redis.exceptions.NoScriptError):
            self.redis.evalsha("f" * 40, 0)
        self.assertEqual(self.redis.get("text"), "x")

    def test_databases(self):
        other = redis.Redis(HOST, PORT, db=7, decode_responses=True)
        self.redis.set("k", "zero")
        other.set("k", "seven")
        self.assertEqual((self.redis.get("k"), other.get("k")), ("zero", "seven"))

    def test_many_threads_on_one_pool(self):
        wrong = []

        def work(name):
            for i in range(100):
                key = f"thread:{name}:{i % 5}"
                self.redis.set(key, f"{name}.{i}")
                got = self.redis.get(key)
                if got != f"{name}.{i}":
                    wrong.append((key, got))

        threads = [threading.Thread(target=work, args=(n,)) for n in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
