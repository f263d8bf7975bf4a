/** The drain of a deployment platform against a running server: what is stored, whose signature counts, the handshake. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { gzipSync } from "node:zlib";
import { openTestStores, type TestStores } from "../../../../harness/stores.ts";
import { makeTenant, type Tenant } from "../../tail/tail-server.ts";
import { type ReceiveServer, startReceiveServer } from "../receive-server.ts";

const SETTINGS = "/api/v1/logs/ingest/platform-a/settings";
const SECRET = "a secret of the platform";

let stores: TestStores;
let server: ReceiveServer;
let tenant: Tenant;

beforeAll(async () => {
  stores = await openTestStores();
  server = await startReceiveServer(stores);
});
afterAll(async () => {
  await server.close();
  await stores.close();
});
beforeEach(async () => {
  tenant = await makeTenant(stores);
  await stores.postgres`UPDATE memberships SET role = 'admin' WHERE user_id = ${tenant.userId}`;
});

const record = (message: string, level: string, source: string) => ({
  id: crypto.randomUUID(),
  projectId: "prj_example",
  timestamp: 1_795_255_200_000,
  level,
  message,
  source,
});
const RECORDS = JSON.stringify([record("a", "info", "lambda"), record("b", "error", "edge")]);

function post(
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
  token = tenant.token,
): Promise<Response> {
  return fetch(`${server.url}/api/v1/logs/ingest/platform-a/${token}`, { method: "POST", headers, body });
}

function sign(body: string | Uint8Array, secret = SECRET): Record<string, string> {
  return { "x-vercel-signature": createHmac("sha1", secret).update(body).digest("hex") };
}

function settings(method: string, body?: unknown): Promise<Response> {
  return fetch(`${server.url}${SETTINGS}`, {
    method,
    headers: { authorization: `Bearer ${tenant.token}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

async function codeOf(response: Response): Promise<string> {
  const body: { code: string } = JSON.parse(await response.text());
  return `${response.status} ${body.code}`;
}

describe("a request", () => {
  test("is stored, and sent again it is not stored again", async () => {
    const first = await post(RECORDS, { "content-type": "application/json" });
    expect([first.status, await first.json()]).toEqual([
      202,
      { accepted: 2, duplicates: 0, rejected: 0, quarantined: 0, errors: [] },
    ]);
    const again = await post(RECORDS);
    expect(await again.json()).toMatchObject({ accepted: 2, duplicates: 2 });
    const lines = RECORDS.slice(1, -1).replace("},{", "}\n{");
    expect(await (await post(lines, { "content-type": "application/x-ndjson" })).json()).toMatchObject({
      duplicates: 2,
    });
    const stored = await server.stored(tenant.organizationId, 2);
    expect(stored.map(({ message, level, source }) => [message, level, source])).toEqual([
      ["a", "info", "lambda"],
      ["b", "error", "edge"],
    ]);
  });

  test("with ids of the application's own loses no record that shares one, with another sender neither", async () => {
    const records = ["created", "paid"].map((message, i) => ({
      id: "order-17",
      timestamp: 1_795_255_200_000 + i,
      message,
    }));
    expect(await (await post(JSON.stringify(records))).json()).toMatchObject({ accepted: 2, duplicates: 0 });
    const drained = record("drained", "info", "lambda");
    const native = await fetch(`${server.url}/api/v1/logs/ingest`, {
      method: "POST",
      headers: { authorization: `Bearer ${tenant.token}`, "content-type": "application/json" },
      body: JSON.stringify([{ message: "native", event_id: drained.id }]),
    });
    expect(native.status).toBe(202);
    expect(await (await post(JSON.stringify([drained]))).json()).toMatchObject({ duplicates: 0 });
    const stored = await server.stored(tenant.organizationId, 4);
    expect(stored.map(({ message, event_id }) => [message, event_id])).toEqual([
      ["created", ""],
      ["drained", `platform-a:${drained.id}`],
      ["native", drained.id],
      ["paid", ""],
    ]);
  });

  test("keeps in the quarantine what is no record, and stores the rest", async () => {
    const answer = await post('{"message":"kept"}\nnot json\n{"message":', {
      "content-type": "application/json",
    });
    expect([answer.status, await answer.json()]).toEqual([
      202,
      {
        accepted: 1,
        duplicates: 0,
        rejected: 0,
        quarantined: 2,
        errors: [
          { place: "line 2", reason: "is no JSON object" },
          { place: "line 3", reason: "is a JSON object without an end" },
        ],
      },
    ]);
    await server.stored(tenant.organizationId, 1);
    expect(await server.quarantined(tenant.organizationId)).toBe(2);
  });

  test("that is no drain's is refused", async () => {
    expect(await codeOf(await post("<html>"))).toBe("400 VALIDATION_FAILED");
    expect(await codeOf(await post('[{"message":"cut'))).toBe("400 VALIDATION_FAILED");
  });

  test("needs a token that may write logs", async () => {
    expect(await codeOf(await post(RECORDS, {}, `obs_${"x".repeat(43)}`))).toBe("401 UNAUTHENTICATED");
    expect(await codeOf(await post(RECORDS, {}, "settings"))).toBe("401 UNAUTHENTICATED");
    const reader = await makeTenant(stores, ["logs:read"]);
    expect(await codeOf(await post(RECORDS, {}, reader.token))).toBe("403 PAT_SCOPE_INSUFFICIENT");
  });
});

describe("with a secret configured", () => {
  beforeEach(async () => {
    expect((await settings("PUT", { secret: SECRET })).status).toBe(200);
  });

  test("a request must be signed with it, over the body as it was sent", async () => {
    expect(await codeOf(await post(RECORDS))).toBe("403 SIGNATURE_INVALID");
    expect(await codeOf(await post(RECORDS, sign(RECORDS, "another secret")))).toBe("403 SIGNATURE_INVALID");
    expect(await codeOf(await post(`${RECORDS} `, sign(RECORDS)))).toBe("403 SIGNATURE_INVALID");
    for (const wrong of ["", "zz", "ab", `${sign(RECORDS)["x-vercel-signature"]}00`])
      expect(await codeOf(await post(RECORDS, { "x-vercel-signature": wrong }))).toBe(
        "403 SIGNATURE_INVALID",
      );
    expect((await post(RECORDS, sign(RECORDS))).status).toBe(202);
    const packed = gzipSync(RECORDS);
    expect((await post(packed, { ...sign(packed), "content-encoding": "gzip" })).status).toBe(202);
    expect(await codeOf(await post(packed, { ...sign(RECORDS), "content-encoding": "gzip" }))).toBe(
      "403 SIGNATURE_INVALID",
    );
    await server.stored(tenant.organizationId, 2);
  });

  test("it holds on the other paths, too, for what such a platform sends", async () => {
    const url = `${server.url}/api/v1/logs/ingest/stream-a/${tenant.token}`;
    const wrong = await fetch(url, { method: "POST", headers: sign(RECORDS, "wrong"), body: RECORDS });
    expect(await codeOf(wrong)).toBe("403 SIGNATURE_INVALID");
    expect((await fetch(url, { method: "POST", headers: sign(RECORDS), body: RECORDS })).status).toBe(200);
  });

  test("another organisation's requests need no signature", async () => {
    const other = await makeTenant(stores);
    expect((await post(RECORDS, {}, other.token)).status).toBe(202);
  });

  test("it counts until it is removed, which is noticed at once", async () => {
    expect(await codeOf(await post(RECORDS))).toBe("403 SIGNATURE_INVALID");
    expect((await settings("DELETE")).status).toBe(204);
    expect((await post(RECORDS)).status).toBe(202);
  });
});

describe("the handshake", () => {
  const VERIFY = "x-vercel-verify";

  test("is answered with the configured code, on every way a platform may ask", async () => {
    expect((await settings("PUT", { secret: SECRET, verificationCode: "abc123" })).status).toBe(200);
    const url = `${server.url}/api/v1/logs/ingest/platform-a/${tenant.token}`;
    for (const method of ["GET", "HEAD", "POST"]) {
      const answer = await fetch(url, { method });
      expect([method, answer.status, answer.headers.get(VERIFY)]).toEqual([method, 200, "abc123"]);
    }
    const signed = await post(RECORDS, sign(RECORDS));
    expect([signed.status, signed.headers.get(VERIFY)]).toEqual([200, "abc123"]);
    expect(await codeOf(await post(RECORDS))).toBe("403 SIGNATURE_INVALID");
  });

  test("echoes the code of the request where none is configured", async () => {
    const answer = await post("{}", { [VERIFY]: "7f4677df" });
    expect([answer.status, answer.headers.get(VERIFY)]).toEqual([200, "7f4677df"]);
    expect(await answer.json()).toMatchObject({ accepted: 0 });
    expect((await post(RECORDS)).headers.get(VERIFY)).toBeNull();
  });
});

describe("the settings", () => {
  test("are shown without the secret, replaced whole, and removed", async () => {
    expect(await codeOf(await settings("GET"))).toBe("404 NOT_FOUND");
    const put = await settings("PUT", { secret: SECRET, verificationCode: "code" });
    const made = await put.text();
    expect(JSON.parse(made)).toMatchObject({ signatureRequired: true, verificationCode: "code" });
    expect(await (await settings("GET")).text()).toBe(made);
    expect(await (await settings("PUT", {})).json()).toMatchObject({
      signatureRequired: false,
      verificationCode: null,
    });
    expect((await settings("DELETE")).status).toBe(204);
    expect(await codeOf(await settings("DELETE"))).toBe("404 NOT_FOUND");
  });

  test("keep the secret out of the database and the audit log", async () => {
    await settings("PUT", { secret: SECRET });
    const [row] = await stores.postgres<{ secret: Buffer }[]>`
      SELECT signing_secret AS secret FROM deployment_drain_settings WHERE organization_id = ${tenant.organizationId}`;
    expect(Buffer.from(row?.secret ?? []).includes(SECRET)).toBe(false);
    const audit = await stores.postgres`
      SELECT action, resource, meta::text FROM audit_log WHERE organization_id = ${tenant.organizationId}`;
    expect(audit.map(({ action }) => action)).toEqual(["SET_DEPLOYMENT_DRAIN_SETTINGS"]);
    expect(JSON.stringify(audit)).not.toContain(SECRET);
  });

  test("refuse what cannot be one", async () => {
    for (const body of [
      { secret: "short" },
      { verificationCode: "two words" },
      { verificationCode: "" },
      { other: 1 },
    ])
      expect(await codeOf(await settings("PUT", body))).toBe("400 VALIDATION_FAILED");
  });
});
