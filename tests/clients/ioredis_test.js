// ioredis as applications use it, in the version named by RINGWAY_IOREDIS (a name in package.json).
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const {Redis} = require(process.env.RINGWAY_IOREDIS || 'ioredis');

const address = {host: process.env.RINGWAY_HOST, port: Number(process.env.RINGWAY_PORT)};
let redis;

test.beforeEach(async () => {
  redis = new Redis({...address, connectionName: 'ioredis-test', maxRetriesPerRequest: 1});
  await redis.flushall();
});
test.afterEach(() => redis.disconnect());

test('the ready check passes, and the name is kept', async () => {
  assert.strictEqual(redis.status, 'ready');
  assert.strictEqual(await redis.ping(), 'PONG');
  assert.strictEqual(await redis.client('GETNAME'), 'ioredis-test');
  assert.match(await redis.info(), /role:master/);
  const lazy = new Redis({...address, lazyConnect: true, db: 4});
  await lazy.connect();
  await lazy.set('k', 'four');
  assert.strictEqual(await redis.get('k'), null);
  lazy.disconnect();
});

test('strings and many keys', async () => {
  await redis.mset(Object.fromEntries([...Array(100).keys()].map((i) => [`key:${i}`, i])));
  assert.deepStrictEqual(await redis.mget('key:1', 'none', 'key:99'), ['1', null, '99']);
  assert.strictEqual(await redis.incrby('key:1', 4), 5);
  assert.strictEqual(await redis.exists('key:1', 'key:2', 'none'), 2);
  assert.strictEqual(await redis.dbsize(), 100);
  assert.strictEqual(await redis.del('key:1', 'key:2', 'key:3'), 3);
  const bytes = Buffer.from([...Array(256).keys()]);
  await redis.set('bytes', bytes);
  assert.deepStrictEqual(await redis.getBuffer('bytes'), bytes);
});

test('hashes, lists, sets, sorted sets', async () => {
  await redis.hset('h', {f: 'v', n: 1});
  assert.deepStrictEqual(await redis.hgetall('h'), {f: 'v', n: '1'});
  await redis.rpush('l', 'a', 'b', 'c');
  assert.deepStrictEqual(await redis.lrange('l', 0, -1), ['a', 'b', 'c']);
  await redis.sadd('s', 'x', 'y');
  assert.deepStrictEqual((await redis.smembers('s')).sort(), ['x', 'y']);
  await redis.zadd('z', 1, 'one', 2.5, 'two');
  assert.deepStrictEqual(await redis.zrange('z', 0, -1, 'WITHSCORES'), ['one', '1', 'two', '2.5']);
});

test('streams', async () => {
  const id = await redis.xadd('x', '*', 'f', 'v');
  assert.deepStrictEqual(await redis.xrange('x', '-', '+'), [[id, ['f', 'v']]]);
  await redis.xgroup('CREATE', 'x', 'g', '0');
  assert.deepStrictEqual(await redis.xreadgroup('GROUP', 'g', 'me', 'STREAMS', 'x', '>'), [['x', [[id, ['f', 'v']]]]]);
  assert.strictEqual(await redis.xack('x', 'g', id), 1);
});

test('pipelines keep their order, errors included', async () => {
  const pipeline = redis.pipeline();
  for (let i = 0; i < 300; ++i) pipeline.set(`p:${i}`, i).get(`p:${i}`);
  const answers = await pipeline.exec();
  for (let i = 0; i < 300; ++i) assert.deepStrictEqual(answers[2 * i + 1], [null, String(i)]);
  await redis.set('text', 'x');
  const [[error], [none, value]] = await redis.pipeline().incr('text').get('text').exec();
  assert.match(error.message, /not an integer/);
  assert.deepStrictEqual([none, value], [null, 'x']);
});

test('autopipelining', async () => {
  const auto = new Redis({...address, enableAutoPipelining: true});
  await Promise.all([...Array(200).keys()].map((i) => auto.set(`auto:${i}`, i)));
  const values = await Promise.all([...Array(200).keys()].map((i) => auto.get(`auto:${i}`)));
  assert.deepStrictEqual(values, [...Array(200).keys()].map(String));
  auto.disconnect();
});

test('scan streams see every key once', async () => {
  await redis.mset(Object.fromEntries([...Array(300).keys()].map((i) => [`scan:${i}`, i])));
  const found = [];
  for await (const keys of redis.scanStream({match: 'scan:*', count: 20})) found.push(...keys);
  assert.strictEqual(found.length, 300);
  assert.strictEqual(new Set(found).size, 300);
});

test('scripts: eval, and defined commands by their hash', async () => {
  assert.deepStrictEqual(await redis.eval('return {KEYS[1], ARGV[1]}', 1, 'k', 'v'), ['k', 'v']);
  redis.defineCommand('addTo', {numberOfKeys: 1, lua: 'return redis.call("INCRBY", KEYS[1], ARGV[1])'});
  for (let i = 0; i < 40; ++i) assert.strictEqual(await redis.addTo(`counter:${i}`, i), i);
  await redis.script('FLUSH');
  assert.strictEqual(await redis.addTo('counter:1', 1), 2);
});

test('expiry', async () => {
  await redis.set('e', 'x', 'EX', 100);
  assert.ok((await redis.ttl('e')) > 90);
  await redis.persist('e');
  assert.strictEqual(await redis.ttl('e'), -1);
});

test('errors are errors, and the connection lives', async () => {
  await redis.set('text', 'x');
  await assert.rejects(redis.lpush('text', 'y'), /WRONGTYPE/);
  await assert.rejects(redis.call('NOSUCHCOMMAND'), /unknown command/);
  assert.strictEqual(await redis.get('text'), 'x');
});
