import type { auditRoutes } from "../domains/audit/routes.ts";
import type { exportRoutes } from "../domains/export/routes.ts";
import type { sourceReceiveRoutes } from "../domains/ingest-sources/receive-routes.ts";
import type { ingestSourceRoutes } from "../domains/ingest-sources/routes.ts";
import type { kqlRoutes } from "../domains/kql/routes.ts";
import type { logArchiveRoutes } from "../domains/logs/archive/routes.ts";
import type { logIngestRoutes } from "../domains/logs/ingest-routes.ts";
import type { logPatternRoutes } from "../domains/logs/patterns/routes.ts";
import type { logReadRoutes } from "../domains/logs/read-routes.ts";
import type { otlpRoutes } from "../domains/logs/receive/otlp/routes.ts";
import type { platformRoutes } from "../domains/logs/receive/platforms/routes.ts";
import type { logRetentionRoutes } from "../domains/logs/retention/routes.ts";
import type { tailRoutes } from "../domains/logs/tail/routes.ts";
import type { organizationRoutes } from "../domains/organizations/routes.ts";
import type { overviewRoutes } from "../domains/overview/routes.ts";
import type { quarantineRoutes } from "../domains/quarantine/routes.ts";
import type { savedSearchRoutes } from "../domains/saved-searches/routes.ts";
import type { providerRoutes } from "../identity/providers/provider-routes.ts";
import type { identityRoutes } from "../identity/routes.ts";

type RouteFunction =
  | typeof auditRoutes
  | typeof exportRoutes
  | typeof identityRoutes
  | typeof ingestSourceRoutes
  | typeof kqlRoutes
  | typeof logArchiveRoutes
  | typeof logIngestRoutes
  | typeof logPatternRoutes
  | typeof logReadRoutes
  | typeof logRetentionRoutes
  | typeof organizationRoutes
  | typeof otlpRoutes
  | typeof overviewRoutes
  | typeof platformRoutes
  | typeof providerRoutes
  | typeof quarantineRoutes
  | typeof savedSearchRoutes
  | typeof sourceReceiveRoutes
  | typeof tailRoutes;

/** The routes that name their path as a literal; one that does not would hide the others of its function. */
export type DeclaredRoute = ReturnType<RouteFunction>[number];

/** Every route of the API with its types: what clients have the types of their calls from. */
export type ApiRoute = Extract<DeclaredRoute, { readonly path: `/api/v1/${string}` }>;
