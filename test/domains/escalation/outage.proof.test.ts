/** Seconds without Postgres in the middle of escalations, judged by what people and a webhook have received from two real servers. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../../harness/eventually.ts";
import { waitAsUsual } from "../../harness/patience.ts";
import { proofRounds } from "../../harness/proof.ts";
import { isReady, makeToken, type ServerProcess, startServer } from "../../harness/server-process.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { openTcpProxy, type TcpProxy } from "../../harness/tcp-proxy.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { Receiver } from "../../notify/deliveries/receiver.ts";
import { type MailPeer, openMailPeer } from "../../notify/mail/mail-peer.ts";

const OUTAGE_MS = proofRounds({ sample: 3, whole: 60 }) * 1000;
/** Between the first page and the second: the outage begins before it is over. */
const DELAY_SEC = 2;
const INCIDENTS = 5;

waitAsUsual();

let stores: TestStores;
let proxy: TcpProxy;
let peer: MailPeer;
beforeAll(async () => {
  stores = await openTestStores();
  const { hostname, port } = new URL(stores.postgresUrl);
  proxy = await openTcpProxy({ host: hostname, port: Number(port) });
  peer = await openMailPeer();
});
afterAll(async () => {
  await peer.close();
  await proxy.close();
  await stores.close();
});

async function send({ url }: ServerProcess, token: string, method: string, path: string, json: object) {
  const answer = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(json),
  });
  expect(answer.ok).toBe(true);
  return JSON.parse(await answer.text());
}

test("seconds without Postgres lose no page and double none, and what was due meanwhile is taken when it is back", async () => {
  using hook = new Receiver();
  using first = temporaryDirectory();
  using second = temporaryDirectory();
  const url = new URL(stores.postgresUrl);
  url.port = String(proxy.port);
  const env = {
    ...{ CLICKHOUSE_URL: stores.clickhouseUrl, DATABASE_URL: url.href, SMTP_URL: peer.url },
    OUTBOUND_ALLOW: "127.0.0.1",
  };
  const servers = await Promise.all(
    [first, second].map((directory) => startServer({ dataDirectory: directory.path, env })),
  );
  const [server] = servers;
  if (server === undefined) throw new Error("no server");
  const token = await makeToken(server.url);
  const me = await fetch(`${server.url}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } });
  const { user }: { user: { id: number } } = JSON.parse(await me.text());
  await send(server, token, "PUT", "/me/alert-channels", { alertWebhookUrl: hook.url });
  const policy = await send(server, token, "POST", "/escalation-policies", {
    name: "p",
    steps: [0, DELAY_SEC].map((delaySec) => ({ type: "user", delaySec, userId: user.id })),
  });
  const titles = Array.from({ length: INCIDENTS }, (_, nth) => `Checkout ${nth} is down`);
  const open = (title: string) =>
    send(server, token, "POST", "/incidents", { title, escalationPolicyId: policy.id });
  const pages = () => peer.received.filter(({ mail }) => mail.subject?.includes("Checkout"));
  for (const title of titles) await open(title);
  await eventually("somebody is paged", () => pages().length > 0);

  proxy.cut();
  const cutAt = performance.now();
  await eventually("the servers say that they are not ready", async () => {
    const ready = await Promise.all(servers.map(({ url: each }) => isReady(each)));
    return ready.every((isOne) => !isOne);
  });
  await eventually("the outage has lasted", () => performance.now() - cutAt > OUTAGE_MS, OUTAGE_MS * 10);
  proxy.restore();

  // Two pages and the word to the owners, that nobody has answered.
  const expected = titles.flatMap((title) => [title, title, `Nobody has answered: ${title}`]);
  await eventually("everybody is paged who was to be", () => pages().length >= expected.length);
  await eventually("the webhook has heard of each", () => hook.received.length >= INCIDENTS);
  await eventually("the servers are ready again", () => isReady(server.url));
  await open("The one after");
  await eventually("it is told as ever", () => hook.titles.includes("The one after"));
  // What was on its way as the connection broke may come twice, under the id that it had.
  const once = new Map(pages().map(({ mail }) => [mail.messageId, mail.subject ?? ""]));
  expect([...once.values()].toSorted()).toEqual(expected.toSorted());
  const heard = new Set(hook.received.map(({ headers }) => headers.get("webhook-id")));
  expect(heard.size).toBe(INCIDENTS + 1);
  expect(await Promise.all(servers.map((each) => each.stop()))).toEqual([0, 0]);
});
