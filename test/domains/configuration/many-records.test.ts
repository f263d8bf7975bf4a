import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type ConfigurationServer, configurationServer, type Resources } from "./configuration-server.ts";
import { MONITOR } from "./samples.ts";

let stores: TestStores;
let server: ConfigurationServer;
let organizations = 0;
beforeAll(async () => {
  stores = await openTestStores();
  server = configurationServer(stores);
});
afterAll(() => stores.close());

const fresh = () => server.organization(`many-${++organizations}`);

/** So many of a kind, by their numbers. */
function many(count: number, fields: (n: number) => Record<string, unknown>): Resources[string] {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, fields(n)]));
}

const KINDS: Record<string, (n: number) => Record<string, unknown>> = {
  // Every other one lacks a field.
  "saved-searches": (n) => ({ name: `S ${n}`, ...(n % 2 === 0 && { q: "words" }) }),
  monitors: (n) => ({ name: `M ${n}`, ...MONITOR, ...(n % 2 === 0 && { tags: ["eu"] }) }),
  "log-alerts": (n) => ({ name: `L ${n}`, query: `word${n}`, groupBy: n % 2 === 0 ? ["service"] : [] }),
  "maintenance-windows": (n) => ({
    ...{ title: `W ${n}`, startsAt: "2030-01-01T09:00:00Z", endsAt: "2030-01-01T10:00:00Z" },
  }),
  assets: (n) => ({ ip: `10.0.${n >> 8}.${n & 255}`, ...(n % 2 === 0 && { hostname: `host-${n}` }) }),
  identities: (n) => ({ principal: `person-${n}`, aliases: [`p${n}`] }),
  iocs: (n) => ({ type: "domain", value: `evil-${n}.example` }),
  "ioc-allow-list": (n) => ({ type: "domain", value: `good-${n}.example` }),
};

describe("records that are made together", () => {
  test.each(Object.keys(KINDS))("of %s cost as many statements as few do", async (kind) => {
    const counted = async (count: number): Promise<number> => {
      const org = await fresh();
      const resources = { [kind]: many(count, KINDS[kind] ?? (() => ({}))) };
      const statements = await statementsOf(() => org.apply(resources));
      expect(await org.plan(resources)).toMatchObject({ hasChanges: false, summary: { unchanged: count } });
      expect(await org.audit()).toHaveLength(count + 1);
      return statements;
    };
    const few = await counted(4);
    expect(await counted(120)).toBeLessThanOrEqual(few);
  });

  test("stand in the order of the files", async () => {
    const org = await fresh();
    await org.apply({ assets: many(40, (n) => ({ ip: `10.9.9.${200 - n}`, tags: [] })) });
    const rows = await stores.postgres`SELECT ip FROM assets WHERE organization_id = ${org.id} ORDER BY id`;
    expect(rows.map(({ ip }) => ip)).toEqual(Array.from({ length: 40 }, (_, n) => `10.9.9.${200 - n}`));
  });

  test("are refused each at its place, however many there are, and a plan tries the rest", async () => {
    const org = await fresh();
    const wrong = new Set([3, 77, 78, 119]);
    const monitors = many(120, (n) => ({
      ...{ name: `M ${n}`, ...MONITOR },
      ...(wrong.has(n) && { url: "http://169.254.169.254/latest" }),
    }));
    const alerts = many(120, (n) => ({
      name: `L ${n}`,
      query: `w${n}`,
      ...(n === 60 && { kql: "level ===" }),
    }));
    const resources = { monitors, "log-alerts": alerts };
    const planned = await org.refusal(resources);
    expect(planned.fields.map(({ path }) => path)).toEqual([
      ...[...wrong].map((n) => `/resources/monitors/k${n}`),
      "/resources/log-alerts/k60/kql",
    ]);
    const applied = await org.refusal(resources, {}, "apply");
    expect(applied.fields.map(({ path }) => path)).toEqual(["/resources/monitors/k3"]);
    expect(await org.export()).toEqual({});
    expect(await org.audit()).toEqual([]);
  });

  test("beyond the most of a kind are refused, and those that have room are not", async () => {
    const org = await fresh();
    await org.apply({ "saved-searches": many(900, (n) => ({ name: `S ${n}` })) });
    const refused = await org.refusal({ "saved-searches": many(1_002, (n) => ({ name: `S ${n}` })) });
    expect(refused.fields.map(({ path }) => path)).toEqual([
      "/resources/saved-searches/k1000",
      "/resources/saved-searches/k1001",
    ]);
  });

  test("are one asset where they have one address, and then one of them is refused", async () => {
    const org = await fresh();
    const assets = {
      ...many(20, (n) => ({ ip: `10.0.0.${n}` })),
      long: { ip: "2001:db8:0:0:0:0:0:1", hostname: "first" },
      short: { ip: "2001:db8::1", hostname: "second" },
    };
    for (const path of ["plan", "apply"])
      expect(await org.refusal({ assets }, {}, path)).toMatchObject({
        status: 400,
        fields: [
          {
            path: "/resources/assets/short",
            message: expect.stringContaining("the same record as assets/long"),
          },
        ],
      });
    expect(await org.export()).toEqual({});
    // Nor does a key take over what another one stands for that no file has any more.
    const { long, short, ...others } = assets;
    await org.apply({ assets: { ...others, long } });
    for (const prune of [false, true])
      expect(await org.refusal({ assets: { ...others, short } }, { prune }, "apply")).toMatchObject({
        status: 400,
        fields: [{ path: "/resources/assets/short" }],
      });
    expect(await org.plan({ assets: { ...others, long } })).toMatchObject({ hasChanges: false });
  });
});

/** How many statements Postgres is asked meanwhile. */
async function statementsOf(work: () => Promise<unknown>): Promise<number> {
  let statements = 0;
  Object.assign(stores.postgres.options, { debug: () => statements++ });
  await work();
  Object.assign(stores.postgres.options, { debug: false });
  return statements;
}
