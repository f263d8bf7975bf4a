/** Uploads of the journal, as systemd-journal-upload makes them, against a running server. */
import { expect, test } from "bun:test";
import { connect } from "node:net";
import { receiveSuite } from "./receive-server.ts";

const suite = receiveSuite();
const entry = (message: string, cursor = crypto.randomUUID()): string =>
  `__CURSOR=${cursor}\n__REALTIME_TIMESTAMP=1772619330739502\nPRIORITY=4\n_HOSTNAME=web-1\nMESSAGE=${message}\n\n`;

function upload(body: string, path = "/upload"): Promise<Response> {
  return fetch(suite.server.url + path, {
    method: "POST",
    headers: {
      "content-type": "application/vnd.fdo.journal",
      ...(path === "/upload" && { authorization: `Bearer ${suite.tenant.token}` }),
    },
    body,
  });
}

test("entries are stored, with the token in the header or in the address, and once when they are sent again", async () => {
  const first = entry("a");
  expect((await upload(first)).status).toBe(202);
  expect(
    (await upload(first + entry("b"), `/api/v1/logs/ingest/journal/${suite.tenant.token}/upload`)).status,
  ).toBe(202);
  expect((await upload("", "/api/v1/logs/ingest/journal/obs_none/upload")).status).toBe(401);
  expect(await suite.server.stored(suite.tenant.organizationId, 2)).toMatchObject([
    { message: "a", level: "warn", host: "web-1", ts: "2026-03-04 10:15:30.739502000" },
    { message: "b" },
  ]);
});

test("entries of a body that does not end are stored while it comes, and none is lost when it breaks off", async () => {
  const { hostname, port } = new URL(suite.server.url);
  const socket = connect(Number(port), hostname);
  await new Promise((resolve) => socket.once("connect", resolve));
  const send = (text: string): void =>
    void socket.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
  socket.write(
    `POST /upload HTTP/1.1\r\nHost: obs\r\nAuthorization: Bearer ${suite.tenant.token}\r\n` +
      "Content-Type: application/vnd.fdo.journal\r\nTransfer-Encoding: chunked\r\n\r\n",
  );
  send(entry("a") + entry("b").slice(0, 40));
  await suite.server.stored(suite.tenant.organizationId, 1);
  send(entry("b").slice(40) + entry("c"));
  await suite.server.stored(suite.tenant.organizationId, 3);
  socket.destroy();
  expect(await suite.server.quarantined(suite.tenant.organizationId)).toBe(0);
});

test("an entry that is larger than one may be is refused", async () => {
  expect((await upload(`MESSAGE=${"x".repeat(5 * 1024 * 1024)}`)).status).toBe(413);
});
