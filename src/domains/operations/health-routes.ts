import { Type } from "typebox";
import { type DependencyStatus, type Readiness, worstState } from "../../health/readiness.ts";
import { route } from "../../http/define-route.ts";
import { UNAVAILABLE_RETRY_SEC } from "../../http/limits.ts";
import type { HandlerResult, Reply, RequestContext, ResponseSpec, Route } from "../../http/route.ts";

const State = Type.Union([Type.Literal("up"), Type.Literal("degraded"), Type.Literal("down")]);
const Health = Type.Object({
  status: State,
  dependencies: Type.Array(
    Type.Object({ name: Type.String(), state: State, detail: Type.Optional(Type.String()) }),
  ),
});
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
  const work = { description: "The server can do its work.", schema: Health };
  return [
    probe("/health/live", "Whether the process answers", { description: "It does.", schema: Live }, () => ({
      status: 200,
      body: { status: "up" },
    })),
    probe("/health/ready", "Whether every dependency is reachable", work, answerOf(readiness)),
    probe(
      "/health/ingest",
      "Whether log entries are acknowledged, also while the log store is away",
      { description: "The server takes log entries.", schema: Health },
      answerOf(ingestReadiness),
    ),
    probe("/health", "Health of the server and its dependencies", work, answerOf(readiness)),
  ];
}

function probe(
  path: string,
  summary: string,
  answer: ResponseSpec,
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
    responses: { 200: answer },
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
