import { expect } from "bun:test";
import { INTERACTIVE_BUDGET } from "../../../query/index.ts";
import type { JsonObject } from "../../../src/audit/canonical-json.ts";
import { assetRoutes } from "../../../src/domains/assets/routes.ts";
import { Fingerprints } from "../../../src/domains/configuration/fields.ts";
import { configurationRoutes } from "../../../src/domains/configuration/routes.ts";
import { escalationRoutes } from "../../../src/domains/escalation/routes.ts";
import { SourceDirectory } from "../../../src/domains/ingest-sources/source-directory.ts";
import { logAlertDomain } from "../../../src/domains/log-alerts/domain.ts";
import { monitorRoutes } from "../../../src/domains/monitors/routes.ts";
import { MonitorService } from "../../../src/domains/monitors/service.ts";
import { onCallRoutes } from "../../../src/domains/on-call/routes.ts";
import { savedSearchRoutes } from "../../../src/domains/saved-searches/routes.ts";
import { hasPolicy } from "../../../src/on-call/policy-store.ts";
import { OutboundPolicy } from "../../../src/outbound/outbound-policy.ts";
import { configKinds } from "../../../src/server/configuration.ts";
import { monitorVerbs } from "../../../src/server/monitors.ts";
import { TEST_ORIGIN, type TestApp, testApp } from "../../harness/http-app.ts";
import { TEST_BOX, testCaps, testLedger } from "../../harness/ledger.ts";
import { logRanges } from "../../harness/log-ranges.ts";
import type { TestStores } from "../../harness/stores.ts";

export const CONFIG = "/api/v1/config";

export type Resources = Record<string, Record<string, Record<string, unknown>>>;

interface Change {
  kind: string;
  key: string;
  action: string;
  isAdopted: boolean;
  movedFrom: string | null;
  fields: { field: string; before?: unknown; after?: unknown; isSecret: boolean; isDrifted: boolean }[];
}
interface Planned {
  planId: string;
  hasChanges: boolean;
  summary: Record<string, number>;
  changes: Change[];
}
interface Issue {
  path: string;
  message: string;
}

/** An organisation and its administrator. */
export interface Organization {
  readonly id: number;
  readonly userId: number;
  readonly email: string;
  send(method: string, path: string, json?: unknown, scopes?: string): Promise<Response>;
  /** What a GET answers. */
  read(path: string): Promise<unknown>;
  /** The same of a list of records. */
  listed(path: string): Promise<{ readonly id: number }[]>;
  plan(resources: Resources, options?: object): Promise<Planned>;
  apply(resources: Resources, options?: object): Promise<Planned & { applyId: string }>;
  export(): Promise<Resources>;
  /** What a plan or, with `path`, another call is refused with. */
  refusal(
    resources: Resources,
    options?: object,
    path?: string,
  ): Promise<{ status: number; code: string; error: string; fields: Issue[] }>;
  /** Rows of the audit log, oldest first. */
  audit(): Promise<{ action: string; resource: string; meta: { applyId?: string } & JsonObject }[]>;
}

export interface ConfigurationServer {
  readonly app: TestApp;
  organization(name: string): Promise<Organization>;
}

/** Every kind that files can describe over real stores, and some of their routes, by which people change records otherwise. */
export function configurationServer(stores: TestStores, now: () => number = Date.now): ConfigurationServer {
  const sql = stores.postgres;
  const policy = new OutboundPolicy({ allow: [], allowPrivate: false });
  const nothing = (): void => undefined;
  const services = {
    ...{ sql, now, policy, box: TEST_BOX, publicUrl: TEST_ORIGIN, plans: testCaps(sql).plan },
    config: { monitorAllowPrivate: true, outboundAllow: null, statusPageHosts: null, logRetentionDays: 30 },
    monitorChanges: { wake: nothing },
    sources: new SourceDirectory({ sql, now }),
    statusPageKey: Buffer.alloc(32, 5),
    ...{ kept: { forget: nothing }, rules: { forget: nothing }, statusPages: { forget: nothing } },
    counting: { onCounterMade: nothing, onIocBatch: nothing },
  };
  const routes = [
    ...configurationRoutes({
      ...{ sql, now, kinds: configKinds(services) },
      fingerprints: new Fingerprints(TEST_BOX.keyFor("configuration")),
    }),
    ...monitorRoutes(new MonitorService(monitorVerbs(services)), { send: async () => [] }),
    ...savedSearchRoutes({ sql }),
    ...escalationRoutes({ sql }),
    ...onCallRoutes({ sql, now, publicUrl: TEST_ORIGIN }),
    ...assetRoutes({ sql, cursorKey: Buffer.alloc(32, 6) }),
    ...logAlertDomain({
      ...{ sql, now, box: TEST_BOX, alertPolicy: policy, knowsPolicy: hasPolicy, onCounterMade: nothing },
      ...{ ranges: logRanges(stores), budget: INTERACTIVE_BUDGET },
      whoIsPaged: () => Promise.reject(new Error("nothing is tried here")),
      defaultChannels: () => Promise.reject(new Error("nothing is tried here")),
      readSavedSearch: () => Promise.reject(new Error("nothing is read here")),
      putCorrelation: () => Promise.reject(new Error("nothing is imported here")),
    }).routes,
  ];
  const app = testApp(routes, { ledger: testLedger(sql, now) });
  return { app, organization: (name) => organizationOf(sql, app, name) };
}

async function organizationOf(
  sql: TestStores["postgres"],
  app: TestApp,
  name: string,
): Promise<Organization> {
  const [organization] = await sql<{ id: number }[]>`
    INSERT INTO organizations (name, created_at) VALUES (${name}, now()) RETURNING id`;
  const id = organization?.id ?? 0;
  const userId = await addMember(sql, id, `${name}@example.com`);
  const send: Organization["send"] = (method, path, json, scopes = "*") =>
    app.send(method, path, {
      as: `admin/${scopes}/${userId}/${id}`,
      ...(json !== undefined && { json }),
    });
  const done = async (response: Response) => {
    const text = await response.text();
    expect([response.status, text]).toEqual([200, expect.anything()]);
    return JSON.parse(text);
  };
  return {
    ...{ id, userId, send },
    email: `${name}@example.com`,
    read: async (path) => done(await send("GET", path)),
    listed: async (path) => done(await send("GET", path)),
    plan: async (resources, options) => done(await send("POST", `${CONFIG}/plan`, { resources, ...options })),
    apply: async (resources, options) =>
      done(await send("POST", `${CONFIG}/apply`, { resources, ...options })),
    export: async () => (await done(await send("GET", CONFIG))).resources,
    refusal: async (resources, options, path = "plan") => {
      const response = await send("POST", `${CONFIG}/${path}`, { resources, ...options });
      const body = JSON.parse(await response.text());
      return { ...body, status: response.status, fields: body.fields ?? [] };
    },
    audit: async () => sql`
      SELECT action, resource, meta FROM audit_log WHERE organization_id = ${id} ORDER BY id`,
  };
}

/** Somebody who belongs to an organisation. */
async function addMember(
  sql: TestStores["postgres"],
  organizationId: number,
  email: string,
): Promise<number> {
  const [user] = await sql<{ id: string }[]>`
    INSERT INTO users (email, created_at) VALUES (${email}, now()) RETURNING id`;
  await sql`
    INSERT INTO memberships (organization_id, user_id, role, created_at)
    VALUES (${organizationId}, ${Number(user?.id)}, 'admin', now())`;
  return Number(user?.id);
}
