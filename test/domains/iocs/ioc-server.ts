/** Indicators over real stores without a server around them: entries are stored, sealed and told when a test says so. */
import { Registry } from "prom-client";
import { firstLogIdAt, LOG_ID_STEP } from "../../../ingest/index.ts";
import { Changes } from "../../../src/changes/changes.ts";
import { subscribe } from "../../../src/changes/events/subscription.ts";
import { assetRoutes } from "../../../src/domains/assets/routes.ts";
import { contextRoutes } from "../../../src/domains/context/routes.ts";
import { identityRoutes } from "../../../src/domains/identities/routes.ts";
import { iocDomain } from "../../../src/domains/iocs/domain.ts";
import { EntityFinder } from "../../../src/entities/entity-finder.ts";
import { HitTelling } from "../../../src/entities/indicators/hit-telling.ts";
import { RetroHunt } from "../../../src/entities/indicators/retro-hunt.ts";
import { PostgresLedger } from "../../../src/http/ledger/request-ledger.ts";
import { Places } from "../../../src/kql/library/places.ts";
import { createLogger } from "../../../src/log.ts";
import { OutboundPolicy } from "../../../src/outbound/outbound-policy.ts";
import { type Problem, problemRaised } from "../../../src/problems/events.ts";
import { sealMetrics } from "../../../src/rules/seal/seal-metrics.ts";
import { Sealer } from "../../../src/rules/seal/sealer.ts";
import { StoredMarks } from "../../../src/rules/seal/stored-marks.ts";
import { takeNumber } from "../../../src/storage/instance/instance-store.ts";
import { testApp } from "../../harness/http-app.ts";
import { TEST_BOX } from "../../harness/ledger.ts";
import { placesDatabase } from "../../harness/places-database.ts";
import type { TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../../query/query-store.ts";
import { insertRows, type StoredRow } from "../logs/stored-rows.ts";

export const PATH = "/api/v1/iocs";
/** Where addresses are; of others nobody knows it. */
const PLACES = {
  "45.33.0.0/16": { country: { names: { en: "Ruritania" } }, city: { names: { en: "Strelsau" } } },
};
const NEVER = new AbortController().signal;

export interface Entry extends Partial<Omit<StoredRow, "id" | "ts">> {
  /** When it says it was, in milliseconds since 1970; now where it does not say. */
  readonly atMs?: number;
}

export type IocServer = Awaited<ReturnType<typeof iocServer>>;

/** `place` is where it runs: another server at the same place takes its entries for those of an earlier start. */
export async function iocServer(stores: TestStores, place = "here") {
  const sql = stores.postgres;
  const clock = { nowMs: Math.floor(Date.now() / 60_000) * 60_000 };
  const now = () => clock.nowMs;
  const log = createLogger("silent");
  const signals = { endpoint: stores.clickhouseEndpoint, settle: async () => undefined };
  const changes = new Changes({
    sql,
    now,
    subscriptions: [subscribe(problemRaised, "hear", async () => undefined)],
  });
  const cursorKey = new Uint8Array(32);
  const nothing = (): void => undefined;
  const policy = new OutboundPolicy({ allow: ["127.0.0.1"], allowPrivate: false });
  const iocs = iocDomain({ sql, cursorKey, now, onBatch: nothing, changes, policy, log });
  const app = testApp(
    [
      ...iocs.routes,
      ...assetRoutes({ sql, cursorKey }),
      ...identityRoutes({ sql, cursorKey }),
      ...contextRoutes({
        ...{ sql, clickhouseEndpoint: stores.clickhouseEndpoint, now },
        library: { geo_info_from_ip_address: new Places(placesDatabase(PLACES)).describe },
      }),
    ],
    { ledger: new PostgresLedger({ sql, box: TEST_BOX, changes }) },
  );
  const holder = { id: crypto.randomUUID(), place };
  const instance = (await takeNumber(sql, holder, clock.nowMs)) ?? 0;
  const marks = new StoredMarks();
  let nextId = 0n;
  const finder = new EntityFinder({
    ...{ sql, runner: queryRunner(stores), onHits: nothing, now, log },
  });
  /** `die` is called when a seal is in the store and what follows of it is not noted. */
  const sealerOf = (die: () => void = nothing) =>
    new Sealer({
      ...{ sql, marks, now, log, sealing: { holder: holder.id, place } },
      signals: { ...signals, settle: async () => die() },
      finders: [finder],
      isRecovered: () => true,
      isDrained: () => true,
      metrics: sealMetrics(new Registry()),
    });
  const huntOptions = { sql, endpoint: stores.clickhouseEndpoint, onHits: nothing, now, log };
  const telling = new HitTelling({ sql, changes, log });

  const store = async (organizationId: number, ...entries: readonly Entry[]): Promise<void> => {
    const floor = firstLogIdAt(clock.nowMs, instance);
    if (nextId < floor) nextId = floor;
    const rows = entries.map(({ atMs = clock.nowMs, ...entry }): StoredRow => {
      const id = nextId;
      nextId += BigInt(LOG_ID_STEP);
      return { message: "", ...entry, organizationId, id, ts: BigInt(atMs) * 1_000_000n };
    });
    if (rows.length > 0) await insertRows(stores.clickhouse, rows);
    for (const { id } of rows) marks.stored(id);
  };
  const seal = async (die?: () => void): Promise<void> => {
    const sealer = sealerOf(die);
    while (await sealer.workOnce(NEVER));
  };
  /** `bounds` are those of a step; without them all is looked for at once. */
  const huntAll = async (bounds?: { readonly indicators: number; readonly hits: number }): Promise<void> => {
    const hunt = new RetroHunt({ ...huntOptions, ...(bounds !== undefined && { bounds }) });
    while (await hunt.workOnce(NEVER));
  };
  const tell = async (): Promise<void> => {
    while (await telling.workOnce(NEVER));
  };
  const send = async (organizationId: number, method: string, path: string, json?: unknown) => {
    const as = `member/*/1/${organizationId}`;
    const response = await app.send(method, path, { as, ...(json !== undefined && { json }) });
    const text = await response.text();
    return { status: response.status, body: text === "" ? null : JSON.parse(text) };
  };
  /** A file as the body. */
  const upload = async (organizationId: number, path: string, body: string, contentType = "text/csv") => {
    const headers = { "content-type": contentType };
    const response = await app.send("POST", path, { as: `member/*/1/${organizationId}`, body, headers });
    return { status: response.status, body: JSON.parse(await response.text()) };
  };
  const fetchFeeds = async (): Promise<void> => {
    while (await iocs.feeds.workOnce(NEVER));
  };
  const toldOf = async (organizationId: number): Promise<Problem[]> => {
    const rows = await sql<{ payload: Problem }[]>`
      SELECT payload FROM events WHERE organization_id = ${organizationId} ORDER BY id`;
    return rows.map(({ payload }) => payload);
  };
  return { sql, changes, clock, store, seal, huntAll, tell, send, upload, fetchFeeds, toldOf };
}
