/** An invite from the first request to the new member, with the real program. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import PostalMime from "postal-mime";
import { eventually } from "../../harness/eventually.ts";
import { type ServerProcess, startServer } from "../../harness/server-process.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../harness/temporary-directory.ts";
import { cookieOf, PASSWORD } from "../../identity/identity-server.ts";
import { INVITES, MEMBERS, REGISTER } from "./organization-server.ts";

let stores: TestStores;
let directory: TemporaryDirectory;
let server: ServerProcess;
beforeAll(async () => {
  stores = await openTestStores();
  directory = temporaryDirectory();
  server = await startServer({
    dataDirectory: directory.path,
    env: { DATABASE_URL: stores.postgresUrl, CLICKHOUSE_URL: stores.clickhouseUrl },
  });
});
afterAll(async () => {
  await server.stop();
  await stores.close();
  directory[Symbol.dispose]();
});

function send(method: string, path: string, json?: unknown, cookie?: string): Promise<Response> {
  return fetch(`${server.url}${path}`, {
    method,
    headers: {
      ...(json !== undefined && { "content-type": "application/json" }),
      ...(cookie !== undefined && { cookie, origin: server.url }),
    },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
}

/** The mail to an address, once a server without SMTP has put it down as a file. */
function mailTo(address: string): Promise<string> {
  const outbox = join(directory.path, "outbox");
  return eventually(`a mail to ${address}`, async () => {
    for (const name of existsSync(outbox) ? readdirSync(outbox) : []) {
      const mail = await PostalMime.parse(await Bun.file(join(outbox, name)).bytes());
      if (mail.to?.some((to) => to.address === address)) return mail.text ?? null;
    }
    return null;
  });
}

test("the link in a mailed invite makes its reader a member", async () => {
  const owner = cookieOf(await send("POST", REGISTER, { email: "ana@example.com", password: PASSWORD }));
  const invited = { email: "ben@example.com", role: "member" };
  expect((await send("POST", INVITES, invited, owner)).status).toBe(201);
  const text = await mailTo("ben@example.com");
  expect(text).toContain("ana@example.com invites you");
  const link = new URL(/https?:\S+/.exec(text)?.[0] ?? "");
  expect(link.origin).toBe(server.url);
  const inviteToken = link.hash.replace("#token=", "");
  const json = { email: "ben@example.com", password: PASSWORD, inviteToken };
  const ben = cookieOf(await send("POST", REGISTER, json));
  expect(await (await send("GET", MEMBERS, undefined, ben)).json()).toMatchObject([
    { email: "ana@example.com", role: "owner" },
    { email: "ben@example.com", role: "member" },
  ]);
  expect(server.output()).not.toContain(inviteToken);
});
