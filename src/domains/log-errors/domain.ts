import type { Sql } from "postgres";
import { Type } from "typebox";
import { route } from "../../http/define-route.ts";
import { IdParams } from "../../http/record-schemas.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { mergeGroup, unmergeGroup, updateGroup } from "./change-group.ts";
import { type DetailDependencies, readDetails } from "./details.ts";
import { changedGroups, findGroup, otherGroups, removeOldHours, removeQuietGroups } from "./group-store.ts";
import { type ListDependencies, listGroups } from "./list-groups.ts";
import { similarGroups } from "./similar.ts";
import {
  ErrorGroup,
  ErrorGroupDetails,
  ErrorGroupList,
  ListParameters,
  MergeBody,
  SimilarGroup,
  UpdateErrorGroupBody,
} from "./types.ts";

const PATH = "/api/v1/log-errors";
const TAG = "Log errors";
const read = { role: "viewer", scope: "alerts:read" } as const;
const write = { role: "member", scope: "alerts:write" } as const;
const found = { 200: { description: "As it is now", schema: ErrorGroup } } as const;

/** Errors in the logs, put together as faults. What finds them is `finding/`, which looks through what is stored. */
export function logErrorDomain(deps: ListDependencies & DetailDependencies) {
  return {
    housekeeping: [removeQuietGroups, removeOldHours],
    routes: [...readingRoutes(deps), ...changingRoutes()],
  };
}

function readingRoutes(deps: ListDependencies & DetailDependencies) {
  const { sql } = deps;
  return [
    route({
      method: "GET",
      path: PATH,
      tag: TAG,
      summary: "List error groups, those first that were there last",
      access: read,
      query: ListParameters,
      responses: { 200: { description: "One page", schema: ErrorGroupList } },
      handler: async ({ principal }, { query }) => ({
        status: 200,
        body: await listGroups(deps, principal.organizationId, query),
      }),
    }),
    route({
      method: "GET",
      path: `${PATH}/:id`,
      tag: TAG,
      summary: "Read an error group with its counts, releases, newest entries and calls",
      access: read,
      params: IdParams,
      responses: { 200: { description: "As it is now", schema: ErrorGroupDetails } },
      handler: async (context, { params }) => ({
        status: 200,
        body: await readDetails(deps, context, Number(params.id)),
      }),
    }),
    route({
      method: "GET",
      path: `${PATH}/:id/similar`,
      tag: TAG,
      summary: "List error groups that may be the same fault",
      access: read,
      params: IdParams,
      responses: { 200: { description: "The most alike first", schema: Type.Array(SimilarGroup) } },
      handler: async ({ principal: { organizationId } }, { params }) => {
        const id = Number(params.id);
        const { own, others } = await askPostgres(() =>
          inOrganization(sql, organizationId, async (tx) => ({
            own: await findGroup(tx, organizationId, id),
            others: await otherGroups(tx, organizationId, id),
          })),
        );
        return { status: 200, body: similarGroups(own, others) };
      },
    }),
  ];
}

function changingRoutes() {
  return [
    route({
      method: "PATCH",
      path: `${PATH}/:id`,
      tag: TAG,
      summary: "Resolve, ignore or open an error group",
      access: write,
      audit: "UPDATE_LOG_ERROR",
      params: IdParams,
      body: { kind: "json", schema: UpdateErrorGroupBody },
      responses: found,
      errors: ["CONFLICT"],
      handler: ({ change }, { params, body }) =>
        change(async (made) => ({ status: 200, body: await updateGroup(made, Number(params.id), body) })),
    }),
    route({
      method: "POST",
      path: `${PATH}/:id/merge`,
      tag: TAG,
      summary: "Count an error group with another one, its later entries, too",
      access: write,
      audit: "MERGE_LOG_ERROR",
      params: IdParams,
      body: { kind: "json", schema: MergeBody },
      responses: found,
      errors: ["CONFLICT"],
      handler: ({ change }, { params, body }) =>
        change(async (made) => ({ status: 200, body: await mergeGroup(made, Number(params.id), body.into) })),
    }),
    route({
      method: "POST",
      path: `${PATH}/:id/unmerge`,
      tag: TAG,
      summary: "Make a merged error group one of its own again",
      access: write,
      audit: "UNMERGE_LOG_ERROR",
      params: IdParams,
      responses: found,
      errors: ["CONFLICT"],
      handler: ({ change }, { params }) =>
        change(async (made) => ({ status: 200, body: await unmergeGroup(made, Number(params.id)) })),
    }),
  ];
}

/** What began to go wrong between two times, or went wrong again; the latest first. */
export async function readErrorChanges(
  { sql }: { readonly sql: Sql },
  organizationId: number,
  times: { readonly fromMs: number; readonly toMs: number },
): Promise<ErrorGroup[]> {
  return askPostgres(() =>
    inOrganization(sql, organizationId, (tx) => changedGroups(tx, organizationId, times)),
  );
}
