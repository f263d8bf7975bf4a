/** The drain of an application platform against a running server. */
import { describe, expect, test } from "bun:test";
import { receiveSuite } from "../receive-server.ts";

const suite = receiveSuite();

function framed(...messages: string[]): string {
  return messages
    .map((message) => `<158>1 2026-11-21T10:00:00.5+00:00 host app web.1 - ${message}\n`)
    .map((frame) => `${Buffer.byteLength(frame)} ${frame}`)
    .join("");
}

function post(
  body: string,
  headers: Record<string, string> = {},
  platform = "platform-b",
): Promise<Response> {
  return fetch(`${suite.server.url}/api/v1/logs/ingest/${platform}/${suite.tenant.token}`, {
    method: "POST",
    headers: { "content-type": "application/logplex-1", "logplex-drain-token": "d.1", ...headers },
    body,
  });
}

describe("a request", () => {
  test("is stored once, however often the sender repeats it under the same id", async () => {
    const headers = { "logplex-frame-id": "09C557EAFCFB6CF2740EE62F62971098", "logplex-msg-count": "2" };
    const body = framed("a é", "b");
    const first = await post(body, headers);
    expect([first.status, await first.json()]).toEqual([
      202,
      { accepted: 2, duplicates: 0, rejected: 0, quarantined: 0, errors: [] },
    ]);
    const again = await post(body, headers);
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([202, "true"]);
    const stored = await suite.server.stored(suite.tenant.organizationId, 2);
    expect(
      stored.map(({ message, service, attrs }) => [message, service, attrs["logplex.drain_token"]]),
    ).toEqual([
      ["a é", "app", "d.1"],
      ["b", "app", "d.1"],
    ]);
  });

  test("under the id of another one is stored as what it is: an answer with 4xx would lose it", async () => {
    const headers = { "logplex-frame-id": "1" };
    await post(framed("a"), headers);
    expect(await (await post(framed("b"), headers)).json()).toMatchObject({ accepted: 1, duplicates: 0 });
    await suite.server.stored(suite.tenant.organizationId, 2);
  });

  test("of which a part cannot be framed, or that counts other messages, is accepted and the rest is kept", async () => {
    const broken = await post(`${framed("a")}no frame`);
    expect([broken.status, await broken.json()]).toMatchObject([202, { accepted: 1, quarantined: 1 }]);
    const short = await post(framed("b"), { "logplex-msg-count": "3" });
    expect([short.status, await short.json()]).toMatchObject([202, { accepted: 1, quarantined: 1 }]);
    await suite.server.stored(suite.tenant.organizationId, 2);
    expect(await suite.server.quarantined(suite.tenant.organizationId)).toBe(2);
  });

  test("repeated under the same id keeps its rejected part once", async () => {
    const headers = { "logplex-frame-id": "7" };
    for (let i = 0; i < 2; i++) expect((await post(`${framed("a")}no frame`, headers)).status).toBe(202);
    expect(await suite.server.quarantined(suite.tenant.organizationId)).toBe(1);
    await suite.server.stored(suite.tenant.organizationId, 1);
  });

  test("is understood on the paths of other platforms, and theirs on its own", async () => {
    for (const platform of ["platform-a", "stream-a"])
      expect((await post(framed(platform), {}, platform)).ok).toBe(true);
    const plain = { "content-type": "application/json", "logplex-drain-token": "" };
    expect(await (await post('[{"message":"json"}]', plain)).json()).toMatchObject({ accepted: 1 });
    const envelope = {
      requestId: "r",
      timestamp: 1,
      records: [{ data: Buffer.from("delivered").toString("base64") }],
    };
    expect(await (await post(JSON.stringify(envelope), plain)).json()).toMatchObject({ requestId: "r" });
    const stored = await suite.server.stored(suite.tenant.organizationId, 4);
    expect(stored.map(({ message }) => message)).toEqual(["delivered", "json", "platform-a", "stream-a"]);
  });
});
