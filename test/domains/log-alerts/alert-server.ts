/** Rules over real stores without a server around them: entries are stored, sealed and looked at when a test says so. */
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
import { COUNTING_BUDGET } from "../../../src/rules/seal/limits.ts";
import { testApp } from "../../harness/http-app.ts";
import { TEST_BOX } from "../../harness/ledger.ts";
import { logRanges } from "../../harness/log-ranges.ts";
import type { TestStores } from "../../harness/stores.ts";
import { type Entry, TestStream } from "./test-stream.ts";

export const PATH = "/api/v1/log-alerts";
export const NEVER = new AbortController().signal;

/** What was told, in its order. */
export interface Told {
  readonly kind: "raised" | "cleared";
  readonly key: string;
  readonly payload: Partial<Problem>;
}

export type AlertServer = Awaited<ReturnType<typeof alertServer>>;

/** Where `instances` are more than one, each makes and seals a stream of its own, and one server evaluates. */
export async function alertServer(stores: TestStores, instances = 1) {
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
  const streams: TestStream[] = [];
  for (let i = 0; i < instances; i++) streams.push(await new TestStream(stores, now, `place-${i}`).start());
  const past = new PastCounting({ sql, signals, ranges, now, log });
  const finders = {
    log: logRules(new CountedRules(sql, signals, ranges), new ScheduledRules({ sql, ranges })),
    correlation: new CorrelationRules(sql, ranges),
    metric: new MetricRules({ sql, signals, ranges, budget: COUNTING_BUDGET }),
  };
  const evaluation = () => new RuleEvaluation({ sql, signals, changes, finders, log });

  const streamAt = (index: number): TestStream => {
    const stream = streams[index];
    if (stream === undefined) throw new RangeError(`there is no stream ${index}`);
    return stream;
  };
  const store = (organizationId: number, ...entries: readonly Entry[]): Promise<bigint[]> =>
    streamAt(0).store(organizationId, entries);
  const seal = async (): Promise<void> => {
    for (const stream of streams) await stream.seal();
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
    ...{ sql, clock, store, seal, streamAt, evaluate, evaluation, send, toldOf, app, policies },
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
