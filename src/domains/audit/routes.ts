import { createHmac } from "node:crypto";
import type { ClickHouseClient } from "@clickhouse/client";
import type { Sql } from "postgres";
import { Type } from "typebox";
import { route } from "../../http/define-route.ts";
import type { Reply } from "../../http/route.ts";
import { exportRows } from "./read/export-rows.ts";
import { listRows, type Page } from "./read/list-rows.ts";
import { LIST_CSV_HEADER, listCsvLine, publicRow } from "./read/row-formats.ts";
import { ExportParameters, ListAnswer, ListParameters } from "./read/types.ts";
import { VerifyAnswer, VerifyParameters } from "./verify/types.ts";
import { Verification } from "./verify/verification.ts";

interface AuditRouteDependencies {
  readonly sql: Sql;
  readonly clickhouse: ClickHouseClient;
  /** What the server signs cursors with; those of the audit log have a key derived from it. */
  readonly cursorKey: Uint8Array;
}

/** Rows hold addresses and doings of all members, some of them from areas that only admins see: people are the admins' business. */
const access = { role: "admin", scope: "audit:read" } as const;
const Csv = Type.String({ description: "A line of names, then a line for each row." });
const ExportedRow = Type.Object({}, { additionalProperties: true, description: "A row, one a line." });
const PATH = "/api/v1/audit-logs";

/** Reading and verifying the audit log of an organisation. */
export function auditRoutes({ sql, clickhouse, cursorKey: serverKey }: AuditRouteDependencies) {
  const cursorKey = createHmac("sha256", serverKey).update("audit").digest();
  const monotonicMs = (): number => performance.now();
  const verification = new Verification({ sql, clickhouse, cursorKey, monotonicMs });
  return [
    route({
      method: "GET",
      path: PATH,
      tag: "Audit",
      summary: "List who changed what, newest first; as CSV a `Link` header names the next page",
      access,
      query: ListParameters,
      responses: {
        200: {
          description: "One page of the rows that match",
          schema: ListAnswer,
          alternatives: { "text/csv": Csv },
        },
      },
      handler: async ({ principal, request }, { query }) => {
        const page = await listRows({ sql, cursorKey }, principal.organizationId, query);
        return query.format === "csv" ? csvReply(page, request.url) : jsonReply(page);
      },
    }),
    route({
      method: "GET",
      path: `${PATH}/export`,
      tag: "Audit",
      summary: "Download every row that matches with its place and hash, oldest first",
      access,
      query: ExportParameters,
      responses: {
        200: {
          description: "The rows; a connection that breaks off says that the file is incomplete",
          contentType: "application/x-ndjson",
          schema: ExportedRow,
          alternatives: { "text/csv": Csv },
        },
      },
      idleTimeoutSec: 0,
      handler: (context, { query }) => exportRows(sql, context, query),
    }),
    route({
      method: "GET",
      path: `${PATH}/verify`,
      tag: "Audit",
      summary: "Check that no row of the audit log was changed, removed or added behind the server's back",
      access,
      query: VerifyParameters,
      responses: { 200: { description: "What was found", schema: VerifyAnswer } },
      idleTimeoutSec: 0,
      handler: async ({ principal, request }, { query }) => ({
        status: 200,
        body: await verification.verify(principal.organizationId, query.cursor, request.signal),
      }),
    }),
  ];
}

function jsonReply({ rows, nextCursor }: Page): Reply {
  return { status: 200, body: { items: rows.map(publicRow), nextCursor } };
}

function csvReply({ rows, nextCursor }: Page, url: string): Response {
  const headers = new Headers({ "content-type": "text/csv; charset=utf-8; header=present" });
  if (nextCursor !== null) {
    const { pathname, searchParams } = new URL(url);
    searchParams.set("cursor", nextCursor);
    headers.set("link", `<${pathname}?${searchParams}>; rel="next"`);
  }
  return new Response(LIST_CSV_HEADER + rows.map(listCsvLine).join(""), { headers });
}
