import { Type } from "typebox";
import { route } from "../../http/define-route.ts";
import { openApiDocument } from "../../http/openapi/document.ts";
import type { Route } from "../../http/route.ts";
import { docsRoutes } from "./docs-routes.ts";
import { type HealthDeps, healthRoutes } from "./health-routes.ts";

/** What the server is made of. */
interface BuildInfo {
  readonly name: string;
  readonly version: string;
  /** Null where the source is not a known revision. */
  readonly commit: string | null;
}

/** Versions of the stores the server talks to; null for one that cannot be asked now. */
interface StoreVersions {
  readonly clickhouse: string | null;
  readonly postgres: string | null;
}

/** What is exposed to whoever collects metrics. */
interface Exposition {
  /** The text and its content type. */
  expose(): Promise<{ text: string; contentType: string }>;
}

interface OpsDeps extends HealthDeps {
  readonly metrics: Exposition;
  readonly build: BuildInfo;
  /** Never rejects. */
  readonly storeVersions: () => Promise<StoreVersions>;
  /** Under which the server is reached; the OpenAPI document names it. */
  readonly publicUrl: string;
}

const Version = Type.Object({
  name: Type.String(),
  version: Type.String(),
  commit: Type.Union([Type.String(), Type.Null()]),
  bun: Type.String(),
  clickhouse: Type.Union([Type.String(), Type.Null()]),
  postgres: Type.Union([Type.String(), Type.Null()]),
});

/** The operational routes. `others` are the remaining routes of the server, which /openapi.json describes as well. */
export function opsRoutes(deps: OpsDeps, others: readonly Route[]) {
  const routes = [...healthRoutes(deps), metricsRoute(deps.metrics), versionRoute(deps), ...docsRoutes()];
  let text: string | undefined;
  const openApi = openApiRoute(() => {
    // Made when first asked for: it needs this very route in it, and no start should wait for it.
    text ??= JSON.stringify(openApiDocument([...others, ...routes, openApi], deps.publicUrl));
    return text;
  });
  return [...routes, openApi];
}

function metricsRoute(metrics: Exposition) {
  return route({
    method: "GET",
    path: "/metrics",
    tag: "Operations",
    summary: "Metrics in the Prometheus text format",
    access: "public",
    rateLimit: "probe",
    isProbe: true,
    responses: { 200: { description: "The metrics.", contentType: "text/plain", schema: Type.String() } },
    handler: async () => {
      const { text, contentType } = await metrics.expose();
      return new Response(text, { headers: { "content-type": contentType } });
    },
  });
}

function versionRoute(deps: OpsDeps) {
  return route({
    method: "GET",
    path: "/version",
    tag: "Operations",
    summary: "Versions of the server and what it runs on",
    access: "authenticated",
    responses: { 200: { description: "The versions.", schema: Version } },
    handler: async () => ({
      status: 200,
      body: { ...deps.build, bun: Bun.version, ...(await deps.storeVersions()) },
    }),
  });
}

function openApiRoute(text: () => string) {
  return route({
    method: "GET",
    path: "/openapi.json",
    tag: "Operations",
    summary: "This description",
    access: "public",
    responses: { 200: { description: "An OpenAPI 3.1 document.", schema: Type.Object({}) } },
    handler: () => new Response(text(), { headers: { "content-type": "application/json" } }),
  });
}
