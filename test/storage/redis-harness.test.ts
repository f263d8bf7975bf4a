import { afterAll, beforeAll, expect, test } from "bun:test";
import { Redis } from "ioredis";
import { openTestRedis, type TestRedis } from "../harness/redis.ts";

let server: TestRedis | null;

beforeAll(async () => {
  server = await openTestRedis();
});

afterAll(async () => {
  await server?.close();
});

test("the Redis of a suite answers and is empty", async () => {
  if (server === null) return;
  const redis = new Redis(server.url);
  expect(await redis.dbsize()).toBe(0);
  redis.disconnect();
});
