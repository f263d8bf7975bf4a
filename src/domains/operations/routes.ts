import { Type } from "typebox";
import { route } from "../../http/define-route.ts";
import { openApiDocument } from "../../http/openapi/document.ts";
import { PackedText } from "../../http/packed-text.ts";
import type { Route } from "../../http/route.ts";
import type { ToolDefinition } from "../../tools/tool-definition.ts";
import { apiDescription } from "./api-description.ts";
import { docsRoutes } from "./docs-routes.ts";
import { entryPageRoutes } from "./entry-pages.ts";
import { type HealthDeps, healthRoutes } from "./health-routes.ts";
import { installRoutes } from "./install-routes.ts";
import { toolRoutes } from "./tool-routes.ts";

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
  /** The operations as tools. */
  readonly tools: readonly ToolDefinition[];
}

const StoreVersion = (example: string) =>
  Type.Union([Type.String(), Type.Null()], {
    description: "Null while the store does not answer.",
    examples: [example],
  });

const Version = Type.Object(
  {
    name: Type.String({ examples: ["obs"] }),
    version: Type.String({ examples: ["0.1.0"] }),
    commit: Type.Union([Type.String(), Type.Null()], { examples: [null] }),
    bun: Type.String({ examples: ["1.3.0"] }),
    clickhouse: StoreVersion("26.7.3.1"),
    postgres: StoreVersion("18.4"),
  },
  { $id: "Version" },
);

const OpenApiDocument = Type.Object(
  { openapi: Type.String({ examples: ["3.1.0"] }) },
  { additionalProperties: true, description: "As the OpenAPI Specification has it." },
);

/** The operational routes. `others` are the remaining routes of the server, which /openapi.json describes as well. */
export function opsRoutes(deps: OpsDeps, others: readonly Route[]) {
  const routes = [
    ...healthRoutes(deps),
    metricsRoute(deps.metrics),
    versionRoute(deps),
    ...entryPageRoutes(deps.publicUrl),
    ...docsRoutes(),
    ...installRoutes(deps),
    ...toolRoutes(deps.tools),
  ];
  const head = apiDescription(deps.publicUrl);
  const openApi: Route = openApiRoute(() =>
    // This very route is in it.
    JSON.stringify(openApiDocument([...others, ...routes, openApi], head)),
  );
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
  const file = new PackedText(async () => new TextEncoder().encode(text()), {
    "content-type": "application/json",
    // It changes with the server, and then at once.
    "cache-control": "no-cache",
  });
  return route({
    method: "GET",
    path: "/openapi.json",
    tag: "Operations",
    summary: "This description",
    access: "public",
    responses: {
      200: { description: "An OpenAPI 3.1 document.", schema: OpenApiDocument },
      304: { description: "The document that `If-None-Match` names." },
    },
    handler: ({ request }) => file.answer(request),
  });
}
