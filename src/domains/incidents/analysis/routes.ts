import { route } from "../../../http/define-route.ts";
import { IdParams } from "../../../http/record-schemas.ts";
import { type AnalysisDependencies, analyzeIncident, readContext } from "./analyze.ts";
import { IncidentAnalysis, IncidentContext } from "./types.ts";

const PATH = "/api/v1/incidents/:id";
const TAG = "Incidents";
const access = { role: "viewer", scope: "incidents:read" } as const;

/** What may be behind an incident, and what whoever sees to it needs. */
export function incidentAnalysisRoutes(deps: AnalysisDependencies) {
  return [
    route({
      method: "GET",
      path: `${PATH}/analysis`,
      tag: TAG,
      summary: "Say what changed when an incident began; a part whose store is away says so",
      access,
      params: IdParams,
      responses: { 200: { description: "What changed", schema: IncidentAnalysis } },
      handler: async (context, { params }) => ({
        status: 200,
        body: await analyzeIncident(deps, context, Number(params.id)),
      }),
    }),
    route({
      method: "GET",
      path: `${PATH}/context`,
      tag: TAG,
      summary: "Show what an incident is about: its monitors, a query for its logs, who is on call",
      access,
      params: IdParams,
      responses: { 200: { description: "As it is now", schema: IncidentContext } },
      handler: async (context, { params }) => ({
        status: 200,
        body: await readContext(deps, context, Number(params.id)),
      }),
    }),
  ];
}
