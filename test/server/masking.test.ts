/** What a rule masks is nowhere: the whole program over every wire, and every byte it left on the disk. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createSocket } from "node:dgram";
import { readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { compress } from "snappyjs";
import { encodeValue } from "../../ingest/index.ts";
import { createLogger } from "../../src/log.ts";
import { openStores } from "../../src/storage/open.ts";
import { DAY_MS, testArchiver, unitsOf } from "../archive/archive-setup.ts";
import { EventReader } from "../domains/logs/tail/event-reader.ts";
import { eventually } from "../harness/eventually.ts";
import { serverPort } from "../harness/server-port.ts";
import { makeToken, type ServerProcess, startServer } from "../harness/server-process.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../harness/temporary-directory.ts";
import { lengthField, varintField } from "../ingest/decode/protobuf-writer.ts";
import { RECEIVER_WIRES, WIRE_SOURCES } from "./receiver-wires.ts";

const CARD = "4539148803436467";
const EMAIL = "secret.person@hidden.example";
const TOKEN = "ghp_q8ZkVnT4xW1bYc7LdR2mHs5JpF9uAe3GoX6i";
const SESSION = "session-7f3a91c4";
const SECRETS = [CARD, EMAIL, TOKEN, SESSION];
const TEXT = `paid with ${CARD} by ${EMAIL} with ${TOKEN}`;
const MASKED_TEXT = "paid with [card] by [email] with [token]";
const NOISE = "noise-that-is-dropped";
/** What is not masked and is looked for in the same places. */
const MARKER = "plain-marker-5521";

let directory: TemporaryDirectory;
let server: ServerProcess;
let token: string;
let other: string;
const ports = { syslog: 0, gelfTcp: 0, gelfUdp: 0, forward: 0 };
let tail: EventReader;
const ruleIds: Record<string, number> = {};

beforeAll(async () => {
  directory = temporaryDirectory();
  server = await startServer({ dataDirectory: directory.path });
  token = await makeToken(server.url);
  other = await makeToken(server.url);
  await server.stop();
  for (const listener of ["syslog", "gelfTcp", "gelfUdp", "forward"] as const)
    ports[listener] = await serverPort();
  server = await start();
  for (const source of [...WIRE_SOURCES, ...SOURCES]) await call("POST", "/api/v1/ingest/sources", source);
  await call("PATCH", "/api/v1/ingest/sources/learner", { status: "learning" });
  for (const rule of RULES) {
    const { id } = await call("POST", "/api/v1/ingest/rules", rule);
    ruleIds[rule.name] = Number(id);
  }
  const session = await call("POST", "/api/v1/logs/tail/session", {});
  tail = await EventReader.open(`${server.url}/api/v1/logs/tail?token=${session.token}`);
  await tail.next("");
});
afterAll(async () => {
  tail.close();
  await server.stop();
  directory[Symbol.dispose]();
});

const RULES = [
  { name: "noise", action: "drop", query: `message contains "${NOISE}"` },
  { name: "session", action: "mask", fields: ["session", "deep.session", "customer"], position: 5 },
  { name: "patterns", action: "mask", patterns: ["card", "email", "token"], position: 1 },
];
const SOURCES = [
  {
    sourceKey: "strict",
    name: "strict",
    mapping: {
      timestamp: { from: "at", parse: "epoch_ms" },
      fields: { message: { from: "text" }, customer: { from: "person.name" } },
      keepUnmapped: true,
    },
  },
  { sourceKey: "learner", name: "learner" },
];

function start(): Promise<ServerProcess> {
  return startServer({
    dataDirectory: directory.path,
    env: {
      LOG_LEVEL: "debug",
      SYSLOG_TOKEN: token,
      SYSLOG_TCP_PORT: String(ports.syslog),
      GELF_TOKEN: token,
      GELF_TCP_PORT: String(ports.gelfTcp),
      GELF_UDP_PORT: String(ports.gelfUdp),
      FORWARD_TOKEN: token,
      FORWARD_PORT: String(ports.forward),
      OTLP_PROTOBUF: "1",
    },
  });
}

async function call(
  method: string,
  path: string,
  json?: unknown,
  credential = token,
): Promise<Record<string, unknown>> {
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${credential}`, "content-type": "application/json" },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === "" ? {} : JSON.parse(text);
}

interface Entry {
  readonly message: string;
  readonly attrs: Readonly<Record<string, unknown>>;
}

async function found(q: string, credential = token): Promise<Entry[]> {
  const query = new URLSearchParams({ q, limit: "1000" });
  const response = await fetch(`${server.url}/api/v1/logs/search?${query}`, {
    headers: { authorization: `Bearer ${credential}` },
  });
  const { entries }: { entries: Entry[] } = JSON.parse(await response.text());
  return entries;
}

async function countsOf(rule: string): Promise<{ dropped: number; masked: number }> {
  const { dropped, masked } = await call("GET", `/api/v1/ingest/rules/${ruleIds[rule]}/counts`);
  return { dropped: Number(dropped), masked: Number(masked) };
}

/** The files under the data directory that hold a text. */
function filesWith(text: string): string[] {
  return readdirSync(directory.path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => {
      try {
        return readFileSync(path).includes(text);
      } catch {
        // It was merged or rotated away while we looked.
        return false;
      }
    });
}

function expectNowhere(): void {
  for (const secret of SECRETS) expect([secret, filesWith(secret)]).toEqual([secret, []]);
  expect(filesWith(MARKER)).not.toEqual([]);
  for (const secret of SECRETS) expect(server.output()).not.toContain(secret);
}

const wireMessage = (name: string): string => `${MARKER} by ${name}: ${TEXT}`;

function overTcp(port: number, bytes: string | Uint8Array): void {
  connect(port, "127.0.0.1").end(bytes);
}

async function postProtobuf(
  path: string,
  body: Uint8Array,
  headers: Record<string, string> = {},
): Promise<void> {
  const response = await fetch(server.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/x-protobuf", ...headers },
    body: new Uint8Array(body),
  });
  expect(response.ok).toBe(true);
  await response.arrayBuffer();
}

/** What comes over sockets of its own, or is no text. */
const OTHER_WIRES: Readonly<Record<string, (message: string) => void | Promise<void>>> = {
  syslog: (message) => overTcp(ports.syslog, `<13>1 2026-11-21T10:00:00Z host app - - - ${message}\n`),
  "gelf over tcp": (message) =>
    overTcp(ports.gelfTcp, `${JSON.stringify({ version: "1.1", host: "web-1", short_message: message })}\0`),
  "gelf over udp": async (message) => {
    const socket = createSocket("udp4");
    const { promise, resolve } = Promise.withResolvers<void>();
    const datagram = JSON.stringify({ version: "1.1", host: "web-1", short_message: message });
    socket.send(datagram, ports.gelfUdp, "127.0.0.1", () => resolve());
    await promise;
    socket.close();
  },
  forward: (message) => overTcp(ports.forward, encodeValue(["app", 1_769_903_998, { message }])),
  "otlp protobuf": (message) =>
    postProtobuf(
      "/api/v1/otlp/v1/logs",
      lengthField(1, lengthField(2, lengthField(2, lengthField(5, lengthField(1, message))))),
    ),
  "loki protobuf": (message) => {
    const line = lengthField(2, lengthField(1, varintField(1, 1_769_903_998)), lengthField(2, message));
    return postProtobuf("/loki/api/v1/push", compress(lengthField(1, lengthField(1, '{app="shop"}'), line)), {
      "content-encoding": "snappy",
    });
  },
};

test("what a rule masks is nowhere, over every wire, and counted", async () => {
  const names = [...RECEIVER_WIRES.map(({ name }) => name), ...Object.keys(OTHER_WIRES)];
  for (const wire of RECEIVER_WIRES) {
    const response = await fetch(server.url + wire.path(token), {
      method: "POST",
      headers: { ...wire.headers(token) },
      body: wire.body(wireMessage(wire.name)),
    });
    expect([wire.name, response.status]).toEqual([wire.name, wire.acknowledges]);
    await response.arrayBuffer();
  }
  for (const [name, send] of Object.entries(OTHER_WIRES)) await send(wireMessage(name));
  const messages = await eventually("every wire's entry", async () => {
    const entries = await found(`"${MARKER} by"`);
    return entries.length === names.length && entries.map(({ message }) => message);
  });
  for (const name of names)
    expect([
      name,
      messages.some((message) => message.includes(`${MARKER} by ${name}: ${MASKED_TEXT}`)),
    ]).toEqual([name, true]);
  await tail.haveMessages(names.length);
  for (const secret of SECRETS) expect(JSON.stringify(tail.entries)).not.toContain(secret);
  expectNowhere();
  await eventually("all are counted", async () => (await countsOf("patterns")).masked === names.length);
  expect(await countsOf("session")).toEqual({ dropped: 0, masked: 0 });
});

describe("a large body, decoded apart", () => {
  test("is dropped and masked entry by entry, and counted exactly", async () => {
    const before = { noise: await countsOf("noise"), session: await countsOf("session") };
    const padding = "x".repeat(1000);
    const entries = Array.from({ length: 500 }, (_, i) => ({
      message: i % 5 === 0 ? `${NOISE} ${i} ${TEXT}` : `large ${i} ${MARKER} ${padding}`,
      attrs: i % 2 === 0 ? { session: SESSION } : { deep: { session: SESSION, n: i }, mail: EMAIL },
    }));
    expect(await call("POST", "/api/v1/logs/ingest", entries)).toEqual({ accepted: 500, duplicates: 0 });
    const stored = await eventually("what is kept", async () => {
      const stored = await found(`large`);
      return stored.length === 400 && stored;
    });
    for (const { attrs } of stored)
      expect(attrs).toEqual(
        "deep" in attrs
          ? { deep: { session: "[masked]", n: expect.any(Number) }, mail: "[email]" }
          : { session: "[masked]" },
      );
    expect(await found(NOISE)).toEqual([]);
    await eventually(
      "all are counted",
      async () => (await countsOf("session")).masked === before.session.masked + 400,
    );
    expect((await countsOf("noise")).dropped).toBe(before.noise.dropped + 100);
    expectNowhere();
  });
});

describe("records that are no entries", () => {
  test("are kept in the quarantine, shown in answers and as the reason of a source without what is masked", async () => {
    const record = {
      at: `yesterday ${CARD}`,
      text: `${MARKER} ${TEXT}`,
      deep: { session: SESSION },
      person: { name: SESSION },
    };
    const records = Array.from({ length: 20 }, () => record);
    for (let i = 0; i < 4; i++) {
      const answer = await call("POST", "/api/v1/ingest/strict", records);
      expect(answer.quarantined).toBe(20);
      for (const secret of SECRETS) expect(JSON.stringify(answer)).not.toContain(secret);
    }
    const { items } = await call("GET", "/api/v1/ingest/quarantine?limit=1");
    const kept: { id: number }[] = JSON.parse(JSON.stringify(items));
    const { raw } = await call("GET", `/api/v1/ingest/quarantine/${kept[0]?.id}`);
    expect(JSON.parse(String(raw))).toEqual({
      at: "yesterday [card]",
      text: `${MARKER} ${MASKED_TEXT}`,
      deep: { session: "[masked]" },
      person: { name: "[masked]" },
    });
    await eventually("the source is in error", async () => {
      const { status } = await call("GET", "/api/v1/ingest/sources/strict");
      return status === "error";
    });
    expectNowhere();
  });

  test("that no format can be made of are masked as texts", async () => {
    const response = await fetch(`${server.url}/api/v1/ingest/shop-ndjson`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
      body: `{"text": "${TEXT}", "session": "${SESSION}", broken\nsession=${SESSION} ${MARKER}\n`,
    });
    expect(await response.json()).toMatchObject({ accepted: 0, quarantined: 2 });
    expectNowhere();
  });

  test("samples of a learning source are masked", async () => {
    await call("POST", "/api/v1/ingest/learner", [{ msg: `${MARKER} ${TEXT}`, session: SESSION }]);
    const samples = await eventually("a sample", async () => {
      const { samples } = await call("GET", "/api/v1/ingest/sources/learner");
      return Array.isArray(samples) && samples.length > 0 && JSON.stringify(samples);
    });
    expect(samples).toContain("[masked]");
    for (const secret of SECRETS) expect(samples).not.toContain(secret);
    expectNowhere();
  });
});

test("a preview says what then happens", async () => {
  const messages = Array.from({ length: 30 }, (_, i) => ({
    message: `preview ${i}`,
    service: i % 3 === 0 ? "shop" : "other",
    attrs: { customer: `c${i}`, address: { street: "Main" } },
  }));
  const from = new Date(Date.now() - 3_600_000).toISOString();
  const to = new Date(Date.now() + 3_600_000).toISOString();
  await call("POST", "/api/v1/logs/ingest", messages, other);
  await eventually("they are stored", async () => (await found("preview", other)).length === 30);
  const rule = {
    name: "customers",
    action: "mask",
    query: 'service == "shop"',
    fields: ["customer", "address.street"],
  };
  const preview = await call("POST", "/api/v1/ingest/rules/preview", { ...rule, from, to }, other);
  expect(preview).toMatchObject({ entries: 30, matching: 10, examined: 10, changed: 10, partial: false });
  expect(preview.samples).toHaveLength(10);
  const shown = JSON.parse(JSON.stringify(preview.samples)).map((sample: { before: Entry; after: Entry }) => [
    sample.before.message,
    sample.after.attrs,
  ]);
  const { id } = await call("POST", "/api/v1/ingest/rules", rule, other);
  await call("POST", "/api/v1/logs/ingest", messages, other);
  const happened = await eventually("they are stored again", async () => {
    const entries = await found("preview", other);
    return entries.length === 60 && entries.filter(({ attrs }) => attrs.customer === "[masked]");
  });
  const asShown = happened.map(({ message, attrs }) => [
    message,
    { ...attrs, address: JSON.stringify(attrs.address) },
  ]);
  expect(asShown.toSorted()).toEqual(shown.toSorted());
  await eventually("it is counted", async () => {
    const { masked } = await call("GET", `/api/v1/ingest/rules/${id}/counts`, undefined, other);
    return masked === 10;
  });
});

test("another organisation's entries are as they were sent", async () => {
  const message = `${NOISE} of another: 4111 1111 1111 1111`;
  await call("POST", "/api/v1/logs/ingest", { message }, other);
  const entries = await eventually("its entry", async () => {
    const entries = await found(NOISE, other);
    return entries.length === 1 && entries;
  });
  expect(entries[0]?.message).toBe(message);
});

test("a kill right after the answer leaves nothing unmasked, and loses nothing", async () => {
  const body = Array.from({ length: 200 }, (_, i) => ({
    message: `killed ${i} ${MARKER} ${TEXT}`,
    attrs: { session: SESSION },
  }));
  expect((await call("POST", "/api/v1/logs/ingest", body)).accepted).toBe(200);
  server.kill("SIGKILL");
  await server.exited;
  expectNowhere();
  server = await start();
  const entries = await eventually("all entries", async () => {
    const entries = await found("killed");
    return entries.length === 200 && entries;
  });
  for (const { message } of entries) expect(message).toEndWith(`${MARKER} ${MASKED_TEXT}`);
  expectNowhere();
});

test("what is masked is in no column of the archive, whose files hide their bytes by packing them", async () => {
  const stored = (await found(MARKER)).length;
  expect(stored).toBeGreaterThan(200);
  await server.stop();
  const stores = await openStores(
    { dataDirectory: directory.path, clickhouseUrl: null, databaseUrl: null, redisUrl: null },
    createLogger("silent"),
  );
  let rows: string[];
  try {
    // Decades later everything is old, whatever time a wire gave it.
    const later = Date.now() + 30 * 365 * DAY_MS;
    const { run, files } = testArchiver(stores, directory.path, { now: () => later });
    await run();
    const organizations = await stores.postgres<{ id: number }[]>`SELECT id FROM organizations`;
    const units = await Promise.all(organizations.map(({ id }) => unitsOf(stores, id)));
    rows = [];
    for (const { file } of units.flat()) {
      if (file === null) continue;
      const { pattern, structure } = files.source([file]);
      const result = await stores.clickhouse.query({
        query: "SELECT * FROM file({pattern: String}, 'Parquet', {structure: String})",
        query_params: { pattern, structure },
        format: "JSONEachRow",
      });
      rows.push(...(await result.text()).trimEnd().split("\n"));
    }
  } finally {
    await stores.close();
  }
  // The files are read as they are: what is not masked is there to be found.
  expect(rows.filter((row) => row.includes(MARKER)).length).toBeGreaterThanOrEqual(stored);
  expect(rows.some((row) => row.includes(MASKED_TEXT))).toBe(true);
  for (const secret of SECRETS)
    expect([secret, rows.filter((row) => row.includes(secret))]).toEqual([secret, []]);
  expectNowhere();
  server = await start();
});
