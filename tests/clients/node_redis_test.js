// node-redis as applications use it, in RESP2 and RESP3.
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const {createClient, RESP_TYPES} = require(process.env.RINGWAY_NODE_REDIS || 'redis');

const url = `redis://${process.env.RINGWAY_HOST}:${process.env.RINGWAY_PORT}`;
const range = (count) => [...Array(count).keys()];

for (const RESP of [2, 3]) {
  test(`RESP${RESP}`, async (suite) => {
    const client = createClient({url, RESP, name: `node-redis-${RESP}`});
    const failures = [];
    client.on('error', (error) => failures.push(error));
    await client.connect();
    suite.after(() => client.close());
    suite.beforeEach(() => client.flushAll());

    await suite.test('connects, and keeps its name', async () => {
      assert.strictEqual(await client.ping(), 'PONG');
      assert.strictEqual(await client.clientGetName(), `node-redis-${RESP}`);
      assert.match(await client.info(), /redis_version:/);
      const other = createClient({url, RESP, database: 3});
      await other.connect();
      await other.set('k', 'three');
      assert.strictEqual(await client.get('k'), null);
      await other.close();
    });

    await suite.test('strings and many keys', async () => {
      await client.mSet(range(100).map((i) => [`key:${i}`, String(i)]));
      assert.deepStrictEqual(await client.mGet(['key:1', 'none', 'key:99']), ['1', null, '99']);
      assert.strictEqual(await client.incrBy('key:1', 4), 5);
      assert.strictEqual(await client.dbSize(), 100);
      assert.strictEqual(await client.unlink(['key:1', 'key:2', 'none']), 2);
      const bytes = Buffer.from(range(256));
      await client.set('bytes', bytes);
      const raw = client.withTypeMapping({[RESP_TYPES.BLOB_STRING]: Buffer});
      assert.deepStrictEqual(await raw.get('bytes'), bytes);
    });

    await suite.test('hashes, lists, sets, sorted sets', async () => {
      await client.hSet('h', {f: 'v', n: '1'});
      assert.deepStrictEqual({...(await client.hGetAll('h'))}, {f: 'v', n: '1'});
      await client.rPush('l', ['a', 'b', 'c']);
      assert.deepStrictEqual(await client.lRange('l', 0, -1), ['a', 'b', 'c']);
      await client.sAdd('s', ['x', 'y']);
      assert.deepStrictEqual([...(await client.sMembers('s'))].sort(), ['x', 'y']);
      await client.zAdd('z', [{score: 1, value: 'one'}, {score: 2.5, value: 'two'}]);
      const ranked = (await client.zRangeWithScores('z', 0, -1)).map(({value, score}) => [value, score]);
      assert.deepStrictEqual(ranked, [['one', 1], ['two', 2.5]]);
      assert.strictEqual(await client.zScore('z', 'two'), 2.5);
    });

    await suite.test('streams', async () => {
      const id = await client.xAdd('x', '*', {f: 'v'});
      const [entry] = await client.xRange('x', '-', '+');
      assert.strictEqual(entry.id, id);
      assert.deepStrictEqual({...entry.message}, {f: 'v'});
      await client.xGroupCreate('x', 'g', '0');
      assert.strictEqual(await client.xAck('x', 'g', id), 0);
    });

    await suite.test('commands of one turn are pipelined in order', async () => {
      await Promise.all(range(300).map((i) => client.set(`p:${i}`, String(i))));
      assert.deepStrictEqual(await Promise.all(range(300).map((i) => client.get(`p:${i}`))), range(300).map(String));
    });

    await suite.test('scanIterator sees every key once', async () => {
      await client.mSet(range(300).map((i) => [`scan:${i}`, 'x']));
      const found = [];
      for await (const keys of client.scanIterator({MATCH: 'scan:*', COUNT: 20})) found.push(...[keys].flat());
      assert.strictEqual(found.length, 300);
      assert.strictEqual(new Set(found).size, 300);
    });

    await suite.test('scripts', async () => {
      const answer = await client.eval('return {KEYS[1], ARGV[1]}', {keys: ['k'], arguments: ['v']});
      assert.deepStrictEqual(answer, ['k', 'v']);
      const sha = await client.scriptLoad('return redis.call("INCR", KEYS[1])');
      for (const i of range(40)) assert.strictEqual(await client.evalSha(sha, {keys: [`counter:${i}`]}), 1);
    });

    await suite.test('expiry', async () => {
      await client.set('e', 'x', {expiration: {type: 'EX', value: 100}});
      assert.ok((await client.ttl('e')) > 90);
    });

    await suite.test('errors are errors, and the connection lives', async () => {
      await client.set('text', 'x');
      await assert.rejects(client.lPush('text', 'y'), /WRONGTYPE/);
      await assert.rejects(client.sendCommand(['NOSUCHCOMMAND']), /unknown command/);
      assert.strictEqual(await client.get('text'), 'x');
      assert.deepStrictEqual(failures, []);
    });
  });
}
