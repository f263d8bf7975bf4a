import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type EntryRules, IngestUnavailableError } from "../../../ingest/index.ts";
import { RuleCounter } from "../../../src/domains/ingest-rules/rule-counts.ts";
import { RuleDirectory } from "../../../src/domains/ingest-rules/rule-directory.ts";
import { createLogger } from "../../../src/log.ts";
import { createMetrics } from "../../../src/server/metrics.ts";
import { createPostgres } from "../../../src/storage/postgres.ts";
import { eventually } from "../../harness/eventually.ts";
import { waitAsUsual } from "../../harness/patience.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { openTcpProxy } from "../../harness/tcp-proxy.ts";
import { makeOrganization, openRuleInstance, type RuleInstance } from "./rule-server.ts";

const PATH = "/api/v1/ingest/rules";
const MASK = { name: "cards", action: "mask", patterns: ["card"] };

let stores: TestStores;
let organizationId: number;
let nowMs = Date.UTC(2026, 2, 1);
let instance: RuleInstance;

beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());
beforeEach(async () => {
  organizationId = await makeOrganization(stores);
  instance = openRuleInstance(stores, () => nowMs);
});

async function make(rule: object, by = instance): Promise<number> {
  const response = await by.send("POST", PATH, { as: `member/*/1/${organizationId}`, json: rule });
  const { id }: { id: number } = JSON.parse(await response.text());
  expect(response.status).toBe(201);
  return id;
}

const actionsOf = (rules: EntryRules | null): string[] | undefined =>
  rules?.rules.map(({ action }) => action.kind);

describe("the rules of an organisation", () => {
  test("are there at once where they were changed, and within a second elsewhere", async () => {
    const other = openRuleInstance(stores, () => nowMs);
    expect(await other.rules.entryRulesOf(organizationId)).toBe(null);
    expect(await instance.rules.entryRulesOf(organizationId)).toBe(null);
    await make(MASK);
    expect(actionsOf(await instance.rules.entryRulesOf(organizationId))).toEqual(["mask"]);
    expect(await other.rules.entryRulesOf(organizationId)).toBe(null);
    nowMs += 1_000;
    expect(actionsOf(await other.rules.entryRulesOf(organizationId))).toEqual(["mask"]);
  });

  test("that are known cost no turn of the event loop, and are asked for anew beside the requests", async () => {
    const other = openRuleInstance(stores, () => nowMs);
    expect(await other.rules.entryRulesOf(organizationId)).toBe(null);
    expect(other.rules.entryRulesOf(organizationId)).toBe(null);
    await make(MASK);
    nowMs += 600;
    expect(other.rules.entryRulesOf(organizationId)).toBe(null);
    await eventually("they are known", async () => {
      return actionsOf(await other.rules.entryRulesOf(organizationId))?.length === 1;
    });
  });

  test("stand in their order, without those that are switched off, and are no other organisation's", async () => {
    await make({ name: "few", action: "sample", keepOneIn: 2, position: 2 });
    await make({ name: "noise", action: "drop", position: 1 });
    await make({ ...MASK, enabled: false });
    expect(actionsOf(await instance.rules.entryRulesOf(organizationId))).toEqual(["drop", "sample"]);
    expect(await instance.rules.rawMaskerOf(organizationId)).toBe(null);
    expect(await instance.rules.entryRulesOf(await makeOrganization(stores))).toBe(null);
  });

  test("mask what could not be read, whatever their predicate", async () => {
    await make({ ...MASK, query: 'service == "shop"' });
    const masker = await instance.rules.rawMaskerOf(organizationId);
    expect(masker?.text("broken 4111111111111111 {")).toBe("broken [card] {");
  });

  test("whose predicate this server does not understand mask every entry, and drop none", async () => {
    await make(MASK);
    await make({ name: "noise", action: "drop" });
    await stores.postgres`
      UPDATE ingest_rules SET query = 'fromTheFuture(message)' WHERE organization_id = ${organizationId}`;
    nowMs += 1_000;
    const rules = await instance.rules.entryRulesOf(organizationId);
    const block: Parameters<NonNullable<typeof rules>["rules"][number]["rowsOf"]>[0] = Object.create(null);
    expect(rules?.rules.map(({ rowsOf }) => rowsOf(block, null).isFor(0))).toEqual([true, false]);
  });
});

describe("while Postgres is away", () => {
  waitAsUsual();

  test("the rules known last are used, and where none are known nothing is taken in", async () => {
    const real = new URL(stores.postgresUrl);
    const proxy = await openTcpProxy({ host: real.hostname, port: Number(real.port) });
    const sql = createPostgres(Object.assign(new URL(stores.postgresUrl), { port: String(proxy.port) }).href);
    const log = createLogger("silent");
    const metrics = createMetrics().ingestRules;
    const now = () => nowMs;
    const counter = new RuleCounter({ sql, metrics, now, log });
    const rules = new RuleDirectory({ sql, counter, metrics, now, log });
    await make(MASK);
    expect(actionsOf(await rules.entryRulesOf(organizationId))).toEqual(["mask"]);
    proxy.cut();
    nowMs += 10_000;
    expect(actionsOf(await rules.entryRulesOf(organizationId))).toEqual(["mask"]);
    const unknown = Promise.resolve(rules.entryRulesOf(organizationId + 1));
    expect(await unknown.catch((error: unknown) => error)).toBeInstanceOf(IngestUnavailableError);
    // What was changed here since is not known either: the old rules would let through what the new ones hide.
    rules.forget(organizationId);
    const forgotten = Promise.resolve(rules.entryRulesOf(organizationId));
    expect(await forgotten.catch((error: unknown) => error)).toBeInstanceOf(IngestUnavailableError);
    const raw = rules.rawMaskerOf(organizationId);
    expect(await raw.catch((error: unknown) => error)).toBeInstanceOf(IngestUnavailableError);
    await sql.end({ timeout: 0 });
    await proxy.close();
  });
});
