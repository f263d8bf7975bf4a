import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "../harness/eventually.ts";
import { makeToken, type ServerProcess, startServer } from "../harness/server-process.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../harness/temporary-directory.ts";

/**
 * What belongs to another organisation looks exactly like what does not exist, for every operation of the server's own
 * OpenAPI document that names something in its path. An operation without a sample here fails: it is covered on the
 * day it is added.
 */

interface Sample {
  /** Makes such a thing as the owner of a token and answers what stands in the path. */
  readonly make: (token: string) => Promise<string>;
  /** A body that is fine, by method. */
  readonly bodies?: Readonly<Record<string, unknown>>;
}

let directory: TemporaryDirectory;
let server: ServerProcess;
let own: string;
let foreign: string;
let operations: { method: string; path: string }[];

/** Paths whose parameter names nothing that an organisation owns, and why. */
const NAMES_NOTHING_OWNED: Readonly<Record<string, string>> = {
  "/api/v1/auth/sso/{slug}/start": "public: whoever knows the slug may begin to sign in",
  "/api/v1/me/sso/domains/{domain}/verify": "a name of the DNS, looked up among the domains of the caller",
  "/api/v1/logs/ingest/platform-a/{token}": "the caller's own credential",
  "/api/v1/logs/ingest/platform-b/{token}": "the caller's own credential",
  "/api/v1/logs/ingest/stream-a/{token}": "the caller's own credential",
  "/api/v1/logs/ingest/journal/{token}/upload": "the caller's own credential",
  "/elasticsearch/{index}/_doc": "a name that the sender chooses: the source of its entries",
  "/elasticsearch/{index}/_doc/{id}":
    "names that the sender chooses: the source of its entry and what it is known by",
  "/elasticsearch/{index}/_create/{id}":
    "names that the sender chooses: the source of its entry and what it is known by",
  "/elasticsearch/{index}": "the server keeps none; every name is answered alike",
  "/elasticsearch/{index}/_bulk": "a name that the sender chooses: the source of its entries",
  "/elasticsearch/_ilm/policy/{name}": "the server keeps none; every name is answered alike",
  "/elasticsearch/_index_template/{name}": "the server keeps none; every name is answered alike",
  "/elasticsearch/_component_template/{name}": "the server keeps none; every name is answered alike",
  "/elasticsearch/_template/{name}": "the server keeps none; every name is answered alike",
  "/elasticsearch/_ingest/pipeline/{name}": "the server keeps none; every name is answered alike",
  "/elasticsearch/_data_stream/{name}": "the server keeps none; every name is answered alike",
};

const SAMPLES: Readonly<Record<string, Sample>> = {
  "/api/v1/saved-searches/{id}": {
    make: (token) => idOf(token, "/api/v1/saved-searches", { name: "a search" }),
    bodies: { PATCH: { name: "renamed" } },
  },
  "/api/v1/me/tokens/{id}": { make: (token) => idOf(token, "/api/v1/me/tokens", { name: "a token" }) },
  "/api/v1/me/members/{userId}": { make: ownUserId, bodies: { PATCH: { role: "viewer" } } },
  "/api/v1/me/invites/{id}": {
    make: (token) =>
      idOf(token, "/api/v1/me/invites", { email: `${crypto.randomUUID()}@example.com`, role: "member" }),
  },
  "/api/v1/logs/{id}": { make: logEntryId },
  "/api/v1/ingest/sources/{key}": { make: sourceKey, bodies: { PATCH: { name: "renamed" } } },
  "/api/v1/ingest/sources/{key}/infer-mapping": {
    make: sourceKey,
    bodies: { POST: { sample: { msg: "x" } } },
  },
  "/api/v1/ingest/{sourceKey}": { make: sourceKey, bodies: { POST: { msg: "x" } } },
  "/api/v1/ingest/quarantine/{id}": { make: quarantinedRecordId },
  "/api/v1/logs/{id}/context": { make: logEntryId },
};

beforeAll(async () => {
  directory = temporaryDirectory();
  server = await startServer({ dataDirectory: directory.path });
  own = await makeToken(server.url);
  foreign = await makeToken(server.url);
  const document: { paths: Record<string, Record<string, unknown>> } = JSON.parse(
    await (await fetch(`${server.url}/openapi.json`)).text(),
  );
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
  );
}, 60_000);
afterAll(async () => {
  await server.stop();
  directory[Symbol.dispose]();
});

async function send(
  token: string,
  method: string,
  path: string,
  json?: unknown,
): Promise<{ status: number; text: string }> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    redirect: "manual",
    headers: {
      authorization: `Bearer ${token}`,
      ...(json !== undefined && { "content-type": "application/json" }),
    },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  return { status: response.status, text: await response.text() };
}

async function idOf(token: string, path: string, json: unknown): Promise<string> {
  const { status, text } = await send(token, "POST", path, json);
  if (status !== 201) throw new Error(`${path} answered ${status}: ${text}`);
  const made: { id: number | string } = JSON.parse(text);
  return String(made.id);
}

async function sourceKey(token: string): Promise<string> {
  const key = `source-${crypto.randomUUID()}`;
  const { status } = await send(token, "POST", "/api/v1/ingest/sources", {
    sourceKey: key,
    name: "a source",
  });
  if (status !== 201) throw new Error(`the source was answered ${status}`);
  return key;
}

async function ownUserId(token: string): Promise<string> {
  const me: { user: { id: number } } = JSON.parse((await send(token, "GET", "/api/v1/me")).text);
  return String(me.user.id);
}

async function logEntryId(token: string): Promise<string> {
  const message = `entry ${crypto.randomUUID()}`;
  await send(token, "POST", "/api/v1/logs/ingest", { message });
  return eventually("the entry is found", async () => {
    const { text } = await send(token, "GET", `/api/v1/logs/search?q=${encodeURIComponent(`"${message}"`)}`);
    const found: { entries: { id: string }[] } = JSON.parse(text);
    return found.entries[0]?.id ?? null;
  });
}

async function quarantinedRecordId(token: string): Promise<string> {
  await send(token, "POST", `/api/v1/logs/ingest/platform-a/${token}`, ["no object"]);
  const { text } = await send(token, "GET", "/api/v1/ingest/quarantine?limit=1");
  const found: { items: { id: number }[] } = JSON.parse(text);
  return String(found.items[0]?.id);
}

const withoutRequestId = (text: string): string => text.replace(/"requestId":"[^"]*"/, "");

describe("the id of another organisation", () => {
  test("has a sample for every operation with something in its path", () => {
    const missing = operations
      .map(({ path }) => path)
      .filter(
        (path) =>
          path.includes("{") && SAMPLES[path] === undefined && NAMES_NOTHING_OWNED[path] === undefined,
      );
    expect([...new Set(missing)]).toEqual([]);
  });

  test("is 404 in the words of an id that nothing has, and nothing happens to it", async () => {
    for (const { method, path } of operations) {
      const sample = SAMPLES[path];
      if (sample === undefined) continue;
      const at = (id: string): string => path.replace(/\{[^}]+\}/, id);
      const body = sample.bodies?.[method] ?? (method === "GET" || method === "DELETE" ? undefined : {});
      const id = await sample.make(foreign);
      const theirs = await send(own, method, at(id), body);
      const nobodys = await send(own, method, at("999999999999"), body);
      expect([method, path, theirs.status]).toEqual([method, path, 404]);
      expect(withoutRequestId(theirs.text)).toBe(withoutRequestId(nobodys.text));
      // Its own organisation still has it, which also shows that the sample is a good one.
      const kept = await send(foreign, method, at(id), body);
      expect([method, path, kept.status < 500 && kept.status !== 404]).toEqual([method, path, true]);
    }
  }, 60_000);
});
