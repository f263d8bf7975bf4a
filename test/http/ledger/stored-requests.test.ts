/** Requests with a key that store logs: once, whichever instance they are repeated on and whichever died. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { ApiError } from "../../../src/errors.ts";
import { eventually } from "../../harness/eventually.ts";
import { letPass } from "../../harness/let-pass.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../harness/temporary-directory.ts";
import {
  type IngestInstance,
  type IngestInstanceOptions,
  startIngestInstance,
  timesStored,
} from "./ingest-instance.ts";
import { makeOrganization, outcomeOf } from "./thing-server.ts";

const HOUR_MS = 3_600_000;
/** Longer than any lease, and shorter than the hold. */
const LEASE_OVER_MS = 60_000;

let stores: TestStores;
let organizationId: number;
const directories: TemporaryDirectory[] = [];
const running = new Set<IngestInstance>();

beforeAll(async () => {
  stores = await openTestStores();
  organizationId = await makeOrganization(stores.postgres);
});
afterAll(() => stores.close());
afterEach(async () => {
  for (const instance of running) await instance.die();
  running.clear();
  for (const directory of directories.splice(0)) directory[Symbol.dispose]();
});

function newDirectory(): string {
  const directory = temporaryDirectory();
  directories.push(directory);
  return directory.path;
}

let numbers = 0;
async function start(options: Partial<IngestInstanceOptions> = {}): Promise<IngestInstance> {
  numbers += 1;
  const directory = options.directory ?? newDirectory();
  const instance = await startIngestInstance(stores, {
    organizationId,
    instance: numbers,
    ...options,
    directory,
  });
  running.add(instance);
  return instance;
}

async function kill(instance: IngestInstance): Promise<void> {
  running.delete(instance);
  await instance.die();
}

const leaseIsOver = (): Promise<void> => letPass(stores.postgres, "idempotency_keys", LEASE_OVER_MS);

/** How often each message is stored, once every instance has flushed. */
async function stored(messages: readonly string[]): Promise<number[]> {
  for (const instance of running) {
    await eventually("the log store has everything", () => instance.isFlushed());
    await instance.die();
  }
  running.clear();
  return timesStored(stores, messages);
}

/** An instance that died with a request stuck, and its directory. */
async function deadInstance(
  stuck: "before" | "after",
  send: (instance: IngestInstance) => Promise<Response>,
): Promise<string> {
  const directory = newDirectory();
  const dead = await start({ directory });
  dead.stuck = stuck;
  void send(dead);
  await eventually("the request is stuck", () => dead.stuckRequests === 1);
  await kill(dead);
  await leaseIsOver();
  return directory;
}

const HELD_BACK = "503 UNAVAILABLE";

test("a request whose instance died after it stored the entries waits for it elsewhere, and is then answered", async () => {
  const [key, messages] = [crypto.randomUUID(), [crypto.randomUUID(), crypto.randomUUID()]];
  const directory = await deadInstance("after", (instance) => instance.post(key, messages));
  const other = await start();
  const early = await other.post(key, messages);
  expect(Number(early.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await outcomeOf(early)).toBe(HELD_BACK);
  const back = await start({ directory });
  expect(await outcomeOf(await other.post(key, messages))).toBe(HELD_BACK);
  await back.settle();
  const answered = await other.post(key, messages);
  expect(await answered.clone().json()).toEqual({ accepted: 2, duplicates: 2 });
  expect(await outcomeOf(answered)).toBe("202 replayed");
  expect(await outcomeOf(await back.post(key, messages))).toBe("202 replayed");
  expect(await stored(messages)).toEqual([1, 1]);
});

test("a request whose instance died before it stored the entries is stored elsewhere once it is back", async () => {
  const [key, messages] = [crypto.randomUUID(), [crypto.randomUUID()]];
  const directory = await deadInstance("before", (instance) => instance.post(key, messages));
  const other = await start();
  expect(await outcomeOf(await other.post(key, messages))).toBe(HELD_BACK);
  const back = await start({ directory });
  await back.settle();
  expect(await outcomeOf(await other.post(key, messages))).toBe("202");
  expect(await outcomeOf(await back.post(key, messages))).toBe("202 replayed");
  expect(await stored(messages)).toEqual([1]);
});

test.each(["before", "after"] as const)(
  "the instance that died %s it stored the entries needs to ask nobody when it is back",
  async (stuck) => {
    const [key, messages] = [crypto.randomUUID(), [crypto.randomUUID()]];
    const directory = await deadInstance(stuck, (instance) => instance.post(key, messages));
    const back = await start({ directory });
    const answered = await back.post(key, messages);
    expect(await outcomeOf(answered)).toBe(stuck === "after" ? "202 replayed" : "202");
    expect(await stored(messages)).toEqual([1]);
  },
);

test("an instance that is gone for good is waited for until the hold is over", async () => {
  const [key, messages] = [crypto.randomUUID(), [crypto.randomUUID()]];
  await deadInstance("before", (instance) => instance.post(key, messages));
  const other = await start({ holdMs: HOUR_MS });
  expect(await outcomeOf(await other.post(key, messages))).toBe(HELD_BACK);
  await letPass(stores.postgres, "idempotency_keys", HOUR_MS);
  expect(await outcomeOf(await other.post(key, messages))).toBe("202");
  expect(await stored(messages)).toEqual([1]);
});

test("an instance that is still executing gives the key to nobody, whatever it is asked", async () => {
  const [key, messages] = [crypto.randomUUID(), [crypto.randomUUID()]];
  const [slow, other] = [await start(), await start()];
  slow.stuck = "before";
  void slow.post(key, messages);
  await eventually("the request is stuck", () => slow.stuckRequests === 1);
  // It says that it lives every now and then, so the other may have to look again.
  await eventually("its lease is lost", async () => {
    await leaseIsOver();
    return (await outcomeOf(await other.post(key, messages))) === HELD_BACK;
  });
  await slow.settle();
  await leaseIsOver();
  expect(await outcomeOf(await other.post(key, messages))).not.toStartWith("202");
  expect(await stored(messages)).toEqual([0]);
});

test("a request that was refused after its entries were stored stores them once all the same", async () => {
  const [key, messages] = [crypto.randomUUID(), [crypto.randomUUID()]];
  const [one, two] = [await start(), await start()];
  one.failure = new ApiError("UNAVAILABLE", "what could not be read could not be kept");
  expect(await outcomeOf(await one.post(key, messages))).toBe("503 UNAVAILABLE");
  expect(await outcomeOf(await two.post(key, messages))).toBe("202 replayed");
  expect(await stored(messages)).toEqual([1]);
});

test("a key that was forgotten after a day names another request", async () => {
  const [key, messages] = [crypto.randomUUID(), [crypto.randomUUID()]];
  const others = [crypto.randomUUID()];
  const instance = await start();
  expect(await outcomeOf(await instance.post(key, messages))).toBe("202");
  await letPass(stores.postgres, "idempotency_keys", 24 * HOUR_MS);
  expect(await outcomeOf(await instance.post(key, others))).toBe("202");
  expect(await stored([...messages, ...others])).toEqual([1, 1]);
});

test("keys hold between instances whose clocks are six seconds apart", async () => {
  const [one, two] = [await start(), await start({ now: () => Date.now() + 6_000 })];
  const messages = Array.from({ length: 40 }, () => crypto.randomUUID());
  const answers = await Promise.all(
    messages.flatMap((message) => [one, two, one, two].map((instance) => instance.post(message, [message]))),
  );
  const outcomes = new Set(await Promise.all(answers.map(outcomeOf)));
  outcomes.delete("202 replayed");
  outcomes.delete("409 IDEMPOTENCY_IN_PROGRESS");
  expect([...outcomes]).toEqual(["202"]);
  expect(await stored(messages)).toEqual(messages.map(() => 1));
});

test("an instance that is there is asked first, however late the request is repeated elsewhere", async () => {
  const [key, messages] = [crypto.randomUUID(), [crypto.randomUUID()]];
  const directory = await deadInstance("after", (instance) => instance.post(key, messages));
  const back = await start({ directory });
  await letPass(stores.postgres, "idempotency_keys", 2 * HOUR_MS);
  const other = await start({ holdMs: HOUR_MS });
  expect(await outcomeOf(await other.post(key, messages))).toBe(HELD_BACK);
  await back.settle();
  expect(await outcomeOf(await other.post(key, messages))).toBe("202 replayed");
  expect(await stored(messages)).toEqual([1]);
});

describe("an instance that comes back after the hold, with entries that the log store does not have", () => {
  const messagesOf = (key: string): string[] => [`${key} a`, `${key} b`];
  const post = async (instance: IngestInstance, key: string): Promise<string> =>
    outcomeOf(await instance.post(key, messagesOf(key)));

  /** Its directory; it died while it executed these requests, which it had made durable. */
  async function leaveEntries(requests: readonly string[]): Promise<string> {
    const directory = newDirectory();
    const dead = await start({ directory, isStoreAway: true });
    dead.stuck = "after";
    for (const key of requests) void post(dead, key);
    await eventually("the requests are stuck", () => dead.stuckRequests === requests.length);
    await kill(dead);
    await leaseIsOver();
    return directory;
  }

  /** Another instance, which has waited for the hold of the request and may have it now. */
  async function otherAfterHold(key: string): Promise<IngestInstance> {
    const other = await start({ holdMs: HOUR_MS });
    expect(await post(other, key)).toBe(HELD_BACK);
    await letPass(stores.postgres, "idempotency_keys", HOUR_MS);
    return other;
  }

  /** Whether somebody waits for what a log says that has taken a request over. */
  const asked = async (): Promise<boolean> => {
    const [row] = await stores.postgres<{ asked: boolean }[]>`
      SELECT bool_or(asked_at IS NOT NULL) AS asked FROM idempotency_keys WHERE lost_logs <> '{}'`;
    return row?.asked ?? false;
  };

  test("leaves out those of the requests that were stored elsewhere, and no others", async () => {
    const [one, two, three] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
    const directory = await leaveEntries([one, two, three]);
    const other = await otherAfterHold(two);
    expect(await post(other, two)).toBe("202");
    const back = await start({ directory });
    expect(await post(back, two)).toBe("202 replayed");
    for (const key of [one, three]) expect(await post(back, key)).toBe("202 replayed");
    expect(await stored([one, two, three].flatMap(messagesOf))).toEqual([1, 1, 1, 1, 1, 1]);
  });

  test("stores them when whoever took the request over refused it, and nobody else does then", async () => {
    const key = crypto.randomUUID();
    const directory = await leaveEntries([key]);
    const other = await otherAfterHold(key);
    other.refusal = new ApiError("UNAVAILABLE", "not now");
    expect(await post(other, key)).toBe("503 UNAVAILABLE");
    other.refusal = null;
    const back = await start({ directory });
    await eventually("it has them in the log store", async () => (await post(other, key)) === "202 replayed");
    expect(await post(back, key)).toBe("202 replayed");
    expect(await stored(messagesOf(key))).toEqual([1, 1]);
  });

  test("stores them when whoever took the request over died before it did and is not heard of for the hold", async () => {
    const key = crypto.randomUUID();
    const directory = await leaveEntries([key]);
    const other = await otherAfterHold(key);
    other.stuck = "before";
    void post(other, key);
    await eventually("the request is stuck again", () => other.stuckRequests === 1);
    const back = await start({ directory });
    await kill(other);
    await leaseIsOver();
    await eventually("the other one is asked", asked);
    await letPass(stores.postgres, "idempotency_keys", HOUR_MS);
    await eventually("it says that it has them", async () => (await post(back, key)) === "202 replayed");
    expect(await stored(messagesOf(key))).toEqual([1, 1]);
  });

  /** Another instance that had the request after the hold, made it durable and died of it; the directories of both. */
  async function leaveEntriesTwice(key: string): Promise<{ first: string; second: string }> {
    const first = await leaveEntries([key]);
    const second = newDirectory();
    const other = await start({ directory: second, isStoreAway: true });
    expect(await post(other, key)).toBe(HELD_BACK);
    await letPass(stores.postgres, "idempotency_keys", HOUR_MS);
    other.stuck = "after";
    void post(other, key);
    await eventually("the request is stuck again", () => other.stuckRequests === 1);
    await kill(other);
    await leaseIsOver();
    return { first, second };
  }
  test("asks whoever took the request over and died of it, and leaves it out when that one has stored it", async () => {
    const key = crypto.randomUUID();
    const { first, second } = await leaveEntriesTwice(key);
    const back = await start({ directory: first });
    await eventually("the other one is asked", asked);
    const other = await start({ directory: second });
    await eventually("both know", async () => {
      await other.settle();
      return back.isFlushed() && other.isFlushed();
    });
    expect(await post(back, key)).toBe("202 replayed");
    expect(await stored(messagesOf(key))).toEqual([1, 1]);
  });

  test("leaves out what whoever took the request over stored when it came back first", async () => {
    const key = crypto.randomUUID();
    const { first, second } = await leaveEntriesTwice(key);
    const other = await start({ directory: second });
    await eventually("the other one has stored it", () => other.isFlushed());
    const back = await start({ directory: first });
    await eventually("both know", async () => {
      await other.settle();
      return back.isFlushed();
    });
    expect(await stored(messagesOf(key))).toEqual([1, 1]);
  });

  test("stores it when whoever took it over is not heard of for the hold, which then leaves it out", async () => {
    const key = crypto.randomUUID();
    const { first, second } = await leaveEntriesTwice(key);
    const back = await start({ directory: first });
    await eventually("the other one is asked", asked);
    expect(back.isFlushed()).toBe(false);
    await letPass(stores.postgres, "idempotency_keys", HOUR_MS);
    await eventually("it is stored", () => back.isFlushed());
    const other = await start({ directory: second });
    expect(await post(other, key)).toBe("202 replayed");
    expect(await stored(messagesOf(key))).toEqual([1, 1]);
  });

  test("leaves out what another one stored, also when it answers the repetition itself before it knows", async () => {
    const [held, done] = [crypto.randomUUID(), crypto.randomUUID()];
    const directory = await leaveEntries([held, done]);
    const other = await start({ holdMs: HOUR_MS });
    for (const key of [held, done]) expect(await post(other, key)).toBe(HELD_BACK);
    await letPass(stores.postgres, "idempotency_keys", HOUR_MS);
    other.failure = new ApiError("UNAVAILABLE", "what could not be read could not be kept");
    expect(await post(other, done)).toBe("503 UNAVAILABLE");
    // While this one is being executed, who comes back knows of none.
    other.stuck = "before";
    void post(other, held);
    await eventually("the request is stuck again", () => other.stuckRequests === 1);
    const back = await start({ directory });
    expect(await post(back, done)).toBe("202 replayed");
    await kill(other);
    await leaseIsOver();
    await eventually("the other one is asked", asked);
    await letPass(stores.postgres, "idempotency_keys", HOUR_MS);
    expect(await stored([held, done].flatMap(messagesOf))).toEqual([1, 1, 1, 1]);
  });

  test("stores what it has said that it has, also when it died before it did", async () => {
    const key = crypto.randomUUID();
    const directory = await leaveEntries([key]);
    const other = await otherAfterHold(key);
    other.refusal = new ApiError("UNAVAILABLE", "not now");
    expect(await post(other, key)).toBe("503 UNAVAILABLE");
    const back = await start({ directory, isStoreAway: true });
    await eventually("it says that it has them", async () => {
      const [row] = await stores.postgres<{ said: boolean }[]>`
        SELECT bool_or(is_stored) AS said FROM idempotency_keys WHERE key_hash = sha256(${key}::bytea)`;
      return row?.said;
    });
    await kill(back);
    expect(await post(await start({ directory }), key)).toBe("202 replayed");
    expect(await stored(messagesOf(key))).toEqual([1, 1]);
  });
});

const WIRES: [path: string, body: (message: string) => string][] = [
  [
    "/api/v1/otlp/v1/logs",
    (message) =>
      JSON.stringify({
        resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: message } }] }] }],
      }),
  ],
  [
    "/loki/api/v1/push",
    (message) =>
      JSON.stringify({ streams: [{ stream: { app: "a" }, values: [["1700000000000000000", message]] }] }),
  ],
  ["/services/collector/event", (message) => JSON.stringify({ event: message })],
  ["/elasticsearch/_bulk", (message) => `{"index":{}}\n${JSON.stringify({ message })}\n`],
  ["/api/v1/logs/ingest/platform-b/token", (message) => JSON.stringify([{ message }])],
];

test.each(WIRES)("a key on %s holds across a crash and the other instance", async (path, body) => {
  const [key, message] = [crypto.randomUUID(), crypto.randomUUID()];
  const directory = await deadInstance("after", (instance) => instance.send(path, key, body(message)));
  const other = await start();
  expect(await outcomeOf(await other.send(path, key, body(message)))).toBe(HELD_BACK);
  const back = await start({ directory });
  await back.settle();
  expect((await other.send(path, key, body(message))).ok).toBe(true);
  expect(await stored([message])).toEqual([1]);
});
