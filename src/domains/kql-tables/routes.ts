import type { Sql } from "postgres";
import { Type } from "typebox";
import { readColumnTypes, type ScalarType } from "../../../query/index.ts";
import type { Change } from "../../changes/change.ts";
import { ApiError, validationFailed } from "../../errors.ts";
import { route } from "../../http/define-route.ts";
import { requireMediaType } from "../../http/media-type.ts";
import { readBody } from "../../http/read-body.ts";
import { resource } from "../../http/resource.ts";
import type { AuthenticatedContext } from "../../http/route.ts";
import { FileProblem } from "../../kql/kept/delimited-rows.ts";
import type { KeptDirectory } from "../../kql/kept/kept-directory.ts";
import type { KeptRows } from "../../kql/kept/kept-rows.ts";
import { TABLE_MAX_BYTES, TABLE_MAX_PACKED_BYTES } from "../../kql/kept/limits.ts";
import { readUploadedTable } from "../../kql/kept/uploaded-table.ts";
import { checkTableName, listTables, putTable, readTable, removeTable } from "./tables.ts";
import { KqlTable, KqlTableParams, UploadParameters } from "./types.ts";

export interface KqlTableDependencies {
  readonly sql: Sql;
  readonly kept: Pick<KeptDirectory, "forget">;
  readonly keptRows: Pick<KeptRows, "write">;
}

const PATH = "/api/v1/kql/tables";
const TAG = "KQL";
const CSV = ["text/csv"];
const write = { role: "member", scope: "logs:write" } as const;

/** Tables that an organisation keeps for its queries, such as who owns which host. */
export function kqlTableRoutes(deps: KqlTableDependencies) {
  const { sql } = deps;
  const routes = resource({
    path: PATH,
    tag: TAG,
    one: "a KQL table",
    many: "KQL tables",
    by: { param: "name", params: KqlTableParams, id: ({ name }) => name },
    record: KqlTable,
    read: { role: "viewer", scope: "logs:read" },
    write,
    audit: "KQL_TABLE",
  });
  return [
    routes.list("Oldest first", ({ organizationId }) => listTables(sql, organizationId)),
    uploadRoute(deps),
    routes.read(KqlTable, ({ organizationId }, name) => readTable(sql, organizationId, name)),
    routes.remove((change, name) => {
      forgets(deps, change);
      return removeTable(change, name);
    }),
  ];
}

function forgets({ kept }: KqlTableDependencies, change: Change): void {
  change.afterCommit(() => kept.forget(change.organizationId));
}

function uploadRoute(deps: KqlTableDependencies) {
  return route({
    method: "PUT",
    path: `${PATH}/:name`,
    tag: TAG,
    summary: "Create a KQL table of a CSV file, or put its rows in place of the table's own",
    access: write,
    audit: "UPLOAD_KQL_TABLE",
    params: KqlTableParams,
    query: UploadParameters,
    body: {
      kind: "raw",
      contentTypes: CSV,
      documented: Type.String({
        description: "A line of names, then a line for each row.",
        examples: ["host,owner\nweb-1,shop\nweb-2,shop\n"],
      }),
    },
    responses: { 200: { description: "The table as it is now", schema: KqlTable } },
    errors: ["CONFLICT", "PAYLOAD_TOO_LARGE", "REQUEST_TIMEOUT", "UNSUPPORTED_MEDIA_TYPE"],
    handler: async (context, { params: { name }, query }) => {
      checkTableName(name);
      const types = typesOf(query.types ?? "");
      const { columns, rows, bytes } = await readFile(context, types);
      // Written before the change begins, which others of the organisation would wait for.
      const rowsId = await deps.keptRows.write(context.principal.organizationId, rows);
      return context.change(async (made) => {
        forgets(deps, made);
        const upload = { columns, rows: rows.length, bytes, rowsId };
        return { status: 200, body: await putTable(made, name, upload) };
      });
    },
  });
}

function typesOf(text: string): ReadonlyMap<string, ScalarType> {
  const read = readColumnTypes(text);
  if (read.ok) return new Map(read.columns.map(({ name, type }) => [name, type]));
  throw validationFailed([{ path: "/types", code: "custom", message: read.message }]);
}

async function readFile(context: AuthenticatedContext, types: ReadonlyMap<string, ScalarType>) {
  const { request, reserveMemory, unpackTurn } = context;
  requireMediaType(request, CSV);
  const limits = {
    maxPackedBytes: TABLE_MAX_PACKED_BYTES,
    maxUnpackedBytes: TABLE_MAX_BYTES,
    encodings: ["gzip"],
  } as const;
  const body = await readBody(request, limits, reserveMemory, unpackTurn);
  try {
    return { bytes: body.length, ...(await readUploadedTable(decoded(body), types)) };
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    throw new ApiError("VALIDATION_FAILED", error.message, {
      fields: [{ path: "/", code: "custom", message: error.message }],
    });
  }
}

function decoded(body: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    throw new FileProblem("The file is not text in UTF-8.");
  }
}
