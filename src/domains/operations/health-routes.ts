import { Type } from "typebox";
import { type DependencyStatus, type Readiness, worstState } from "../../health/readiness.ts";
import { route } from "../../http/define-route.ts";
import { UNAVAILABLE_RETRY_SEC } from "../../http/limits.ts";
import { ErrorAnswer } from "../../http/openapi/error-schemas.ts";
import type { HandlerResult, Reply, RequestContext, Responses, Route } from "../../http/route.ts";

const State = Type.Enum(["up", "degraded", "down"]);
const DependencyState = Type.Object(
  {
    name: Type.String(),
    state: State,
    detail: Type.Optional(Type.String({ description: "Of what is not up." })),
  },
  { $id: "DependencyState", examples: [{ name: "clickhouse", state: "up" }] },
);
const Health = Type.Object({ status: State, dependencies: Type.Array(DependencyState) }, { $id: "Health" });

/** The error envelope, and what is down; only the former while the server takes no requests at all. */
const HealthDown = Type.Object(
  {
    ...ErrorAnswer.properties,
    status: Type.Optional(State),
    dependencies: Type.Optional(Type.Array(DependencyState)),
  },
  {
    $id: "HealthDown",
    examples: [
      {
        error: "A dependency is down.",
        code: "UNAVAILABLE",
        requestId: "0195c3a1-7c5e-7d52-8a3f-2f6b1e9d4c10",
        status: "down",
        dependencies: [{ name: "clickhouse", state: "down" }],
      },
    ],
  },
);

const Live = Type.Object({ status: Type.Literal("up") });

export interface HealthDeps {
  /** Of everything the server depends on. */
  readonly readiness: Readiness;
  /** Of what ingest cannot do without. */
  readonly ingestReadiness: Readiness;
  /** True from when the server is about to stop: balancers send requests elsewhere while it still answers them. */
  readonly isDraining: () => boolean;
}

const DRAINING: DependencyStatus = {
  name: "server",
  state: "down",
  detail: "Draining: the server is about to stop.",
};

/**
 * Health for orchestrators, balancers and people, without a credential. Alive means the process answers; ready means
 * every dependency it cannot do without does too, else 503 in the error envelope with the dependencies beside it.
 */
export function healthRoutes({ readiness, ingestReadiness, isDraining }: HealthDeps) {
  const answerOf =
    (asked: Readiness) =>
    async ({ requestId }: RequestContext): Promise<Reply> => {
      // Not one of the checks, whose answers are shared for a moment: a balancer has to hear of it at once.
      if (isDraining()) return healthReply([DRAINING], requestId, "The server is draining.");
      return healthReply(await asked.check(), requestId, "A dependency is down.");
    };
  return [
    probe(
      "/health/live",
      "Whether the process answers",
      { 200: { description: "It does.", schema: Live } },
      () => ({ status: 200, body: { status: "up" } }),
    ),
    probe(
      "/health/ready",
      "Whether every dependency is reachable",
      healthOf("The server can do its work."),
      answerOf(readiness),
    ),
    probe(
      "/health/ingest",
      "Whether log entries are acknowledged, also while the log store is away",
      healthOf("The server takes log entries."),
      answerOf(ingestReadiness),
    ),
    probe(
      "/health",
      "Health of the server and its dependencies",
      healthOf("The server can do its work."),
      answerOf(readiness),
    ),
  ];
}

function healthOf(description: string): Responses {
  return {
    200: { description, schema: Health },
    503: { description: "`UNAVAILABLE`: a dependency is down.", schema: HealthDown },
  };
}

function probe(
  path: string,
  summary: string,
  responses: Responses,
  handler: (context: RequestContext) => HandlerResult,
): Route {
  return route({
    method: "GET",
    path,
    tag: "Operations",
    summary,
    access: "public",
    rateLimit: "probe",
    isProbe: true,
    responses,
    handler,
  });
}

function healthReply(dependencies: readonly DependencyStatus[], requestId: string, error: string): Reply {
  const status = worstState(dependencies);
  if (status !== "down") return { status: 200, body: { status, dependencies } };
  return {
    status: 503,
    headers: { "retry-after": String(UNAVAILABLE_RETRY_SEC) },
    body: { error, code: "UNAVAILABLE", requestId, status, dependencies },
  };
}
