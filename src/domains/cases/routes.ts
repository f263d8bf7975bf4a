import type { Sql } from "postgres";
import { Type } from "typebox";
import { requireAccess } from "../../http/access.ts";
import { route } from "../../http/define-route.ts";
import { pageBody, pageOf, pageStart } from "../../http/record-page.ts";
import { IdParams } from "../../http/record-schemas.ts";
import type { AuthenticatedContext } from "../../http/route.ts";
import { copyOf } from "./evidence.ts";
import { caseAsMarkdown } from "./export-case.ts";
import { type CasePorts, Cases } from "./service.ts";
import {
  AttachBody,
  Case,
  CaseDetails,
  CreateCaseBody,
  EvidenceBody,
  ListCasesParameters,
  MergeBody,
  NoteBody,
  UpdateCaseBody,
} from "./types.ts";

interface CaseDependencies extends CasePorts {
  readonly sql: Sql;
  readonly cursorKey: Uint8Array;
  /** An incident as its readers see it. Throws NOT_FOUND. */
  readonly readIncident: (organizationId: number, id: number) => Promise<{ readonly openedAt: string }>;
  /** A log entry as its readers see it, for somebody who may read it. Throws NOT_FOUND and PAT_SCOPE_INSUFFICIENT. */
  readonly readEntry: (context: AuthenticatedContext, id: string) => Promise<{ readonly ts: string }>;
}

const PATH = "/api/v1/cases";
const TAG = "Cases";
const read = { role: "viewer", scope: "security:read" } as const;
const write = { role: "member", scope: "security:write" } as const;
/** Who copies something may read it. */
const EVIDENCE_SCOPES = {
  log: "logs:read",
  incident: "incidents:read",
  detection: "alerts:read",
  text: null,
} as const;
const DETAILS = { description: "The case as it is now", schema: CaseDetails } as const;

/** What an organisation looks into, with what belongs to it. */
export function caseRoutes(deps: CaseDependencies) {
  const cases = new Cases(deps.sql, deps);
  return [
    route({
      method: "GET",
      path: PATH,
      tag: TAG,
      summary: "List cases",
      access: read,
      query: ListCasesParameters,
      responses: { 200: { description: "Newest first", schema: pageOf(Case) } },
      handler: async ({ principal: { organizationId } }, { query }) => {
        const { status, assignee, incident } = query;
        const purpose = `cases:${JSON.stringify([status, assignee, incident])}`;
        const list = { key: deps.cursorKey, purpose, organizationId };
        const page = await cases.page(organizationId, pageStart(query, list), query);
        return { status: 200, body: pageBody(page, list) };
      },
    }),
    route({
      method: "POST",
      path: PATH,
      tag: TAG,
      summary: "Create a case",
      access: write,
      audit: "CREATE_CASE",
      body: { kind: "json", schema: CreateCaseBody },
      responses: { 201: { description: "Created", schema: CaseDetails } },
      errors: ["CONFLICT"],
      handler: ({ change }, { body }) =>
        change(async (made) => ({ status: 201, body: await cases.create(made, body) })),
    }),
    route({
      method: "GET",
      path: `${PATH}/:id`,
      tag: TAG,
      summary: "Read a case with its notes, evidence and timeline",
      access: read,
      params: IdParams,
      responses: { 200: DETAILS },
      handler: async ({ principal }, { params }) => ({
        status: 200,
        body: await cases.read(principal.organizationId, Number(params.id)),
      }),
    }),
    route({
      method: "PATCH",
      path: `${PATH}/:id`,
      tag: TAG,
      summary: "Change a case",
      access: write,
      audit: "UPDATE_CASE",
      params: IdParams,
      body: { kind: "json", schema: UpdateCaseBody },
      responses: { 200: DETAILS },
      errors: ["CONFLICT"],
      handler: ({ change }, { params, body }) =>
        change(async (made) => ({ status: 200, body: await cases.update(made, Number(params.id), body) })),
    }),
    route({
      method: "DELETE",
      path: `${PATH}/:id`,
      tag: TAG,
      summary: "Delete a case with all that belongs to it",
      access: write,
      audit: "DELETE_CASE",
      params: IdParams,
      responses: { 204: { description: "Deleted" } },
      handler: ({ change }, { params }) =>
        change(async (made) => {
          await cases.remove(made, Number(params.id));
          return { status: 204 };
        }),
    }),
    ...partRoutes(cases, deps),
    exportRoute(cases),
  ];
}

function partRoutes(
  cases: Cases,
  { readEntry, readIncident }: Pick<CaseDependencies, "readEntry" | "readIncident">,
) {
  const adding = {
    method: "POST",
    tag: TAG,
    access: write,
    params: IdParams,
    responses: { 201: DETAILS },
    errors: ["CONFLICT"],
  } as const;
  return [
    route({
      ...adding,
      path: `${PATH}/:id/incidents`,
      summary: "Add an incident to a case",
      audit: "ATTACH_CASE_INCIDENT",
      body: { kind: "json", schema: AttachBody },
      handler: ({ change }, { params, body }) =>
        change(async (made) => ({
          status: 201,
          body: await cases.attach(made, Number(params.id), body.incidentId),
        })),
    }),
    route({
      ...adding,
      path: `${PATH}/:id/notes`,
      summary: "Write a note to a case, which stays as it is",
      audit: "ADD_CASE_NOTE",
      body: { kind: "json", schema: NoteBody },
      handler: ({ change }, { params, body }) =>
        change(async (made) => ({
          status: 201,
          body: await cases.addNote(made, Number(params.id), body.body),
        })),
    }),
    route({
      ...adding,
      path: `${PATH}/:id/evidence`,
      summary: "Copy what proves something into a case",
      audit: "ADD_CASE_EVIDENCE",
      body: { kind: "json", schema: EvidenceBody },
      handler: async (context, { params, body }) => {
        const { organizationId } = context.principal;
        const scope = EVIDENCE_SCOPES[body.kind];
        if (scope !== null) requireAccess({ role: "viewer", scope }, context.principal);
        const copy = await copyOf(body, {
          readEntry: (id) => readEntry(context, id),
          readIncident: (id) => readIncident(organizationId, id),
        });
        return context.change(async (made) => ({
          status: 201,
          body: await cases.addEvidence(made, Number(params.id), body, copy),
        }));
      },
    }),
    route({
      ...adding,
      path: `${PATH}/:id/merge`,
      summary: "Close a case as a duplicate; another one goes on with what belongs to it",
      audit: "MERGE_CASE",
      body: { kind: "json", schema: MergeBody },
      responses: { 200: DETAILS },
      handler: ({ change }, { params, body }) =>
        change(async (made) => ({
          status: 200,
          body: await cases.merge(made, Number(params.id), body.into),
        })),
    }),
  ];
}

function exportRoute(cases: Cases) {
  return route({
    method: "GET",
    path: `${PATH}/:id/export`,
    tag: TAG,
    summary: "Read a whole case as a document",
    access: read,
    params: IdParams,
    query: Type.Object({ format: Type.Optional(Type.Enum(["json", "markdown"])) }),
    responses: {
      200: { ...DETAILS, alternatives: { "text/markdown": Type.String({ description: "For a report." }) } },
    },
    handler: async ({ principal }, { params, query }) => {
      const details = await cases.read(principal.organizationId, Number(params.id));
      if (query.format !== "markdown") return { status: 200, body: details };
      const headers = {
        "content-type": "text/markdown; charset=utf-8",
        "content-disposition": `attachment; filename="case-${details.id}.md"`,
      };
      return new Response(caseAsMarkdown(details), { headers });
    },
  });
}
