/** What holds for every way in which logs come in over HTTP, as the whole program takes them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { hashToken, mintPersonalAccessToken } from "../../src/access/secret-token.ts";
import { eventually } from "../harness/eventually.ts";
import { ingestEntries, type ServerProcess, startServer } from "../harness/server-process.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../harness/temporary-directory.ts";
import { expectText, RECEIVER_WIRES, type ReceiverWire, WIRE_SOURCES } from "./receiver-wires.ts";

const MIB = 1024 * 1024;
const BOMB = gzipSync(Buffer.alloc(200 * MIB), { level: 1 });
const ZEROS = new Uint8Array(64 * MIB + 1);
/** Less than one bomb takes while it is unpacked whole; all of them together would take 3 GB. */
const BOMBS_MAX_GROWTH_BYTES = 400 * MIB;
const PLAN_BYTES = MIB;
/** Packs to a fraction. */
const PADDING = "x".repeat(2000);
const WIRES = RECEIVER_WIRES.map((wire) => [wire.name, wire] as const);

let stores: TestStores;
let directories: TemporaryDirectory[];
let server: ServerProcess;
/** Another instance over the same stores, with a plan. */
let planned: ServerProcess;
/** What ended servers have written. */
let output = "";
const tokens: string[] = [];
let organizationId: number;
let token: string;

const start = (directory: TemporaryDirectory, env: Record<string, string> = {}): Promise<ServerProcess> =>
  startServer({
    dataDirectory: directory.path,
    env: {
      DATABASE_URL: stores.postgresUrl,
      CLICKHOUSE_URL: stores.clickhouseUrl,
      LOG_LEVEL: "debug",
      ...env,
    },
  });

beforeAll(async () => {
  stores = await openTestStores();
  const [first, second] = [temporaryDirectory(), temporaryDirectory()];
  directories = [first, second];
  [server, planned] = await Promise.all([
    start(first),
    start(second, { PLAN_MONTHLY_LOG_BYTES: String(PLAN_BYTES) }),
  ]);
  organizationId = await makeOrganization();
  token = await makeToken(organizationId);
});
afterAll(async () => {
  await Promise.all([server.stop(), planned.stop()]);
  await stores.close();
  for (const directory of directories) directory[Symbol.dispose]();
});

/** With the sources that the wires need. */
async function makeOrganization(): Promise<number> {
  const { postgres: sql } = stores;
  const [row] = await sql<{ id: number }[]>`
    WITH organization AS (
      INSERT INTO organizations (name, created_at) VALUES ('receivers', now()) RETURNING id
    ), person AS (
      INSERT INTO users (email, created_at) VALUES (${`${crypto.randomUUID()}@example.com`}, now()) RETURNING id
    )
    INSERT INTO memberships (organization_id, user_id, role, created_at)
    SELECT organization.id, person.id, 'member', now() FROM organization, person RETURNING organization_id AS id`;
  if (row === undefined) throw new Error("no organisation");
  const headers = {
    authorization: `Bearer ${await makeToken(row.id, { scopes: ["sources:write"] })}`,
    "content-type": "application/json",
  };
  for (const source of WIRE_SOURCES) {
    const body = JSON.stringify(source);
    const response = await fetch(`${server.url}/api/v1/ingest/sources`, { method: "POST", headers, body });
    if (response.status !== 201) throw new Error(`no source: ${await response.text()}`);
  }
  return row.id;
}

interface TokenOptions {
  readonly scopes?: readonly string[];
  readonly dailyBytes?: number;
  readonly isRevoked?: boolean;
}

/** A token of the organisation's only member. */
async function makeToken(organization: number, options: TokenOptions = {}): Promise<string> {
  const { scopes = ["logs:write", "logs:read"], dailyBytes = null, isRevoked = false } = options;
  const minted = mintPersonalAccessToken();
  tokens.push(minted);
  await stores.postgres`
    INSERT INTO personal_access_tokens
      (organization_id, user_id, token_hash, name, prefix, scopes, daily_log_bytes_limit, created_at, revoked_at)
    SELECT organization_id, user_id, ${hashToken(minted)}, 'receivers', ${minted.slice(0, 12)}, ${[...scopes]},
           ${dailyBytes}, now(), CASE WHEN ${isRevoked} THEN now() END
    FROM memberships WHERE organization_id = ${organization}`;
  return minted;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

async function send(
  to: ServerProcess,
  wire: ReceiverWire,
  credential: string,
  body: string | Uint8Array<ArrayBuffer>,
  { packed = false } = {},
): Promise<Answer> {
  const headers = { ...wire.headers(credential), ...(packed && { "content-encoding": "gzip" }) };
  const url = to.url + wire.path(credential);
  const bytes = packed && typeof body === "string" ? gzipSync(body) : body;
  const response = await fetch(url, { method: "POST", headers, body: bytes });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? {} : JSON.parse(text) };
}

/** A refusal in our envelope, with what the sender looks for. */
function expectRefusal(answer: Answer, wire: ReceiverWire, status: number, code: string): void {
  const shape = Object.entries(wire.refusal(status)).map(([name, value]) => [
    name,
    value === expectText ? expect.any(String) : value,
  ]);
  expect(answer.status).toBe(status);
  expect(answer.body).toMatchObject({
    code,
    error: expect.any(String),
    requestId: expect.any(String),
    ...Object.fromEntries(shape),
  });
}

/** The messages with a word, once all that was sent before is visible, which it becomes in the order of acceptance. */
async function messagesWith(word: string): Promise<string[]> {
  const search = async (q: string): Promise<string[]> => {
    const response = await fetch(`${server.url}/api/v1/logs/search?limit=100&q=${encodeURIComponent(q)}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { entries }: { entries: { message: string }[] } = JSON.parse(await response.text());
    return entries.map(({ message }) => message);
  };
  const last = `last-${crypto.randomUUID()}`;
  await ingestEntries(server.url, token, { message: last });
  await eventually("the last entry is found", async () => (await search(`"${last}"`)).length === 1);
  return (await search(`"${word}"`)).toSorted();
}

/** What the daily counter of a token says; null before the first count. */
async function counted(credential: string): Promise<number | null> {
  const [row] = await stores.postgres<{ bytes: string }[]>`
    SELECT log_bytes AS bytes FROM token_usage JOIN personal_access_tokens AS token ON token.id = token_id
    WHERE token_hash = ${hashToken(credential)}`;
  return row === undefined ? null : Number(row.bytes);
}

test("a record is found exactly once, whether its request was packed or not", async () => {
  const sent: string[] = [];
  for (const wire of RECEIVER_WIRES) {
    for (const packed of [false, true]) {
      const message = `arrives by ${wire.name} ${packed ? "packed" : "plain"}`;
      const { status } = await send(server, wire, token, wire.body(message), { packed });
      expect([message, status]).toEqual([message, wire.acknowledges]);
      sent.push(message);
    }
  }
  expect(await messagesWith("arrives")).toEqual(sent.toSorted());
});

describe("a token's daily bytes", () => {
  test("are counted unpacked; what does not fit is refused, not stored and not counted", async () => {
    const stored: string[] = [];
    for (const wire of RECEIVER_WIRES) {
      const body = (what: string): string => wire.body(`capped ${wire.name} ${what} ${PADDING}`);
      const bytes = wire.counted(body("fits"));
      expect(gzipSync(body("fits")).length).toBeLessThan(bytes);
      const small = await makeToken(organizationId, { dailyBytes: bytes - 1 });
      const refused = await send(server, wire, small, body("over"), { packed: true });
      expectRefusal(refused, wire, 429, "PAT_DAILY_LIMIT_EXCEEDED");
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(await counted(small)).toBe(null);

      const enough = await makeToken(organizationId, { dailyBytes: bytes });
      const taken = await send(server, wire, enough, body("fits"), { packed: true });
      expect([wire.name, taken.status]).toEqual([wire.name, wire.acknowledges]);
      expect(await counted(enough)).toBe(bytes);
      const further = await send(server, wire, enough, body("more"), { packed: true });
      expectRefusal(further, wire, 429, "PAT_DAILY_LIMIT_EXCEEDED");
      expect(await counted(enough)).toBe(bytes);
      stored.push(`capped ${wire.name} fits ${PADDING}`);
    }
    expect(await messagesWith("capped")).toEqual(stored.toSorted());
  });

  test("are counted across instances and restarts", async () => {
    const [wire] = RECEIVER_WIRES;
    const [directory] = directories;
    if (wire === undefined || directory === undefined) throw new Error("nothing to send");
    const body = wire.body("counted across");
    const credential = await makeToken(organizationId, { dailyBytes: 3 * wire.counted(body) });
    const status = async (to: ServerProcess): Promise<number> =>
      (await send(to, wire, credential, body)).status;
    expect([await status(server), await status(planned)]).toEqual([202, 202]);
    await server.stop();
    output += server.output();
    server = await start(directory);
    expect([await status(server), await status(server), await status(planned)]).toEqual([202, 429, 429]);
    expect(await counted(credential)).toBe(3 * wire.counted(body));
  });
});

test.each(WIRES)("the plan's monthly bytes bound what comes by %s", async (_name, wire) => {
  const { postgres: sql } = stores;
  await sql`
    INSERT INTO organization_usage (organization_id, month, log_bytes)
    VALUES (${organizationId}, date_trunc('month', now() AT TIME ZONE 'UTC')::date, ${PLAN_BYTES})
    ON CONFLICT (organization_id, month) DO UPDATE SET log_bytes = ${PLAN_BYTES}`;
  const capped = await makeToken(organizationId, { dailyBytes: PLAN_BYTES });
  const over = wire.body(`beyond the plan ${PADDING}`);
  const refused = await send(planned, wire, capped, over, { packed: true });
  expectRefusal(refused, wire, 429, "PLAN_LIMIT_LOG_BYTES");
  expect((await counted(capped)) ?? 0).toBe(0);
  const body = wire.body(`within the plan ${PADDING}`);
  const bytes = wire.counted(body);
  await sql`UPDATE organization_usage SET log_bytes = ${PLAN_BYTES - bytes} WHERE organization_id = ${organizationId}`;
  expect((await send(planned, wire, capped, body, { packed: true })).status).toBe(wire.acknowledges);
  expect(await counted(capped)).toBe(bytes);
});

test.each(WIRES)(
  "a token without logs:write, a revoked and an unknown one are refused on %s",
  async (_name, wire) => {
    const body = wire.body("forbidden");
    const reader = await makeToken(organizationId, { scopes: ["logs:read"] });
    const revoked = await makeToken(organizationId, { isRevoked: true });
    const unknown = mintPersonalAccessToken();
    tokens.push(unknown);
    expectRefusal(await send(server, wire, reader, body), wire, 403, "PAT_SCOPE_INSUFFICIENT");
    expectRefusal(await send(server, wire, revoked, body), wire, 401, "UNAUTHENTICATED");
    expectRefusal(await send(server, wire, unknown, body), wire, 401, "UNAUTHENTICATED");
  },
);

test("bodies that are or unpack to more than the limit are refused without taking memory", async () => {
  const memory = (name: "VmRSS" | "VmHWM"): number => {
    const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
    return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) * 1024;
  };
  // Makes the peak the present.
  writeFileSync(`/proc/${server.pid}/clear_refs`, "5");
  const before = memory("VmRSS");
  for (const wire of RECEIVER_WIRES) {
    const code = wire.tooLarge === 413 ? "PAYLOAD_TOO_LARGE" : "VALIDATION_FAILED";
    const refused = await send(server, wire, token, BOMB, { packed: true });
    expectRefusal(refused, wire, wire.tooLarge, code);
    const large = ZEROS.subarray(0, wire.maxBodyBytes + 1);
    expectRefusal(await send(server, wire, token, large), wire, wire.tooLarge, code);
  }
  expect(memory("VmHWM") - before).toBeLessThan(BOMBS_MAX_GROWTH_BYTES);
});

test("nothing refused was stored, and no token reached the log", async () => {
  expect(await messagesWith("forbidden")).toEqual([]);
  expect(await messagesWith("beyond the plan")).toEqual([]);
  const lines = output + server.output() + planned.output();
  expect(lines).toContain("/services/collector");
  for (const secret of tokens) {
    const forms = [secret.slice(4), ...["obs", "id"].map((user) => btoa(`${user}:${secret}`).slice(12))];
    for (const form of forms) expect(lines.includes(form)).toBe(false);
  }
});
