import { Type } from "typebox";
import { Value } from "typebox/value";
import { makeToken, startServer } from "../../test/harness/server-process.ts";
import { temporaryDirectory } from "../../test/harness/temporary-directory.ts";
import { openMailPeer } from "../../test/notify/mail/mail-peer.ts";

const TICK_MS = 20;
const Opened = Type.Object({
  type: Type.Literal("incident.opened"),
  timestamp: Type.String(),
  data: Type.Object({ title: Type.String() }),
});
const Members = Type.Array(Type.Object({ userId: Type.Integer() }));
const Made = Type.Object({ id: Type.Integer() });

/** Milliseconds from when failures were confirmed until a webhook, and the person on call by mail, had heard of them. */
interface FirstNotices {
  readonly toldMs: number[];
  readonly pagedMs: number[];
}

/**
 * For each of some monitors that fail, how long it takes from when that was confirmed, by the clock of the server, through
 * one whole server, every hand-over on the way included. Takes as long as the monitors' interval, half a minute, for they
 * are spread over it.
 */
export async function firstNotices(
  monitors: number,
  stores: { readonly CLICKHOUSE_URL: string; readonly DATABASE_URL: string },
): Promise<FirstNotices> {
  using directory = temporaryDirectory();
  const toldMs: number[] = [];
  const openedAt = new Map<string, number>();
  const mail = await openMailPeer();
  const hook = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const told: unknown = JSON.parse(await request.text());
      if (Value.Check(Opened, told)) {
        const openedMs = Date.parse(told.timestamp);
        openedAt.set(told.data.title, openedMs);
        toldMs.push(Date.now() - openedMs);
      }
      return new Response(null, { status: 204 });
    },
  });
  const failing = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response(null, { status: 500 }),
  });
  const server = await startServer({
    dataDirectory: directory.path,
    env: { ...stores, OUTBOUND_ALLOW: "127.0.0.1", SMTP_URL: mail.url, SMTP_FROM: "obs <obs@example.com>" },
  });
  const token = await makeToken(server.url);
  const send = async (method: string, path: string, json?: object): Promise<unknown> => {
    const answer = await fetch(`${server.url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  const [member] = Value.Parse(Members, await send("GET", "/me/members"));
  const steps = [{ type: "user", delaySec: 0, userId: member?.userId }];
  const policy = Value.Parse(Made, await send("POST", "/escalation-policies", { name: "first line", steps }));
  await send("PUT", "/me/alert-channels", {
    alertWebhookUrl: `http://127.0.0.1:${hook.port}/`,
    escalationPolicyId: policy.id,
  });
  for (let nth = 0; nth < monitors; nth += 1)
    await send("POST", "/monitors", {
      ...{ name: `shop ${nth}`, url: `http://127.0.0.1:${failing.port}/`, type: "http" },
      ...{ intervalSec: 30, timeoutMs: 5000, alertThreshold: 1 },
    });
  const pagedAt = new Map<string, number>();
  const look = (): void => {
    for (const { mail: page } of mail.received) {
      const title = [...openedAt.keys()].find((each) => page.subject?.includes(`${each}`));
      if (title !== undefined && !pagedAt.has(title)) pagedAt.set(title, Date.now());
    }
  };
  while (toldMs.length < monitors || pagedAt.size < monitors) {
    look();
    await Bun.sleep(TICK_MS);
  }
  await server.stop();
  await mail.close();
  for (const each of [hook, failing]) void each.stop(true);
  const pagedMs = [...pagedAt].map(([title, atMs]) => atMs - (openedAt.get(title) ?? 0));
  return { toldMs, pagedMs };
}
