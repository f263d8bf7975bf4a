import type { Sql } from "postgres";
import { NO_DAILY_CAPS, type Principal } from "../../src/access/principal.ts";
import type { AuditEntry } from "../../src/audit/audit-entry.ts";
import type { Change } from "../../src/changes/change.ts";
import { auditRoutes } from "../../src/domains/audit/routes.ts";
import type { RequestLedger } from "../../src/http/ledger/request-ledger.ts";
import { testApp } from "../harness/http-app.ts";
import { testLedger } from "../harness/ledger.ts";
import type { TestStores } from "../harness/stores.ts";

/** What every audit suite reads the log with. */
export const CURSOR_KEY = Buffer.alloc(32, 9);
export const ORIGIN = { ip: "192.0.2.7", userAgent: "suite/1.0" };

export interface AuditRow {
  id: number;
  createdAt: string;
  actorUserId: number | null;
  actorPatId: number | null;
  actorEmail: string;
  action: string;
  resource: string;
  meta: Record<string, unknown>;
}

export interface Verdict {
  ok: boolean;
  checkedRows: number;
  firstBrokenId: number | null;
  anchoredThrough: number;
  missingTail: boolean;
  problem: string | null;
  nextCursor: string | null;
}

export async function makeOrganization(sql: Sql): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    INSERT INTO organizations (name, created_at) VALUES ('audited', now()) RETURNING id`;
  return row?.id ?? 0;
}

export function principalOf(organizationId: number, overrides: Partial<Principal> = {}): Principal {
  return {
    kind: "token",
    userId: 5,
    organizationId,
    email: "ana@example.com",
    role: "admin",
    scopes: ["*"],
    tokenId: 3,
    caps: NO_DAILY_CAPS,
    credentialKey: "token:3",
    ...overrides,
  };
}

interface RecordedChange {
  readonly entries: readonly AuditEntry[];
  readonly action?: string;
  readonly principal?: Partial<Principal>;
  readonly work?: (change: Change) => Promise<unknown>;
}

/** One change of state with its audit rows, as a handler makes it. */
export async function recordChange(
  ledger: RequestLedger,
  organizationId: number,
  { entries, action = "UPDATE_THING", principal, work }: RecordedChange,
): Promise<void> {
  await ledger.change(
    {
      principal: principalOf(organizationId, principal),
      action,
      origin: ORIGIN,
      execution: null,
      signal: new AbortController().signal,
    },
    async (change) => {
      await work?.(change);
      for (const entry of entries) change.record(entry);
      return { status: 200, body: null };
    },
    {},
  );
}

/** So many rows, one change each: `thing:1`, `thing:2` and so on. */
export async function fillLog(sql: Sql, organizationId: number, rows: number): Promise<void> {
  const ledger = testLedger(sql);
  for (let n = 1; n <= rows; n += 1)
    await recordChange(ledger, organizationId, {
      entries: [{ resource: `thing:${n}`, before: { n: n - 1 }, after: { n } }],
    });
}

/** Sends requests to the audit routes as an admin of the organisation. */
export function auditReader(stores: TestStores, organizationId: number, overrides: Partial<Principal> = {}) {
  const { send } = testApp(
    auditRoutes({
      sql: stores.postgres,
      clickhouse: stores.clickhouse,
      cursorKey: CURSOR_KEY,
    }),
    { authenticator: { authenticate: () => principalOf(organizationId, overrides) } },
  );
  const get = (path: string): Promise<Response> => send("GET", `/api/v1/audit-logs${path}`);
  const list = async (query = ""): Promise<{ items: AuditRow[]; nextCursor: string | null }> =>
    JSON.parse(await (await get(query)).text());
  const verify = async (query = ""): Promise<Verdict> =>
    JSON.parse(await (await get(`/verify${query}`)).text());
  return { get, list, verify };
}
