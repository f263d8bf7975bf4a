import { afterAll, describe, expect, test } from "bun:test";
import { Redis } from "ioredis";
import { clientAddressResolver } from "../../src/http/client-address.ts";
import { MemoryRateLimiter } from "../../src/http/rate-limit/memory-limiter.ts";
import { rateGate } from "../../src/http/rate-limit/rate-gate.ts";
import type { RateDecision, RateLimiter } from "../../src/http/rate-limit/rate-limiter.ts";
import { RedisRateLimiter, type ScriptRunner } from "../../src/http/rate-limit/redis-limiter.ts";
import { createLogger } from "../../src/log.ts";
import { eventually } from "../harness/eventually.ts";
import { openTestRedis } from "../harness/redis.ts";

const log = createLogger("silent");
/** An answer of a Redis that is there counts, however slow the machine is. */
const PATIENT_MS = 60_000;
const redisServer = await openTestRedis();
const clients: Redis[] = [];

afterAll(async () => {
  for (const client of clients) client.disconnect();
  await redisServer?.close();
});

async function connect(url: string): Promise<Redis> {
  const client = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => 50,
  });
  client.on("error", () => undefined);
  clients.push(client);
  await new Promise((resolve) => client.once("ready", resolve));
  return client;
}

function redisLimiter(redis: Redis, local: RateLimiter = new MemoryRateLimiter()) {
  let localDecisions = 0;
  const limiter = new RedisRateLimiter({
    redis,
    local,
    log,
    onLocalDecision: () => localDecisions++,
    timeoutMs: PATIENT_MS,
  });
  return { limiter, localDecisions: () => localDecisions };
}

/** A key no other test or run uses, because the buckets outlive a test. */
function freshKey(): string {
  return `test:${crypto.randomUUID()}`;
}

const implementations: [string, () => Promise<RateLimiter>][] = [
  ["in memory", async () => new MemoryRateLimiter()],
  ...(redisServer === null
    ? []
    : [
        ["in Redis", async () => redisLimiter(await connect(redisServer.url)).limiter] satisfies [
          string,
          () => Promise<RateLimiter>,
        ],
      ]),
];

describe.each(implementations)("a limiter %s", (_name, make) => {
  test("allows as many calls as its limit at once, then none", async () => {
    const limiter = await make();
    const key = freshKey();
    const decisions: RateDecision[] = [];
    for (let i = 0; i < 6; i++) decisions.push(await limiter.take(key, 5));
    expect(decisions.map((decision) => decision.allowed)).toEqual([true, true, true, true, true, false]);
    expect(decisions.map((decision) => decision.remaining)).toEqual([4, 3, 2, 1, 0, 0]);
    expect(decisions.every((decision) => decision.limit === 5)).toBe(true);
  });

  test("says when one more call and when all calls are there again", async () => {
    const limiter = await make();
    const key = freshKey();
    const beganSec = Date.now() / 1000;
    const first = await limiter.take(key, 2);
    // Two a minute: the one that was taken is back in half a minute, however long the answer took.
    expect(first.resetAtSec).toBeWithin(beganSec + 28, Date.now() / 1000 + 32);
    expect(first.retryAfterSec).toBe(0);
    await limiter.take(key, 2);
    const refused = await limiter.take(key, 2);
    const passedSec = Math.ceil(Date.now() / 1000 - beganSec);
    expect(refused.allowed).toBe(false);
    expect(refused.retryAfterSec).toBeWithin(30 - passedSec, 32);
    expect(refused.resetAtSec).toBeWithin(beganSec + 58, Date.now() / 1000 + 62);
  });

  test("lets calls flow in again", async () => {
    const limiter = await make();
    const key = freshKey();
    const perMinute = 600;
    let taken = 0;
    while ((await limiter.take(key, perMinute)).allowed && taken <= perMinute * 2) taken++;
    expect(taken).toBeGreaterThanOrEqual(perMinute);
    await eventually("another call is allowed", async () => (await limiter.take(key, perMinute)).allowed);
  });

  test("keeps keys apart", async () => {
    const limiter = await make();
    const [a, b] = [freshKey(), freshKey()];
    expect((await limiter.take(a, 1)).allowed).toBe(true);
    expect((await limiter.take(a, 1)).allowed).toBe(false);
    expect((await limiter.take(b, 1)).allowed).toBe(true);
  });

  test("never allows more than the limit to calls made at the same time", async () => {
    const limiter = await make();
    const key = freshKey();
    const decisions = await Promise.all(Array.from({ length: 50 }, () => limiter.take(key, 10)));
    expect(decisions.filter((decision) => decision.allowed)).toHaveLength(10);
  });
});

describe("the limiter in memory", () => {
  test("refills evenly by its clock, up to the limit, and stands a clock that goes back", () => {
    let now = 1_000_000;
    const limiter = new MemoryRateLimiter({ nowMs: () => now });
    const take = () => limiter.take("k", 60).allowed;
    for (let i = 0; i < 60; i++) expect(take()).toBe(true);
    expect(take()).toBe(false);
    now += 999;
    expect(take()).toBe(false);
    now += 1;
    expect(take()).toBe(true);
    expect(take()).toBe(false);
    now -= 500_000;
    expect(take()).toBe(false);
    now += 3_600_000;
    expect(limiter.take("k", 60).remaining).toBe(59);
  });

  test("remembers no more buckets than it may, and idle ones only until they are full", () => {
    let now = 1_000_000;
    const limiter = new MemoryRateLimiter({ nowMs: () => now, maxBuckets: 100 });
    for (let i = 0; i < 10_000; i++) {
      limiter.take(`k${i}`, 10);
      expect(limiter.size).toBeLessThanOrEqual(100);
    }
    now += 60_000;
    limiter.take("a", 10);
    now += 60_000;
    limiter.take("b", 10);
    expect(limiter.size).toBeLessThanOrEqual(2);
  });

  test("does not forget a bucket in use when generations turn", () => {
    let now = 1_000_000;
    const limiter = new MemoryRateLimiter({ nowMs: () => now });
    for (let i = 0; i < 600; i++) limiter.take("k", 600);
    now += 59_999;
    for (let i = 0; i < 599; i++) limiter.take("k", 600);
    now += 2;
    expect(limiter.take("k", 600).remaining).toBeLessThan(5);
  });
});

describe.skipIf(redisServer === null)("the limiter in Redis", () => {
  const url = redisServer?.url ?? "";

  test("shares its buckets among instances", async () => {
    const one = redisLimiter(await connect(url)).limiter;
    const two = redisLimiter(await connect(url)).limiter;
    const key = freshKey();
    const allowed: boolean[] = [];
    for (const limiter of [one, two, one, two]) allowed.push((await limiter.take(key, 3)).allowed);
    expect(allowed).toEqual([true, true, true, false]);
  });

  test("survives a store that forgot its script", async () => {
    const redis = await connect(url);
    const { limiter, localDecisions } = redisLimiter(redis);
    const key = freshKey();
    await limiter.take(key, 3);
    await redis.script("FLUSH");
    expect((await limiter.take(key, 3)).remaining).toBe(1);
    expect(localDecisions()).toBe(0);
  });

  test("leaves nothing behind once a bucket is full", async () => {
    const redis = await connect(url);
    const key = freshKey();
    await redisLimiter(redis).limiter.take(key, 3);
    expect(await redis.pttl(`obs:rate:${key}`)).toBeWithin(1, 60_001);
  });
});

describe.skipIf(redisServer === null)("while Redis is away", () => {
  const url = redisServer?.url ?? "";

  test("calls are judged by this instance, which says so, and shared again afterwards", async () => {
    const server = await openTestRedis();
    if (server === null) throw new Error("the binary was there a moment ago");
    const redis = await connect(server.url);
    const { limiter, localDecisions } = redisLimiter(redis);
    const key = freshKey();
    expect((await limiter.take(key, 2)).allowed).toBe(true);
    expect(limiter.isLocal).toBe(false);
    await server.close();

    const allowed: boolean[] = [];
    for (let i = 0; i < 3; i++) allowed.push((await limiter.take(key, 2)).allowed);
    expect(allowed).toEqual([true, true, false]);
    expect(limiter.isLocal).toBe(true);
    expect(localDecisions()).toBe(3);
  });

  test("a store that fails is left alone for a moment, then asked again", async () => {
    let now = 0;
    let asked = 0;
    let isDown = true;
    const real = await connect(url);
    const redis: ScriptRunner = {
      evalsha: (...parts) => {
        asked++;
        return isDown ? Promise.reject(new Error("connection lost")) : real.evalsha(...parts);
      },
      eval: (...parts) => real.eval(...parts),
    };
    const limiter = new RedisRateLimiter({
      redis,
      local: new MemoryRateLimiter(),
      log,
      onLocalDecision: () => undefined,
      nowMs: () => now,
      timeoutMs: PATIENT_MS,
    });
    const key = freshKey();
    for (let i = 0; i < 10; i++) await limiter.take(key, 100);
    expect(asked).toBe(1);
    now += 1_000;
    isDown = false;
    expect((await limiter.take(key, 100)).remaining).toBe(99);
    expect(limiter.isLocal).toBe(false);
    expect(asked).toBe(2);
  });
});

test("a store that does not answer is waited for no longer than it may take", async () => {
  const never = () => Promise.withResolvers<never>().promise;
  const limiter = new RedisRateLimiter({
    redis: { evalsha: never, eval: never },
    local: new MemoryRateLimiter(),
    log,
    onLocalDecision: () => undefined,
    timeoutMs: 1,
  });
  expect((await limiter.take(freshKey(), 100)).remaining).toBe(99);
  expect(limiter.isLocal).toBe(true);
});

describe("the bucket of a call", () => {
  const seen: [string, number][] = [];
  const recording: RateLimiter = {
    take: (key, perMinute) => {
      seen.push([key, perMinute]);
      return { allowed: true, limit: perMinute, remaining: 0, resetAtSec: 0, retryAfterSec: 0 };
    },
  };
  const gate = rateGate(recording, { perMinute: 600, ingestPerMinute: 6000, anonymousPerMinute: 60 });

  test("is the credential's, else the address's, an IPv6 client's whole /64", async () => {
    const principal = {
      kind: "token",
      userId: 1,
      organizationId: 1,
      email: "",
      role: "owner",
      scopes: [],
      caps: { dailyMutations: null, dailyLogBytes: null },
      tokenId: 17,
      credentialKey: "token:17",
    } as const;
    await gate({
      rateClass: "default",
      principal: principal,
      clientAddress: "192.0.2.1",
      url: "http://localhost/",
    });
    await gate({
      rateClass: "ingest",
      principal: principal,
      clientAddress: "192.0.2.1",
      url: "http://localhost/",
    });
    await gate({
      rateClass: "default",
      principal: null,
      clientAddress: "192.0.2.1",
      url: "http://localhost/",
    });
    await gate({
      rateClass: "ingest",
      principal: null,
      clientAddress: "192.0.2.1",
      url: "http://localhost/",
    });
    await gate({ rateClass: "probe", principal: null, clientAddress: "192.0.2.1", url: "http://localhost/" });
    await gate({
      rateClass: "default",
      principal: null,
      clientAddress: "2001:db8:0:1:aaaa::1",
      url: "http://localhost/",
    });
    await gate({
      rateClass: "default",
      principal: null,
      clientAddress: "2001:db8::1:bbbb:0:0:2",
      url: "http://localhost/",
    });
    await gate({ rateClass: "default", principal: null, clientAddress: "::1", url: "http://localhost/" });
    expect(seen).toEqual([
      ["default:token:17", 600],
      ["ingest:token:17", 6000],
      ["default:ip:192.0.2.1", 60],
      ["ingest:ip:192.0.2.1", 6000],
      ["probe:ip:192.0.2.1", 600],
      ["default:ip:2001:db8:0:1::/64", 60],
      ["default:ip:2001:db8:0:1::/64", 60],
      ["default:ip:0:0:0:0::/64", 60],
    ]);
  });

  test("is that of the token for a heartbeat, whose text is no part of its name, and of the address for what is no token", async () => {
    seen.length = 0;
    const call = { rateClass: "heartbeat", principal: null, clientAddress: "192.0.2.1" } as const;
    const tokens = ["a".repeat(43), "b".repeat(43)];
    for (const token of tokens) {
      await gate({ ...call, url: `http://localhost/api/v1/heartbeats/${token}` });
      await gate({
        ...call,
        url: `http://localhost/api/v1/heartbeats/${token}/fail?x=1`,
        clientAddress: "192.0.2.9",
      });
    }
    const [first, again, second] = seen.map(([key]) => key);
    expect(again).toBe(first);
    expect(second).not.toBe(first);
    expect(seen.every(([key]) => key.startsWith("heartbeat:") && !/a{5}|b{5}/.test(key))).toBe(true);
    seen.length = 0;
    await gate({ ...call, url: "http://localhost/api/v1/heartbeats/guess" });
    await gate({ ...call, url: `http://localhost/api/v1/heartbeats/%61${"a".repeat(42)}` });
    expect(seen.map(([key]) => key)).toEqual(["default:ip:192.0.2.1", "default:ip:192.0.2.1"]);
  });

  test("is wide for what the public reads, whoever reads it behind one address", async () => {
    seen.length = 0;
    await gate({
      rateClass: "public",
      principal: null,
      clientAddress: "192.0.2.1",
      url: "http://localhost/",
    });
    expect(seen).toEqual([["public:ip:192.0.2.1", 6000]]);
  });
});

describe("the address of a client", () => {
  const from = (trusted: string[], peer: string | undefined, forwarded?: string) =>
    clientAddressResolver(trusted)(
      peer,
      new Request(
        "http://localhost/",
        forwarded === undefined ? {} : { headers: { "x-forwarded-for": forwarded } },
      ),
    );

  test.each<[string, string[], string | undefined, string | undefined, string]>([
    ["the peer, when no proxy is trusted", [], "192.0.2.1", "198.51.100.9", "192.0.2.1"],
    ["the peer, when it is not the trusted proxy", ["10.0.0.0/8"], "192.0.2.1", "198.51.100.9", "192.0.2.1"],
    ["what the trusted proxy saw", ["10.0.0.0/8"], "10.1.2.3", "198.51.100.9", "198.51.100.9"],
    ["not what the client claims", ["10.0.0.0/8"], "10.1.2.3", "1.1.1.1, 198.51.100.9", "198.51.100.9"],
    ["seen through several proxies", ["10.0.0.0/8"], "10.1.2.3", "198.51.100.9, 10.9.9.9", "198.51.100.9"],
    ["the outermost proxy, when all are trusted", ["10.0.0.0/8"], "10.1.2.3", "10.9.9.9", "10.9.9.9"],
    ["the proxy, when what it says is no address", ["10.0.0.0/8"], "10.1.2.3", "unknown", "10.1.2.3"],
    ["the proxy, when it says nothing", ["10.0.0.0/8"], "10.1.2.3", undefined, "10.1.2.3"],
    ["without a port", ["10.1.2.3"], "10.1.2.3", "198.51.100.9:4711", "198.51.100.9"],
    ["without brackets", ["10.1.2.3"], "10.1.2.3", "[2001:DB8::9]:4711", "2001:db8::9"],
    ["IPv4 out of its IPv6 clothes", ["10.1.2.3"], "::ffff:10.1.2.3", "::ffff:198.51.100.9", "198.51.100.9"],
    ["seen by a proxy with IPv6", ["fd00::/8"], "fd00::1", "198.51.100.9", "198.51.100.9"],
    ["unknown on a socket without addresses", ["10.0.0.0/8"], undefined, "198.51.100.9", "unknown"],
  ])("is %s", (_name, trusted, peer, forwarded, expected) => {
    expect(from(trusted, peer, forwarded)).toBe(expected);
  });

  test("is not looked for in an endless chain", () => {
    const chain = `198.51.100.9, ${Array.from({ length: 10_000 }, () => "10.0.0.1").join(", ")}`;
    expect(from(["10.0.0.0/8"], "10.1.2.3", chain)).toBe("10.0.0.1");
  });

  test.each(["10.0.0.0/33", "nonsense", "10.0.0.0/", "fd00::/129", "", "10.0.0.0/8/8"])(
    "%j is no trusted proxy",
    (entry) => {
      expect(() => clientAddressResolver([entry])).toThrow();
    },
  );
});
