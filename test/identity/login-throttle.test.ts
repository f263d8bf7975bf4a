import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Redis } from "ioredis";
import { FAILURE_MEMORY_MS } from "../../src/identity/limits.ts";
import {
  delayAfterFailureMs,
  type LoginThrottle,
  type ThrottleSubject,
} from "../../src/identity/login-throttle.ts";
import { MemoryLoginThrottle } from "../../src/identity/memory-login-throttle.ts";
import { RedisLoginThrottle } from "../../src/identity/redis-login-throttle.ts";
import { loginSubjects } from "../../src/identity/throttle-subjects.ts";
import { createLogger } from "../../src/log.ts";
import { createRedis } from "../../src/storage/redis.ts";
import { openTestRedis, type TestRedis } from "../harness/redis.ts";

const log = createLogger("silent");
const policy = { freeFailures: 2, delayMaxMs: 4000 };
let nowMs = Date.parse("2030-01-01T00:00:00Z");
const now = () => nowMs;

let redisServer: TestRedis | null = null;
let redis: Redis | null = null;
beforeAll(async () => {
  redisServer = await openTestRedis();
  if (redisServer === null) return;
  redis = await createRedis(redisServer.url, log);
  const client = redis;
  if (client.status !== "ready") await new Promise((resolve) => client.once("ready", resolve));
});
afterAll(async () => {
  redis?.disconnect();
  await redisServer?.close();
});

/** Must never be asked: the shared throttle answers itself. */
const unreachable: LoginThrottle = {
  begin: () => Promise.reject(new Error("the local throttle was asked")),
  succeed: () => Promise.resolve(),
  withdraw: () => Promise.resolve(),
};

let subjects = 0;
/** Subjects nobody else uses, one that is forgotten on success and one that is refunded. */
function freshSubjects(): [ThrottleSubject, ThrottleSubject] {
  subjects += 1;
  return [
    { key: `account:${subjects}`, policy, onSuccess: "forget" },
    { key: `address:${subjects}`, policy: { ...policy, freeFailures: 4 }, onSuccess: "refund" },
  ];
}

const kinds: [string, () => LoginThrottle | null][] = [
  ["in memory", () => new MemoryLoginThrottle({ now })],
  [
    "in Redis",
    () => (redis === null ? null : new RedisLoginThrottle({ redis, local: unreachable, now, log })),
  ],
];

describe.each(kinds)("the login throttle %s", (_kind, open) => {
  /** Runs a test, or does nothing where there is no Redis, which the harness has said on standard error. */
  const check = (name: string, body: (throttle: LoginThrottle) => Promise<void>) =>
    test(name, async () => {
      const throttle = open();
      if (throttle !== null) await body(throttle);
    });

  check("lets the free failures through, then doubles the delay up to its maximum", async (throttle) => {
    const [account] = freshSubjects();
    const waits: number[] = [];
    for (let attempt = 0; attempt < 12; attempt += 1) {
      const waitMs = await throttle.begin([account]);
      if (waitMs > 0) waits.push(waitMs);
      nowMs += waitMs;
    }
    // Three attempts before the first block, then a refusal and an attempt by turns.
    expect(waits).toEqual([1000, 2000, 4000, 4000, 4000]);
  });

  check(
    "does not count an attempt that it refuses, and frees the subject after the delay",
    async (throttle) => {
      const [account] = freshSubjects();
      for (let failure = 0; failure < 3; failure += 1) await throttle.begin([account]);
      for (let refused = 0; refused < 20; refused += 1) expect(await throttle.begin([account])).toBe(1000);
      nowMs += 999;
      expect(await throttle.begin([account])).toBe(1);
      nowMs += 1;
      expect(await throttle.begin([account])).toBe(0);
    },
  );

  check("counts against no subject when one of them is blocked", async (throttle) => {
    const [account, address] = freshSubjects();
    for (let failure = 0; failure < 3; failure += 1) await throttle.begin([account]);
    for (let refused = 0; refused < 20; refused += 1) await throttle.begin([account, address]);
    for (let free = 0; free < 4; free += 1) expect(await throttle.begin([address])).toBe(0);
  });

  check(
    "forgets an account that succeeds, but only takes the attempt of its address back",
    async (throttle) => {
      const [account, address] = freshSubjects();
      for (let round = 0; round < 4; round += 1) {
        expect(await throttle.begin([account, address])).toBe(0);
        expect(await throttle.begin([account, address])).toBe(0);
        await throttle.succeed([account, address]);
      }
      expect(await throttle.begin([account])).toBe(0);
      expect(await throttle.begin([address])).toBe(0);
      expect(await throttle.begin([account])).toBe(0);
      expect(await throttle.begin([address])).toBe(1000);
    },
  );

  check("takes back an attempt that could not be judged, its block included", async (throttle) => {
    const both = freshSubjects();
    for (let outage = 0; outage < 50; outage += 1) {
      expect(await throttle.begin(both)).toBe(0);
      await throttle.withdraw(both);
    }
    await throttle.succeed(freshSubjects());
    await throttle.withdraw(freshSubjects());
  });

  check("forgets failures after an hour without one", async (throttle) => {
    const [account] = freshSubjects();
    for (let failure = 0; failure < 3; failure += 1) await throttle.begin([account]);
    nowMs += FAILURE_MEMORY_MS;
    for (let free = 0; free < 2; free += 1) expect(await throttle.begin([account])).toBe(0);
    expect(await throttle.begin([account])).toBe(0);
    expect(await throttle.begin([account])).toBe(1000);
  });

  check("lets exactly the free attempts and one more through when all come at once", async (throttle) => {
    const [account] = freshSubjects();
    const waits = await Promise.all(Array.from({ length: 50 }, () => throttle.begin([account])));
    expect(waits.filter((waitMs) => waitMs === 0)).toHaveLength(policy.freeFailures + 1);
  });
});

test("the delay stays finite and at its maximum after any number of failures", () => {
  for (const failures of [0, 1, 2]) expect(delayAfterFailureMs(failures, policy)).toBe(0);
  for (const failures of [6, 100, 1e9]) expect(delayAfterFailureMs(failures, policy)).toBe(4000);
});

test("the memory of one process stays bounded under a flood of accounts, and empties by itself", async () => {
  const throttle = new MemoryLoginThrottle({ now, keysMax: 100 });
  for (let n = 0; n < 1000; n += 1)
    await throttle.begin([{ key: `account:${n}`, policy, onSuccess: "forget" }]);
  expect(throttle.size).toBe(100);
  nowMs += FAILURE_MEMORY_MS;
  await throttle.begin([{ key: "account:last", policy, onSuccess: "forget" }]);
  expect(throttle.size).toBe(1);
});

test("instances that share a Redis share what they count", async () => {
  if (redis === null) return;
  const options = { redis, local: unreachable, now, log };
  const one = new RedisLoginThrottle(options);
  const other = new RedisLoginThrottle(options);
  const [account] = freshSubjects();
  await one.begin([account]);
  await other.begin([account]);
  await one.begin([account]);
  expect(await other.begin([account])).toBe(1000);
});

test("without its Redis the shared throttle goes on counting locally", async () => {
  const client = await createRedis("redis://127.0.0.1:1", log);
  try {
    const local = new MemoryLoginThrottle({ now });
    const throttle = new RedisLoginThrottle({ redis: client, local, now, log });
    const [account] = freshSubjects();
    for (let failure = 0; failure < 3; failure += 1) expect(await throttle.begin([account])).toBe(0);
    expect(await throttle.begin([account])).toBe(1000);
    await throttle.succeed([account]);
    expect(await throttle.begin([account])).toBe(0);
    await throttle.withdraw([account]);
    expect(local.size).toBe(0);
  } finally {
    client.disconnect();
  }
});

test("keys are short and hold no email", () => {
  const email = `${"a".repeat(60)}@example.com`;
  for (const { key } of loginSubjects(email, "2001:db8::1")) {
    expect(key.length).toBeLessThan(64);
    expect(key).not.toContain("example.com");
  }
  expect(loginSubjects(email, "192.0.2.1")).toEqual(loginSubjects(email, "192.0.2.1"));
});
