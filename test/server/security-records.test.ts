/** Every kind of record about security, made over a whole server: it is in the account archive, and the audit log says who made it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readZip } from "../domains/export/read-zip.ts";
import { makeToken, type ServerProcess } from "../harness/server-process.ts";
import { startSuiteServer } from "../harness/suite-server.ts";

/** The route, the action, and a body with a word that is found again. */
const RECORDS = [
  ["POST", "/assets", "PUT_ASSET", { ip: "203.0.113.7", hostname: "kept-asset" }],
  ["POST", "/identities", "PUT_IDENTITY", { principal: "kept-identity" }],
  ["POST", "/iocs", "PUT_IOC", { type: "domain", value: "kept-indicator.example" }],
  ["POST", "/iocs/allow-list", "PUT_ALLOWED_INDICATOR", { type: "domain", value: "kept-allowed.example" }],
  [
    "POST",
    "/iocs/feeds",
    "CREATE_IOC_FEED",
    { name: "kept-feed", url: "https://feeds.example.com/x.csv", format: "csv" },
  ],
  [
    ...(["POST", "/correlation-rules", "CREATE_CORRELATION_RULE"] as const),
    {
      ...{ name: "kept-correlation", kind: "sequence", joinField: "host" },
      steps: [{ kql: 'message has "a"' }, { kql: 'message has "b"' }],
    },
  ],
  ["POST", "/saved-searches", "CREATE_SAVED_SEARCH", { name: "kept-search", q: "x" }],
  ["POST", "/cases", "CREATE_CASE", { title: "kept-case" }],
  ["POST", "/cases/1/notes", "ADD_CASE_NOTE", { body: "kept-note" }],
  ["POST", "/cases/1/evidence", "ADD_CASE_EVIDENCE", { kind: "text", ref: "kept-evidence" }],
  [
    "PUT",
    "/ai-agents/prices",
    "SET_MODEL_PRICES",
    { prices: { "kept-model": { inputPerMillion: 1, outputPerMillion: 2 } } },
  ],
] as const;

let server: ServerProcess;
let token: string;
beforeAll(async () => {
  server = await startSuiteServer();
  token = await makeToken(server.url);
});
afterAll(() => server.stop());

const send = (method: string, path: string, json?: unknown) =>
  fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });

test("a record of every kind is in the account archive, and who made it in the audit log", async () => {
  for (const [method, path, , body] of RECORDS) {
    const answer = await send(method, path, body);
    expect([path, answer.ok, answer.ok ? "" : await answer.text()]).toEqual([path, true, ""]);
  }
  const audited = JSON.parse(await (await send("GET", "/audit-logs?limit=100")).text());
  const actions = audited.items.map(({ action }: { action: string }) => action);
  for (const [, path, action] of RECORDS) expect([path, actions.includes(action)]).toEqual([path, true]);
  const archive = await send("GET", "/export/account.zip");
  const files = readZip(Buffer.from(await archive.arrayBuffer()));
  // What the audit log says of it is no record.
  files.delete("audit-log.json");
  const text = [...files.values()].join("\n");
  for (const [, path, , body] of RECORDS) {
    const word = JSON.stringify(body).match(/kept-[a-z]+/)?.[0] ?? "";
    expect([path, text.includes(word)]).toEqual([path, true]);
  }
});

test("an asset has an address in its one spelling, and what is none is refused at its place", async () => {
  const made = await send("POST", "/assets", { ip: "2001:DB8:0:0::7" });
  expect(JSON.parse(await made.text())).toMatchObject({ ip: "2001:db8::7" });
  for (const ip of ["web-1", "10.0.0.0/8", "999.1.1.1", "1.2.3", "::1%eth0", " "]) {
    const refused = await send("POST", "/assets", { ip });
    const { code, fields } = JSON.parse(await refused.text());
    expect([ip, refused.status, code, fields?.[0]?.path]).toEqual([ip, 400, "VALIDATION_FAILED", "/ip"]);
  }
});
