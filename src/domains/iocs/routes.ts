import type { Sql, TransactionSql } from "postgres";
import type { Static } from "typebox";
import type { Change } from "../../changes/change.ts";
import { putMany } from "../../changes/make-many.ts";
import { Records } from "../../changes/records.ts";
import { type IndicatorType, readIndicator } from "../../entities/indicators/indicator-value.ts";
import { ALLOWED_MAX } from "../../entities/indicators/limits.ts";
import { route } from "../../http/define-route.ts";
import { pageBody, pageOf, pageStart } from "../../http/record-page.ts";
import { BY_ID, resource } from "../../http/resource.ts";
import { lockOrganization } from "../../storage/organization-transaction.ts";
import { readFeedStats } from "./feed-stats.ts";
import { putKeys } from "./put-keys.ts";
import { confirmIoc, indicatorOf, iocs, putIoc, removeIoc } from "./records.ts";
import {
  AllowedIndicator,
  CreateAllowedBody,
  FeedStats,
  Ioc,
  IocPageParameters,
  PutIocBody,
  type UpdateAllowedBody,
  UpdateIocBody,
} from "./types.ts";

export interface IocRouteDependencies {
  readonly sql: Sql;
  readonly cursorKey: Uint8Array;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Rings when there is something to look for in what was found before. */
  readonly onBatch: () => void;
}

const PATH = "/api/v1/iocs";
const TAG = "Security records";
const read = { role: "viewer", scope: "security:read" } as const;
const write = { role: "member", scope: "security:write" } as const;

export const allowed = new Records<typeof AllowedIndicator, CreateAllowedBody, UpdateAllowedBody>({
  noun: "allowed indicator",
  table: "ioc_allow_list",
  schema: AllowedIndicator,
  maxPerOrganization: ALLOWED_MAX,
});

/** What an organisation looks for in its entries. */
export function iocRoutes({ sql, cursorKey, now, onBatch }: IocRouteDependencies) {
  const routes = resource({
    path: PATH,
    tag: TAG,
    one: "an IOC",
    many: "IOCs",
    by: BY_ID,
    record: Ioc,
    read,
    write,
    audit: "IOC",
  });
  return [
    pageRoute({ sql, cursorKey, now }),
    routes.put(PutIocBody, Ioc, async (change, body) => {
      const put = await putIoc(change, body);
      if (put.isNew) change.afterCommit(onBatch);
      return put;
    }),
    statsRoute({ sql, now }),
    routes.read(Ioc, ({ organizationId }, id) => iocs.read(sql, organizationId, id)),
    routes.update(UpdateIocBody, confirmIoc),
    routes.remove(removeIoc),
  ];
}

/** What is never told of, whatever is looked for: what is shared by so many that finding it says nothing. */
export function allowListRoutes({ sql }: Pick<IocRouteDependencies, "sql">) {
  const routes = resource({
    path: `${PATH}/allow-list`,
    tag: TAG,
    one: "an allowed indicator",
    many: "allowed indicators",
    by: BY_ID,
    record: AllowedIndicator,
    read,
    write,
    audit: "ALLOWED_INDICATOR",
  });
  return [
    routes.list("Oldest first", ({ organizationId }) => allowed.list(sql, organizationId)),
    routes.put(CreateAllowedBody, AllowedIndicator, putAllowed),
    routes.remove(allowed.remove),
  ];
}

function pageRoute({ sql, cursorKey, now }: Omit<IocRouteDependencies, "onBatch">) {
  return route({
    method: "GET",
    path: PATH,
    tag: TAG,
    summary: "List the IOCs",
    access: read,
    query: IocPageParameters,
    responses: { 200: { description: "Newest first", schema: pageOf(Ioc) } },
    handler: async ({ principal: { organizationId } }, { query }) => {
      const { type, value, status } = query;
      const list = {
        key: cursorKey,
        purpose: `iocs:${JSON.stringify([type, value, status])}`,
        organizationId,
      };
      const at = new Date(now());
      const page = await iocs.page(sql, organizationId, pageStart(query, list), (tx) => {
        const ofType = type === undefined ? tx`true` : tx`type = ${type}`;
        const ofValue = value === undefined ? tx`true` : ofKeys(tx, organizationId, spellings(type, value));
        const isExpired = tx`coalesce(expires_at <= ${at}, false)`;
        const ofStatus = status === undefined ? tx`true` : tx`${isExpired} = ${status === "expired"}`;
        return tx`${ofType} AND ${ofValue} AND ${ofStatus}`;
      });
      return { status: 200, body: pageBody(page, list) };
    },
  });
}

function ofKeys(tx: TransactionSql, organizationId: number, values: readonly string[]) {
  return tx`key = ANY(ARRAY(SELECT ioc_key(${organizationId}, value) FROM unnest(${[...values]}::text[]) AS value))`;
}

/** The values that a text may be one of, of a type or of any. */
function spellings(type: IndicatorType | undefined, text: string): string[] {
  const types = type === undefined ? (["ip", "domain", "hash"] as const) : [type];
  return types.flatMap((each) => {
    const reading = readIndicator(each, text);
    return reading.ok ? [reading.indicator.value] : [];
  });
}

function statsRoute({ sql, now }: Pick<IocRouteDependencies, "sql" | "now">) {
  return route({
    method: "GET",
    path: `${PATH}/feed-stats`,
    tag: TAG,
    summary: "Count the IOCs, and what became of the feeds",
    access: read,
    responses: { 200: { description: "As of now", schema: FeedStats } },
    handler: async ({ principal: { organizationId } }) => ({
      status: 200,
      body: await readFeedStats(sql, organizationId, now()),
    }),
  });
}

/** Lets an indicator pass, or says something else of one that passes already. */
function putAllowed(change: Change, { type, value: text, ...fields }: CreateAllowedBody) {
  const { value } = indicatorOf(type, text);
  return allowed.put(change, { type, value, ...fields }, (tx) => tx`type = ${type} AND value = ${value}`);
}

/** The same of many, whose records it answers in their order. */
export async function putManyAllowed(
  change: Change,
  bodies: readonly CreateAllowedBody[],
): Promise<Static<typeof AllowedIndicator>[]> {
  const { tx, organizationId } = change;
  const given = bodies.map((body) => ({ ...body, value: indicatorOf(body.type, body.value).value }));
  await lockOrganization(tx, organizationId);
  const keys = await putKeys(tx, "ioc_allow_list", organizationId, given);
  return putMany(given, keys, {
    together: (some) => allowed.createAll(change, some),
    alone: async (body) => (await putAllowed(change, body)).record,
  });
}
