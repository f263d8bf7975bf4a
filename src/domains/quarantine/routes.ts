import { createHmac } from "node:crypto";
import type { Sql } from "postgres";
import { Type } from "typebox";
import { route } from "../../http/define-route.ts";
import { IdParams } from "../../http/record-schemas.ts";
import type { QuarantineBounds } from "./quarantine.ts";
import type { QuarantineMetrics } from "./quarantine-metrics.ts";
import { listRecords } from "./record-list.ts";
import type { Replayer } from "./replay/replayer.ts";
import { discardRecord, discardRecords, factsOf, readRecord, readSummary } from "./service.ts";
import {
  DiscardAnswer,
  DiscardBody,
  DryRunAnswer,
  ListParameters,
  QuarantinedRecord,
  RecordPage,
  ReplayAnswer,
  ReplayBody,
  Summary,
} from "./types.ts";

interface QuarantineRouteDependencies {
  readonly sql: Sql;
  readonly replayer: Replayer;
  readonly bounds: QuarantineBounds;
  readonly metrics: QuarantineMetrics;
  /** What the server signs cursors with. */
  readonly cursorKey: Uint8Array;
}

const PATH = "/api/v1/ingest/quarantine";
const TAG = "Ingest sources";
const read = { role: "viewer", scope: "sources:read" } as const;
const write = { role: "member", scope: "sources:write" } as const;

/** What reached the organisation and could not be mapped: looking at it, replaying it, throwing it away. */
export function quarantineRoutes(deps: QuarantineRouteDependencies) {
  return [...readRoutes(deps), ...replayRoutes(deps), ...discardRoutes(deps)];
}

function readRoutes({ sql, bounds, cursorKey: serverKey }: QuarantineRouteDependencies) {
  const cursorKey = createHmac("sha256", serverKey).update("quarantine").digest();
  return [
    route({
      method: "GET",
      path: PATH,
      tag: TAG,
      summary: "List the records that could not be mapped, newest first",
      access: read,
      query: ListParameters,
      responses: { 200: { description: "One page of the records that match", schema: RecordPage } },
      handler: async ({ principal }, { query }) => ({
        status: 200,
        body: await listRecords({ sql, cursorKey }, principal.organizationId, query),
      }),
    }),
    route({
      method: "GET",
      path: `${PATH}/summary`,
      tag: TAG,
      summary: "Count the records that could not be mapped, by source and reason",
      access: read,
      responses: { 200: { description: "The counts", schema: Summary } },
      handler: async ({ principal }) => ({
        status: 200,
        body: await readSummary(sql, principal.organizationId, bounds),
      }),
    }),
    route({
      method: "GET",
      path: `${PATH}/:id`,
      tag: TAG,
      summary: "Show a record that could not be mapped, whole",
      access: read,
      params: IdParams,
      responses: { 200: { description: "The record", schema: QuarantinedRecord } },
      handler: async ({ principal }, { params }) => ({
        status: 200,
        body: await readRecord(sql, principal.organizationId, Number(params.id)),
      }),
    }),
  ];
}

function replayRoutes({ replayer }: QuarantineRouteDependencies) {
  return [
    route({
      method: "POST",
      path: `${PATH}/replay`,
      tag: TAG,
      summary:
        "Map quarantined records again, as their sources are configured now; a dry run only says what would be",
      access: write,
      audit: "REPLAY_QUARANTINE",
      body: { kind: "json", schema: ReplayBody },
      responses: {
        200: { description: "What was done, or would be", schema: Type.Union([ReplayAnswer, DryRunAnswer]) },
      },
      handler: async (
        { change, principal, request },
        { body: { dryRun = false, takeOver = false, ...filter } },
      ) => {
        const { organizationId } = principal;
        if (dryRun) {
          const found = await replayer.dryRun(organizationId, filter, request.signal);
          const { matched, wouldAccept, wouldReject } = found;
          return change(async (made) => {
            const facts = { ...factsOf(filter), matched, wouldAccept, wouldReject };
            made.record({ resource: "quarantine", facts }, "PREVIEW_QUARANTINE_REPLAY");
            return { status: 200, body: { dryRun, ...found } };
          });
        }
        if (takeOver) await replayer.takeOver(organizationId);
        const done = await replayer.replay(organizationId, filter, request.signal);
        const { reasons: _reasons, ...counts } = done;
        return change(async (made) => {
          made.record({ resource: "quarantine", facts: { ...factsOf(filter), takeOver, ...counts } });
          return { status: 200, body: { dryRun, ...done } };
        });
      },
    }),
  ];
}

function discardRoutes({ metrics }: QuarantineRouteDependencies) {
  return [
    route({
      method: "POST",
      path: `${PATH}/discard`,
      tag: TAG,
      summary: "Discard quarantined records that match",
      access: write,
      audit: "DISCARD_QUARANTINE",
      body: { kind: "json", schema: DiscardBody },
      responses: { 200: { description: "How many", schema: DiscardAnswer } },
      handler: ({ change }, { body }) =>
        change(async (made) => ({ status: 200, body: await discardRecords(made, body, metrics) })),
    }),
    route({
      method: "DELETE",
      path: `${PATH}/:id`,
      tag: TAG,
      summary: "Discard a quarantined record",
      access: write,
      audit: "DISCARD_QUARANTINE",
      params: IdParams,
      responses: { 204: { description: "Discarded" } },
      errors: ["CONFLICT"],
      handler: ({ change }, { params }) =>
        change(async (made) => {
          await discardRecord(made, Number(params.id), metrics);
          return { status: 204 };
        }),
    }),
  ];
}
