import { Changes } from "../../../src/changes/changes.ts";
import type { Subscription } from "../../../src/changes/events/subscription.ts";
import { monitorDomain } from "../../../src/domains/monitors/domain.ts";
import type { TestAlerts } from "../../../src/domains/monitors/test-alerts.ts";
import type { Monitor } from "../../../src/domains/monitors/types.ts";
import { PostgresLedger } from "../../../src/http/ledger/request-ledger.ts";
import { OutboundPolicy } from "../../../src/outbound/outbound-policy.ts";
import { judgeTarget } from "../../../src/probes/targets/judge-target.ts";
import type { QueryRunner } from "../../../src/storage/query-runner.ts";
import { PlanCaps } from "../../../src/usage/plan.ts";
import { type SendOptions, TEST_ORIGIN, type TestApp, testApp } from "../../harness/http-app.ts";
import { TEST_BOX } from "../../harness/ledger.ts";
import type { TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../../query/query-store.ts";

export const MONITORS = "/api/v1/monitors";

/** The least that makes a monitor. */
export const LEAST = {
  name: "Shop",
  url: "https://shop.example.com/health",
  type: "https",
  intervalSec: 60,
  timeoutMs: 10_000,
} as const;

const TARGETS = new OutboundPolicy({ allow: ["127.0.0.9"], allowPrivate: true });

interface AppChoices {
  readonly maxMonitors?: number;
  readonly runner?: Pick<QueryRunner, "run">;
  readonly testAlerts?: TestAlerts;
  readonly subscriptions?: readonly Subscription[];
  readonly now?: () => number;
}

/** The routes of monitors over a suite's stores; callers are spelled out as `testApp` has it. */
export interface MonitorApp extends TestApp {
  /** How often something about monitors was said to have changed. */
  readonly rings: () => number;
  /** A new organisation and how its members call. */
  readonly organization: () => Promise<OrganizationCalls>;
}

export interface OrganizationCalls {
  readonly id: number;
  /** As a member unless another role, or role and scopes, are given. */
  readonly send: (method: string, path: string, json?: unknown, as?: string) => Promise<Response>;
  readonly answer: (method: string, path: string, json?: unknown, as?: string) => Promise<Answer>;
  /** A monitor with these fields besides the least. */
  readonly make: (fields?: object) => Promise<Monitor>;
}

interface Answer {
  readonly status: number;
  /** Empty for no body. */
  readonly body: Record<string, unknown>;
}

export function monitorApp(stores: TestStores, choices: AppChoices = {}): MonitorApp {
  let rings = 0;
  const { postgres: sql } = stores;
  const now = choices.now ?? Date.now;
  const plan = {
    name: "test",
    maxMonitors: choices.maxMonitors ?? null,
    monthlyChecks: null,
    monthlyLogBytes: null,
  };
  const { routes } = monitorDomain({
    sql,
    box: TEST_BOX,
    plans: new PlanCaps({ plan, sql, now }),
    publicUrl: TEST_ORIGIN,
    alertPolicy: new OutboundPolicy({ allow: ["127.0.0.9"], allowPrivate: false }),
    judgeTarget: (type, text) => judgeTarget(type, text, TARGETS),
    hasEscalationPolicy: async (_tx, _organizationId, id) => id === 3,
    onMonitorsChanged: () => {
      rings += 1;
    },
    runner: choices.runner ?? queryRunner(stores),
    cursorKey: new Uint8Array(32).fill(7),
    testAlerts: choices.testAlerts ?? { send: () => Promise.reject(new Error("nobody is told here")) },
    now,
  });
  const changes = new Changes({ sql, now, subscriptions: choices.subscriptions ?? [] });
  const app = testApp(routes, { ledger: new PostgresLedger({ sql, box: TEST_BOX, changes }) });
  return { ...app, rings: () => rings, organization: () => newOrganization(stores, app) };
}

async function newOrganization(stores: TestStores, app: TestApp): Promise<OrganizationCalls> {
  const [row] = await stores.postgres<{ id: number }[]>`
    INSERT INTO organizations (name, created_at) VALUES ('monitored', now()) RETURNING id`;
  const id = row?.id ?? 0;
  const send: OrganizationCalls["send"] = (method, path, json, as = "member") => {
    const [role = "", scopes = "*"] = as.split("/");
    const options: SendOptions = { as: `${role}/${scopes}/1/${id}` };
    return app.send(method, path, json === undefined ? options : { ...options, json });
  };
  const answer: OrganizationCalls["answer"] = async (...call) => {
    const response = await send(...call);
    const text = await response.text();
    return { status: response.status, body: text === "" ? {} : JSON.parse(text) };
  };
  const make: OrganizationCalls["make"] = async (fields = {}) => {
    const response = await send("POST", MONITORS, { ...LEAST, ...fields });
    const text = await response.text();
    if (response.status !== 201) throw new Error(`a monitor was answered ${response.status}: ${text}`);
    const made: Monitor = JSON.parse(text);
    return made;
  };
  return { id, send, answer, make };
}
