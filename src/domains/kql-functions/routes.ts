import type { Sql } from "postgres";
import { Type } from "typebox";
import type { Change } from "../../changes/change.ts";
import { route } from "../../http/define-route.ts";
import { IdParams } from "../../http/record-schemas.ts";
import { BY_ID, resource } from "../../http/resource.ts";
import type { KeptDirectory } from "../../kql/kept/kept-directory.ts";
import {
  createFunction,
  listFunctions,
  listVersions,
  readFunction,
  removeFunction,
  updateFunction,
} from "./functions.ts";
import { CreateKqlFunctionBody, KqlFunction, KqlFunctionVersion, UpdateKqlFunctionBody } from "./types.ts";

interface KqlFunctionDependencies {
  readonly sql: Sql;
  readonly kept: Pick<KeptDirectory, "forget">;
}

const PATH = "/api/v1/kql/functions";
const TAG = "KQL";
const read = { role: "viewer", scope: "logs:read" } as const;

/** Functions that an organisation keeps under a name and its queries call like any other. */
export function kqlFunctionRoutes({ sql, kept }: KqlFunctionDependencies) {
  const routes = resource({
    path: PATH,
    tag: TAG,
    one: "a KQL function",
    many: "KQL functions",
    by: BY_ID,
    record: KqlFunction,
    read,
    write: { role: "member", scope: "logs:write" },
    audit: "KQL_FUNCTION",
  });
  const forgetting =
    <A extends readonly unknown[], R>(work: (change: Change, ...args: A) => Promise<R>) =>
    (change: Change, ...args: A): Promise<R> => {
      change.afterCommit(() => kept.forget(change.organizationId));
      return work(change, ...args);
    };
  return [
    routes.list("Oldest first", ({ organizationId }) => listFunctions(sql, organizationId)),
    routes.create(CreateKqlFunctionBody, KqlFunction, forgetting(createFunction), {
      errors: ["KQL_INVALID"],
    }),
    routes.read(KqlFunction, ({ organizationId }, id) => readFunction(sql, organizationId, id)),
    routes.update(UpdateKqlFunctionBody, forgetting(updateFunction), { errors: ["CONFLICT", "KQL_INVALID"] }),
    routes.remove(forgetting(removeFunction)),
    route({
      method: "GET",
      path: `${PATH}/:id/versions`,
      tag: TAG,
      summary: "List what a KQL function is and was",
      access: read,
      params: IdParams,
      responses: { 200: { description: "The newest first", schema: Type.Array(KqlFunctionVersion) } },
      handler: async ({ principal }, { params }) => ({
        status: 200,
        body: await listVersions(sql, principal.organizationId, Number(params.id)),
      }),
    }),
  ];
}
