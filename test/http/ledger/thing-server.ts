import { Type } from "typebox";
import { type DailyCapsOfToken, NO_DAILY_CAPS, type Principal } from "../../../src/access/principal.ts";
import type { Change } from "../../../src/changes/change.ts";
import { Changes } from "../../../src/changes/changes.ts";
import { ApiError } from "../../../src/errors.ts";
import type { Authenticator } from "../../../src/http/authenticator.ts";
import { route } from "../../../src/http/define-route.ts";
import { PostgresLedger } from "../../../src/http/ledger/request-ledger.ts";
import type { Reply, Route } from "../../../src/http/route.ts";
import { type SendOptions, testApp } from "../../harness/http-app.ts";
import { TEST_BOX } from "../../harness/ledger.ts";
import type { TestStores } from "../../harness/stores.ts";

export const START_MS = Date.parse("2026-03-01T12:00:00.000Z");
export const THINGS = "/api/v1/things";
const SECRET_HEADER = "x-made";

/** One instance of a server that makes things, which are rows of `saved_searches`; several share the stores. */
interface ThingServer {
  /** Milliseconds since 1970; moves only when told to. */
  nowMs: number;
  readonly ledger: PostgresLedger;
  /** Organisations the ledger said have a longer audit log, in this order. */
  readonly audited: number[];
  readonly post: (json: unknown, options?: CallOptions) => Promise<Response>;
  readonly send: (method: string, path: string, options?: SendOptions) => Promise<Response>;
}

export interface CallOptions {
  readonly key?: string;
  readonly as?: Caller;
  readonly path?: string;
  readonly method?: string;
}

interface Caller {
  readonly organizationId?: number;
  readonly userId?: number;
  /** Null for a session. */
  readonly tokenId?: number | null;
  readonly dailyMutations?: number | null;
}

/** What the handlers of a server do beyond making a thing. */
interface Behaviour {
  /** Runs inside the transaction, after the thing was made. */
  readonly meanwhile?: (change: Change, name: string) => Promise<void>;
  /** Runs before anything is changed. */
  readonly before?: (name: string) => void;
  readonly reply?: (name: string) => Reply;
}

const NameBody = Type.Object({ name: Type.String({ minLength: 1 }) }, { additionalProperties: false });

export function thingServer(
  sql: TestStores["postgres"],
  organizationId: number,
  behaviour: Behaviour = {},
): ThingServer {
  const clock = { nowMs: START_MS };
  const audited: number[] = [];
  const ledger = new PostgresLedger({
    sql,
    box: TEST_BOX,
    changes: new Changes({ sql, now: () => clock.nowMs, onAudited: (id) => audited.push(id) }),
  });
  const { send } = testApp(thingRoutes(behaviour), { ledger, authenticator: callerOf(organizationId) });
  const server: ThingServer = {
    get nowMs() {
      return clock.nowMs;
    },
    set nowMs(ms) {
      clock.nowMs = ms;
    },
    ledger,
    audited,
    send,
    post: (json, { key, as, path = THINGS, method = "POST" } = {}) =>
      send(method, path, {
        json,
        headers: {
          ...(key !== undefined && { "idempotency-key": key }),
          ...(as !== undefined && { [SECRET_HEADER]: JSON.stringify(as) }),
        },
      }),
  };
  return server;
}

function thingRoutes({ before, meanwhile, reply }: Behaviour): Route[] {
  const makeThing = route({
    method: "POST",
    path: THINGS,
    tag: "Things",
    summary: "Make a thing",
    access: { role: "member", scope: "logs:write" },
    audit: "CREATE_THING",
    query: Type.Object({ note: Type.Optional(Type.String()) }, { additionalProperties: false }),
    body: { kind: "json", schema: NameBody },
    responses: { 201: { description: "The thing", schema: Type.Unknown() }, 204: { description: "Nothing" } },
    // What the behaviour of a test may answer.
    errors: ["NOT_FOUND", "CONFLICT", "PLAN_LIMIT_LOG_BYTES", "QUERY_TIMEOUT"],
    handler: ({ change }, { body: { name } }) => {
      before?.(name);
      return change(async (made) => {
        const id = await insertThing(made, name);
        await meanwhile?.(made, name);
        made.record({ resource: `thing:${id}`, after: { name } });
        return reply?.(name) ?? { status: 201, body: { id, name }, headers: { location: `${THINGS}/${id}` } };
      });
    },
  });
  const forgetful = route({
    method: "POST",
    path: `${THINGS}/forgetful`,
    tag: "Things",
    summary: "Declares a change and makes none",
    access: { role: "member", scope: "logs:write" },
    audit: "CREATE_THING",
    body: { kind: "json", schema: NameBody },
    responses: { 200: { description: "Nothing", schema: Type.Null() } },
    handler: () => ({ status: 200, body: null }),
  });
  return [makeThing, { ...makeThing, method: "PUT" }, { ...makeThing, path: `${THINGS}/others` }, forgetful];
}

async function insertThing({ tx, organizationId, nowMs }: Change, name: string): Promise<number> {
  const now = new Date(nowMs);
  const [row] = await tx<{ id: string }[]>`
    INSERT INTO saved_searches (organization_id, name, created_at, updated_at)
    VALUES (${organizationId}, ${name}, ${now}, ${now}) RETURNING id`;
  if (row === undefined) throw new ApiError("CONFLICT", "no row");
  return Number(row.id);
}

function callerOf(organizationId: number): Authenticator {
  return {
    authenticate: (request) => {
      const caller: Caller = JSON.parse(request.headers.get(SECRET_HEADER) ?? "{}");
      const { userId = 5, tokenId = 3 } = caller;
      const caps: DailyCapsOfToken = { ...NO_DAILY_CAPS, dailyMutations: caller.dailyMutations ?? null };
      const principal: Principal = {
        // A session rides on a cookie, which these calls do not; whose key it is depends on the token alone.
        kind: "token",
        userId,
        organizationId: caller.organizationId ?? organizationId,
        email: "ana@example.com",
        role: "member",
        scopes: ["*"],
        tokenId,
        caps,
        credentialKey: `user:${userId}`,
      };
      return principal;
    },
  };
}

export async function makeOrganization(sql: TestStores["postgres"]): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    INSERT INTO organizations (name, created_at) VALUES ('things', now()) RETURNING id`;
  return row?.id ?? 0;
}

/** How many things of this name there are. */
export async function countThings(sql: TestStores["postgres"], name: string): Promise<number> {
  const [row] = await sql<{ things: number }[]>`
    SELECT count(*)::integer AS things FROM saved_searches WHERE name = ${name}`;
  return row?.things ?? 0;
}

/** Status and code of an answer, for example `409 CONFLICT`, `201 replayed` or `201`. */
export async function outcomeOf(response: Response): Promise<string> {
  if (response.headers.get("idempotent-replayed") === "true") return `${response.status} replayed`;
  if (response.status < 400) return String(response.status);
  const { code }: { code: string } = JSON.parse(await response.text());
  return `${response.status} ${code}`;
}
