import type { Static } from "typebox";
import { Changes, SERVER_ORIGIN } from "../../../src/changes/changes.ts";
import { EventDelivery } from "../../../src/changes/events/event-delivery.ts";
import { on, type Subscription, subscribeInOrder } from "../../../src/changes/events/subscription.ts";
import { incidentSubscription } from "../../../src/domains/incidents/domain.ts";
import {
  incidentAcknowledged,
  incidentOpened,
  incidentReopened,
  incidentResolved,
  incidentUpdated,
  type Told,
} from "../../../src/domains/incidents/events.ts";
import { incidentRoutes } from "../../../src/domains/incidents/routes.ts";
import { Settling } from "../../../src/domains/incidents/settling.ts";
import { IncidentDetails, IncidentList } from "../../../src/domains/incidents/types.ts";
import { PostgresLedger } from "../../../src/http/ledger/request-ledger.ts";
import type { Route } from "../../../src/http/route.ts";
import { createLogger } from "../../../src/log.ts";
import {
  type Clearing,
  type Problem,
  problemCleared,
  problemRaised,
  problemSubject,
} from "../../../src/problems/events.ts";
import { createMetrics } from "../../../src/server/metrics.ts";
import { makeOrganization } from "../../audit/audited-organization.ts";
import { type SendOptions, testApp } from "../../harness/http-app.ts";
import { TEST_BOX } from "../../harness/ledger.ts";
import type { TestStores } from "../../harness/stores.ts";
import { bodyOf } from "../../identity/identity-server.ts";

type Sql = TestStores["postgres"];

export { makeOrganization };

export const INCIDENTS = "/api/v1/incidents";
export const START_MS = Date.parse("2026-03-01T12:00:00.000Z");
export const MINUTE_MS = 60_000;

/** What subscribers were told, in order. */
interface ToldEvent extends Told {
  readonly kind: string;
  readonly organizationId: number;
}

/** One instance of the server as far as incidents go; several over one database are several instances. */
export interface IncidentServer {
  readonly changes: Changes;
  /** What a subscriber to incidents was told. */
  readonly told: ToldEvent[];
  readonly settling: Settling;
  readonly clock: { nowMs: number };
  /** Raises without delivering. */
  readonly raise: (organizationId: number, problem: Partial<Problem>) => Promise<void>;
  readonly clear: (organizationId: number, clearing: Partial<Clearing>) => Promise<void>;
  /** Delivers until nothing is due. */
  readonly deliver: () => Promise<void>;
  readonly send: (
    organizationId: number,
    method: string,
    path: string,
    json?: unknown,
    options?: { role?: string; scopes?: string } & SendOptions,
  ) => Promise<Response>;
  readonly list: (organizationId: number, query?: string) => Promise<Static<typeof IncidentList>>;
  readonly read: (organizationId: number, id: number) => Promise<Static<typeof IncidentDetails>>;
  readonly logged: () => Record<string, unknown>[];
}

interface ServerChoices {
  readonly clock?: { nowMs: number };
  readonly moreRoutes?: (parts: { sql: Sql; changes: Changes; now: () => number }) => readonly Route[];
  readonly person?: number;
}

export function incidentServer(sql: Sql, choices: ServerChoices = {}): IncidentServer {
  const clock = choices.clock ?? { nowMs: START_MS };
  const now = (): number => clock.nowMs;
  const told: ToldEvent[] = [];
  const subscriptions = [incidentSubscription, listener(told)];
  const changes = new Changes({ sql, now, subscriptions });
  const log = createLogger("silent");
  const delivery = new EventDelivery({
    ...{ sql, changes, subscriptions, log },
    metrics: createMetrics().events,
  });
  const ledger = new PostgresLedger({ sql, box: TEST_BOX, changes });
  const routes = [
    ...incidentRoutes({ sql, knowsPolicy: async () => false, readDeliveries: async () => [] }),
    ...(choices.moreRoutes?.({ sql, changes, now }) ?? []),
  ];
  const app = testApp(routes, { ledger });
  const emit = (organizationId: number, act: (change: { emit: Changed["emit"] }) => void): Promise<void> =>
    changes.inChange(
      { organizationId, actor: { kind: "job", name: "suite" }, origin: SERVER_ORIGIN },
      null,
      async (change) => act(change),
    );
  const send: IncidentServer["send"] = (organizationId, method, path, json, options = {}) =>
    app.send(method, path, {
      as: `${options.role ?? "owner"}/${options.scopes ?? "*"}/${choices.person ?? 1}/${organizationId}`,
      ...(json !== undefined && { json }),
      ...options,
    });
  return {
    changes,
    told,
    clock,
    settling: new Settling({ sql, changes, log }),
    raise: (organizationId, problem) =>
      emit(organizationId, (change) => {
        const whole = problemOf(problem, clock.nowMs);
        change.emit(problemRaised, problemSubject(whole.key), whole);
      }),
    clear: (organizationId, clearing) =>
      emit(organizationId, (change) => {
        const whole = clearingOf(clearing, clock.nowMs);
        change.emit(problemCleared, problemSubject(whole.key), whole);
      }),
    deliver: async () => {
      while (await delivery.deliverDue(new AbortController().signal)) await delivery.settled();
    },
    send,
    list: async (organizationId, query = "") =>
      bodyOf(await send(organizationId, "GET", `${INCIDENTS}${query}`), IncidentList),
    read: async (organizationId, id) =>
      bodyOf(await send(organizationId, "GET", `${INCIDENTS}/${id}`), IncidentDetails),
    logged: app.logged,
  };
}

type Changed = Parameters<Parameters<Changes["inChange"]>[2]>[0];

export const KEY = "monitor:17";

export function problemOf(problem: Partial<Problem>, nowMs: number): Problem {
  return {
    key: KEY,
    source: { kind: "monitor", id: 17, name: "Checkout" },
    title: "Checkout is down",
    severity: "high",
    since: new Date(nowMs).toISOString(),
    monitorIds: [],
    summary: "No answer within 5 s.",
    ...problem,
  };
}

function clearingOf(clearing: Partial<Clearing>, nowMs: number): Clearing {
  return {
    key: KEY,
    at: new Date(nowMs).toISOString(),
    cause: "recovered",
    summary: "It answers again.",
    ...clearing,
  };
}

/** Keeps what it is told, and nothing else. */
function listener(told: ToldEvent[]): Subscription {
  const kinds = [incidentOpened, incidentAcknowledged, incidentUpdated, incidentReopened, incidentResolved];
  return subscribeInOrder(
    "listen",
    kinds.map((kind) =>
      on(kind, async ({ payload }, change) => {
        const { organizationId } = change;
        change.afterCommit(() => told.push({ ...payload, kind: kind.name, organizationId }));
      }),
    ),
  );
}

/** A row for somebody, whom rows of others refer to. */
export async function makePerson(sql: Sql): Promise<number> {
  const [row] = await sql<{ id: string }[]>`
    INSERT INTO users (email, created_at) VALUES (${`${crypto.randomUUID()}@example.com`}, now()) RETURNING id`;
  return Number(row?.id);
}

/** A monitor with what the schema asks for. */
export async function makeMonitor(
  sql: Sql,
  organizationId: number,
  { name = "Checkout", url = "https://checkout.example.com/health" } = {},
): Promise<number> {
  const [row] = await sql<{ id: string }[]>`
    INSERT INTO monitors (organization_id, name, url, type, interval_sec, timeout_ms, heartbeat_token_hash,
                          sealed_heartbeat_token, created_at, updated_at)
    VALUES (${organizationId}, ${name}, ${url}, 'https', 60, 5000, sha256(convert_to(${crypto.randomUUID()}, 'UTF8')),
            '', now(), now()) RETURNING id`;
  const id = Number(row?.id);
  await sql`INSERT INTO monitor_state (monitor_id, organization_id) VALUES (${id}, ${organizationId})`;
  return id;
}

export async function makePolicy(sql: Sql, organizationId: number): Promise<number> {
  const steps = sql.json([{ type: "user", delaySec: 0, userId: 1 }]);
  const [row] = await sql<{ id: string }[]>`
    INSERT INTO escalation_policies (organization_id, name, steps, created_at, updated_at)
    VALUES (${organizationId}, 'p', ${steps}, now(), now()) RETURNING id`;
  return Number(row?.id);
}
