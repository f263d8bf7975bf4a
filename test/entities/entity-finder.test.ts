/** Whatever entries hold that somebody may be known by is found, once, and as what it is of the organisation whose entry it is. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { LOG_ID_STEP } from "../../ingest/index.ts";
import { EntityFinder } from "../../src/entities/entity-finder.ts";
import { labelParts } from "../../src/entities/signal-labels.ts";
import { createLogger } from "../../src/log.ts";
import { organizationsIn } from "../../src/rules/seal/stored-entries.ts";
import { idAt, insertRows, type StoredRow } from "../domains/logs/stored-rows.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { queryRunner } from "../query/query-store.ts";

const NEVER = new AbortController().signal;
const MD5 = "0cc175b9c0f1b6a831c399e269772661";
const FIRST_MS = Date.UTC(2026, 0, 1);

let stores: TestStores;
let instance = 0;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

type Entry = Partial<Pick<StoredRow, "message" | "host" | "service" | "attrs">> & {
  readonly organizationId?: number;
};

/** What seals of the entries would keep: `organisation kind what where` with how often, in order. */
async function foundIn(entries: readonly Entry[], answerMaxRows?: number): Promise<string[]> {
  instance += 1;
  const first = idAt(FIRST_MS, instance);
  const step = BigInt(LOG_ID_STEP);
  await insertRows(
    stores.clickhouse,
    entries.map((entry, i) => ({
      ...{ message: "", service: "api", organizationId: 1, ts: BigInt(FIRST_MS) * 1_000_000n },
      ...entry,
      id: first + BigInt(i) * step,
    })),
  );
  const span = { instance, after: first - 1n, through: first + BigInt(entries.length) * step };
  const finder = new EntityFinder({
    ...{ sql: stores.postgres, runner: queryRunner(stores), onHits: () => undefined, now: Date.now },
    log: createLogger("silent"),
    ...(answerMaxRows !== undefined && { answerMaxRows }),
  });
  const organizations = await organizationsIn(stores.clickhouseEndpoint, span, NEVER);
  const found = await finder.find({ span, revision: 1n, organizations }, NEVER);
  const counts = new Map<string, number>();
  for (const { organizationId, kind, group = "", n } of found?.signals ?? []) {
    const what = `${organizationId} ${kind} ${labelParts(group).join(" ")}`;
    counts.set(what, (counts.get(what) ?? 0) + n);
  }
  return [...counts].map(([what, n]) => `${what} ${n}`).toSorted();
}

describe("what entries hold", () => {
  test("is found in the entries of each organisation for itself", async () => {
    const message = "connection from 203.0.113.7";
    expect(
      await foundIn([
        { message, organizationId: 1 },
        { message, organizationId: 2, service: "web" },
        { message, organizationId: 2, service: "web" },
      ]),
    ).toEqual(["1 observable ip 203.0.113.7 service api 1", "2 observable ip 203.0.113.7 service web 2"]);
  });

  test("is no hash where its name calls it an id, and one everywhere else", async () => {
    const ids = ["trace_id", "traceId", "span.id", "REQUEST_ID", "id"];
    expect(await foundIn(ids.map((name) => ({ attrs: [[name, MD5]] })))).toEqual([]);
    const hashes = ["md5", "file.hash.md5", "idle", "Hashes"];
    expect(await foundIn(hashes.map((name) => ({ attrs: [[name, `MD5=${MD5}`]] })))).toEqual([
      `1 observable hash ${MD5} service api ${hashes.length}`,
    ]);
    expect(await foundIn([{ message: `dropped ${MD5}` }])).toEqual([
      `1 observable hash ${MD5} service api 1`,
    ]);
    expect(await foundIn([{ attrs: [["client_id", "evil.example.com"]] }])).toEqual([
      "1 observable domain evil.example.com service api 2",
    ]);
  });

  test("is kept for who lists it later where it ends as names on the internet do, and is an entity where it is certain", async () => {
    const message = "GET https://badsite.ninja/x main.rs java.lang.String worker.evil.com";
    expect(await foundIn([{ message, host: "web-1" }])).toEqual(
      [
        "1 edge uses in domain worker.evil.com host web-1 1",
        "1 edge uses out host web-1 domain worker.evil.com 1",
        ...["runs_on in host web-1 service api 1", "runs_on out service api host web-1 1"].map(
          (edge) => `1 edge ${edge}`,
        ),
        "1 observable domain badsite.ninja host web-1 1",
        "1 observable domain main.rs host web-1 1",
        "1 observable domain worker.evil.com host web-1 2",
      ].toSorted(),
    );
  });

  test("is a domain of any alphabet in its one spelling, whole, and one of ASCII beside letters that know no blanks", async () => {
    const entries = ["visit bücher.example now", "https://BÜCHER.example/x", "to “www.пример.рф”"];
    expect(
      await foundIn([
        ...entries.map((message) => ({ message })),
        { attrs: [["dns.question.name", "bücher.example"]] },
      ]),
    ).toEqual([
      "1 observable domain www.xn--e1afmkfd.xn--p1ai service api 2",
      "1 observable domain xn--bcher-kva.example service api 3",
    ]);
    const beside = await foundIn([{ message: "访问evil.com，谢谢", host: "web-1" }]);
    expect(beside.filter((what) => what.includes("domain"))).toEqual([
      "1 edge uses in domain evil.com host web-1 1",
      "1 edge uses out host web-1 domain evil.com 1",
      "1 observable domain evil.com host web-1 1",
      "1 observable domain xn--evil-pr9l020c.com host web-1 1",
    ]);
  });

  test("is all found, and once, when no answer can hold it", async () => {
    const address = fc.nat(40).map((n) => `203.0.113.${n}`);
    const entry = fc.record({
      message: fc.array(address, { maxLength: 6 }).map((addresses) => addresses.join(" ")),
      organizationId: fc.constantFrom(1, 2),
      host: fc.constantFrom("", "web-1"),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { minLength: 1, maxLength: 24 }), async (entries) => {
        expect(await foundIn(entries, 7)).toEqual(await foundIn(entries));
      }),
      { numRuns: 8 },
    );
  });
});
