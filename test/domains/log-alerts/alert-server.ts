/** Rules over real stores without a server around them: entries are stored, sealed and looked at when a test says so. */
import { Registry } from "prom-client";
import { firstLogIdAt, LOG_ID_STEP } from "../../../ingest/index.ts";
import { INTERACTIVE_BUDGET } from "../../../query/index.ts";
import { Changes } from "../../../src/changes/changes.ts";
import { subscribe } from "../../../src/changes/events/subscription.ts";
import { correlationRoutes, putsCorrelations } from "../../../src/domains/correlation-rules/routes.ts";
import { detectionRoutes } from "../../../src/domains/detections/routes.ts";
import { whoIsPaged } from "../../../src/domains/escalation/simulation.ts";
import { logAlertDomain } from "../../../src/domains/log-alerts/domain.ts";
import { metricAlertRoutes } from "../../../src/domains/metric-alerts/routes.ts";
import { defaultChannels } from "../../../src/domains/notifications/default-store.ts";
import { savedSearches } from "../../../src/domains/saved-searches/records.ts";
import { PostgresLedger } from "../../../src/http/ledger/request-ledger.ts";
import { createLogger } from "../../../src/log.ts";
import { OutboundPolicy } from "../../../src/outbound/outbound-policy.ts";
import { type Problem, problemCleared, problemRaised } from "../../../src/problems/events.ts";
import { CorrelationRules } from "../../../src/rules/live/correlation-rules.ts";
import { CountedRules } from "../../../src/rules/live/counted-rules.ts";
import { logRules } from "../../../src/rules/live/log-rules.ts";
import { MetricRules } from "../../../src/rules/live/metric-rules.ts";
import { RuleEvaluation } from "../../../src/rules/live/rule-evaluation.ts";
import { ScheduledRules } from "../../../src/rules/live/scheduled-rules.ts";
import { PastCounting } from "../../../src/rules/past/past-counting.ts";
import { CounterFinder } from "../../../src/rules/seal/counter-finder.ts";
import { COUNTING_BUDGET } from "../../../src/rules/seal/limits.ts";
import { sealMetrics } from "../../../src/rules/seal/seal-metrics.ts";
import { Sealer } from "../../../src/rules/seal/sealer.ts";
import { StoredMarks } from "../../../src/rules/seal/stored-marks.ts";
import { takeNumber } from "../../../src/storage/instance/instance-store.ts";
import { testApp } from "../../harness/http-app.ts";
import { TEST_BOX } from "../../harness/ledger.ts";
import { logRanges } from "../../harness/log-ranges.ts";
import type { TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../../query/query-store.ts";
import { insertRows, type StoredRow } from "../logs/stored-rows.ts";

export const PATH = "/api/v1/log-alerts";
export const NEVER = new AbortController().signal;

export interface Entry extends Partial<Omit<StoredRow, "id" | "ts">> {
  /** When it says it was, in milliseconds since 1970. */
  readonly atMs: number;
}

/** What was told, in its order. */
export interface Told {
  readonly kind: "raised" | "cleared";
  readonly key: string;
  readonly payload: Partial<Problem>;
}

export type AlertServer = Awaited<ReturnType<typeof alertServer>>;

export async function alertServer(stores: TestStores) {
  const sql = stores.postgres;
  const clock = { nowMs: Math.floor(Date.now() / 60_000) * 60_000 };
  const now = () => clock.nowMs;
  const log = createLogger("silent");
  const signals = { endpoint: stores.clickhouseEndpoint, settle: async () => undefined };
  const ranges = logRanges(stores);
  // Somebody has to listen for events to be written.
  const subscriptions = [
    subscribe(problemRaised, "hear-raised", async () => undefined),
    subscribe(problemCleared, "hear-cleared", async () => undefined),
  ];
  const changes = new Changes({ sql, now, subscriptions });
  const policies = new Map<number, number>();
  const alertPolicy = new OutboundPolicy({ allow: [], allowPrivate: false });
  const { routes } = logAlertDomain({
    ...{ sql, box: TEST_BOX, ranges, now, budget: INTERACTIVE_BUDGET, alertPolicy },
    knowsPolicy: async (_tx, organizationId, id) => policies.get(id) === organizationId,
    onCounterMade: () => undefined,
    ...{ whoIsPaged, defaultChannels },
    readSavedSearch: (tx, organizationId, id) => savedSearches.readIn(tx, organizationId, id),
    putCorrelation: putsCorrelations({ sql, box: TEST_BOX, alertPolicy, knowsPolicy: async () => false }),
  });
  const metricRoutes = metricAlertRoutes({
    ...{ sql, signals, ranges, now, budget: INTERACTIVE_BUDGET },
    knowsPolicy: async () => false,
    onCounterMade: () => undefined,
  });
  const correlations = correlationRoutes({
    ...{ sql, box: TEST_BOX, ranges, now },
    alertPolicy,
    knowsPolicy: async () => false,
    onCounterMade: () => undefined,
  });
  const detections = detectionRoutes({ sql, cursorKey: new Uint8Array(32) });
  const app = testApp([...routes, ...metricRoutes, ...correlations, ...detections], {
    ledger: new PostgresLedger({ sql, box: TEST_BOX, changes }),
  });
  const holder = { id: crypto.randomUUID(), place: "here" };
  const instance = (await takeNumber(sql, holder, clock.nowMs)) ?? 0;
  const marks = new StoredMarks();
  let nextId = 0n;
  const sealing = { holder: holder.id, place: "here" };
  const sealer = new Sealer({
    ...{ sql, signals, marks, now, log, sealing },
    finders: [
      new CounterFinder({
        ...{ sql, endpoint: stores.clickhouseEndpoint, runner: queryRunner(stores), few: 0 },
        ...{ onChanged: () => undefined, log },
      }),
    ],
    isRecovered: () => true,
    isDrained: () => true,
    metrics: sealMetrics(new Registry()),
  });
  const past = new PastCounting({ sql, signals, ranges, now, log });
  const finders = {
    log: logRules(new CountedRules(sql, signals, ranges), new ScheduledRules({ sql, ranges })),
    correlation: new CorrelationRules(sql, ranges),
    metric: new MetricRules({ sql, signals, ranges, budget: COUNTING_BUDGET }),
  };
  const evaluation = () => new RuleEvaluation({ sql, changes, finders, log });

  const store = async (organizationId: number, ...entries: readonly Entry[]): Promise<void> => {
    const floor = firstLogIdAt(clock.nowMs, instance);
    if (nextId < floor) nextId = floor;
    const rows = entries.map(({ atMs, ...entry }): StoredRow => {
      const id = nextId;
      nextId += BigInt(LOG_ID_STEP);
      return { message: "x", ...entry, organizationId, id, ts: BigInt(atMs) * 1_000_000n };
    });
    if (rows.length > 0) await insertRows(stores.clickhouse, rows);
    for (const { id } of rows) marks.stored(id);
  };
  const seal = async (): Promise<void> => {
    while (await sealer.workOnce(NEVER));
    while (await past.workOnce(NEVER));
  };
  const evaluate = async (): Promise<void> => {
    const evaluating = evaluation();
    while (await evaluating.workOnce(NEVER));
  };
  const send = async (organizationId: number, method: string, path: string, json?: unknown) => {
    const as = `member/*/1/${organizationId}`;
    const response = await app.send(method, path, { as, ...(json !== undefined && { json }) });
    const text = await response.text();
    return { status: response.status, body: text === "" ? null : JSON.parse(text) };
  };
  const toldOf = async (organizationId: number): Promise<Told[]> => {
    const rows = await sql<{ kind: string; payload: Partial<Problem> & { key: string } }[]>`
      SELECT kind, payload FROM events WHERE organization_id = ${organizationId} ORDER BY id`;
    return rows.map(({ kind, payload }) => {
      return { kind: kind === "problem.raised" ? "raised" : "cleared", key: payload.key, payload };
    });
  };
  return {
    ...{ sql, clock, store, seal, evaluate, evaluation, send, toldOf, app, policies, sealer },
    /** Everything there is to do, as a server would by and by. */
    work: async () => {
      await seal();
      await evaluate();
    },
    /** Lets time pass in which nothing comes. */
    pass: async (ms: number) => {
      clock.nowMs += ms;
      await seal();
      await evaluate();
    },
  };
}

export async function makeOrganization({ postgres }: TestStores): Promise<number> {
  const [row] = await postgres<{ id: number }[]>`
    INSERT INTO organizations (name, created_at) VALUES ('acme', now()) RETURNING id`;
  return row?.id ?? 0;
}
