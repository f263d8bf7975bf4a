/**
 * Who had to do with whom is what going through all entries one by one finds: each neighbour once, with how often, first and last seen
 * and the latest entry that shows it, whichever server sealed them, however often one died at it, and whatever the store has merged.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { proofRounds } from "../../harness/proof.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type IocServer, iocServer } from "../iocs/ioc-server.ts";
import { makeOrganization } from "../log-alerts/alert-server.ts";

const DAY_MS = 86_400_000;
const ASSET = { ip: "203.0.113.1", hostname: "web-1" };
const numRuns = proofRounds({ sample: 4, whole: 60 });

let stores: TestStores;
let servers: readonly [IocServer, IocServer];
beforeAll(async () => {
  stores = await openTestStores();
  servers = [await iocServer(stores), await iocServer(stores, "there")];
});
afterAll(() => stores.close());

interface StoredEntry {
  readonly id: string;
  readonly service: string;
  readonly host: string;
  readonly user: string;
  readonly address: string;
  readonly domain: string;
  readonly ms: string;
}

/** A neighbour as the API shows it: `kind direction type:key`, and what is known of it. */
interface Seen {
  count: number;
  firstMs: number;
  lastMs: number;
  sample: bigint;
}

const entry = fc.record({
  // The same names in both organisations.
  isOthers: fc.boolean(),
  server: fc.nat(1),
  service: fc.constantFrom("shop", "vpn"),
  host: fc.constantFrom("", "web-1", "web-2"),
  user: fc.constantFrom("", "ana", "sam"),
  address: fc.constantFrom("", ASSET.ip, "203.0.113.2"),
  domain: fc.constantFrom("", "a.example.com", "b.example.com"),
  agoMs: fc.nat(3 * DAY_MS),
});
const step = fc.record({
  entries: fc.array(entry, { minLength: 1, maxLength: 12 }),
  /** Who seals then, and whether it dies when the store has what it found. */
  seals: fc.constantFrom("first", "second", "first dies", "second dies", "nobody"),
  isMerged: fc.boolean(),
});

async function entriesOf(organizationId: number): Promise<StoredEntry[]> {
  const answer = await stores.clickhouse.query({
    query: `
      SELECT toString(id) AS id, service, host, attrs['user.name'] AS user, attrs['source.ip'] AS address, message AS domain,
        toString(toUnixTimestamp64Milli(ts)) AS ms
      FROM logs WHERE organization_id = ${organizationId}`,
    format: "JSONEachRow",
  });
  return answer.json<StoredEntry>();
}

/** By what has the neighbours, each of `names` together with the others of the asset. */
function bruteForce(entries: readonly StoredEntry[]): Map<string, Map<string, Seen>> {
  const all = new Map<string, Map<string, Seen>>();
  const note = (of: string, neighbor: string, { id, ms }: StoredEntry): void => {
    const known = all.get(of) ?? new Map<string, Seen>();
    all.set(of, known);
    const at = Number(ms);
    const seen = known.get(neighbor) ?? { count: 0, firstMs: at, lastMs: at, sample: 0n };
    known.set(neighbor, {
      count: seen.count + 1,
      firstMs: Math.min(seen.firstMs, at),
      lastMs: Math.max(seen.lastMs, at),
      sample: seen.sample > BigInt(id) ? seen.sample : BigInt(id),
    });
  };
  for (const each of entries) {
    const [service, host, user] = [`service:${each.service}`, `host:${each.host}`, `identity:${each.user}`];
    const [address, domain] = [`ip:${each.address}`, `domain:${each.domain}`];
    const edges = [
      ["runs_on", service, host],
      ["calls", address, service],
      ["uses", user, service],
      ["uses", user, host],
      ["logged_in_from", user, address],
      ["uses", host, domain],
    ] as const;
    for (const [kind, from, to] of edges) {
      if (from.endsWith(":") || to.endsWith(":")) continue;
      note(from, `${kind} out ${to}`, each);
      note(to, `${kind} in ${from}`, each);
      for (const name of [`ip:${ASSET.ip}`, `host:${ASSET.hostname}`]) {
        if (name === from) note("asset", `${kind} out ${to}`, each);
        if (name === to) note("asset", `${kind} in ${from}`, each);
      }
    }
  }
  return all;
}

async function neighborsOf(organizationId: number, type: string, key: string, query: string) {
  const [server] = servers;
  const send = (path: string) => server.send(organizationId, "GET", `/api/v1/context/${path}`);
  const { entity } = (await send(`lookup?type=${type}&key=${encodeURIComponent(key)}`)).body;
  return (await send(`entity/${entity.id}/neighbors?${query}`)).body;
}

interface Item {
  readonly kind: string;
  readonly direction: string;
  readonly entity: { readonly type: string; readonly key: string };
  readonly count: number;
  readonly firstSeen: string;
  readonly lastSeen: string;
  readonly sampleEntryId: string;
}

function seenOf(items: readonly Item[]): Map<string, Seen> {
  return new Map(
    items.map(({ kind, direction, entity, count, firstSeen, lastSeen, sampleEntryId }) => [
      `${kind} ${direction} ${entity.type}:${entity.key}`,
      {
        ...{ count, firstMs: Date.parse(firstSeen), lastMs: Date.parse(lastSeen) },
        sample: BigInt(sampleEntryId),
      },
    ]),
  );
}

async function seal(which: string): Promise<void> {
  if (which === "nobody") return;
  const server = which.startsWith("first") ? servers[0] : servers[1];
  if (!which.endsWith("dies")) return server.seal();
  const dies = () => {
    throw new Error("the server dies");
  };
  await server
    .seal(dies)
    .catch((error: unknown) => expect(error).toMatchObject({ message: "the server dies" }));
}

test("neighbours are what going through all entries finds, on two servers that die, and of nobody else's entries", () =>
  fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
      const [own, others] = [await makeOrganization(stores), await makeOrganization(stores)];
      for (const { entries, seals, isMerged } of steps) {
        for (const { isOthers, server, user, address, domain, agoMs, ...each } of entries) {
          const { clock, store } = servers[server === 0 ? 0 : 1];
          const attrs = [["user.name", user] as const, ["source.ip", address] as const];
          await store(isOthers ? others : own, {
            ...each,
            ...{ message: domain, atMs: clock.nowMs - agoMs },
            attrs: attrs.filter(([, value]) => value !== ""),
          });
        }
        await seal(seals);
        if (isMerged) await stores.clickhouse.command({ query: "OPTIMIZE TABLE signals FINAL" });
      }
      for (const server of servers) await server.seal();
      for (const organizationId of [own, others]) {
        const expected = bruteForce(await entriesOf(organizationId));
        if (expected.has("asset")) await servers[0].send(organizationId, "POST", "/api/v1/assets", ASSET);
        for (const [name, neighbors] of expected) {
          const [type = "", key = ""] = name === "asset" ? [name, ASSET.ip] : name.split(":");
          // Each name of an asset has what is known of it by itself.
          const all = await neighborsOf(organizationId, type, key, "limit=200");
          expect([name, seenOf(all.items)]).toEqual([name, neighbors]);
          expect(all.total).toBe(neighbors.size);
          const types = [...neighbors.keys()].map((neighbor) => neighbor.split(/[ :]/)[2] ?? "");
          const byType = Object.fromEntries(
            [...new Set(types)].map((one) => [one, types.filter((other) => other === one).length]),
          );
          expect(all.byType).toEqual(byType);
          const [oneType = ""] = types;
          const few = await neighborsOf(organizationId, type, key, `limit=2&type=${oneType}`);
          const ofType = [...neighbors].filter(([neighbor]) => neighbor.split(/[ :]/)[2] === oneType);
          expect(few.total).toBe(ofType.length);
          const latest = ofType.map(([, { lastMs }]) => lastMs).toSorted((a, b) => b - a);
          expect(few.items.map(({ lastSeen }: Item) => Date.parse(lastSeen))).toEqual(latest.slice(0, 2));
          for (const [neighbor, seen] of seenOf(few.items)) expect(neighbors.get(neighbor)).toEqual(seen);
        }
      }
    }),
    // What it comes down to takes minutes to find out: each try is two organisations and their seals.
    { numRuns, endOnFailure: true },
  ));
