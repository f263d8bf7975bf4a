import { Type } from "typebox";
import { route } from "../http/define-route.ts";
import { UNAVAILABLE_RETRY_SEC } from "../http/limits.ts";
import type { Reply, RequestContext, Route } from "../http/route.ts";
import { type DependencyStatus, type Readiness, worstState } from "./readiness.ts";

const State = Type.Union([Type.Literal("up"), Type.Literal("degraded"), Type.Literal("down")]);
const Health = Type.Object({
  status: State,
  dependencies: Type.Array(
    Type.Object({ name: Type.String(), state: State, detail: Type.Optional(Type.String()) }),
  ),
});

/**
 * Health for orchestrators and people, without a credential. Alive means the process answers; ready means every
 * dependency it cannot do without does too, else 503 in the error envelope with the dependencies beside it.
 */
export function healthRoutes(readiness: Readiness): Route[] {
  const answer = async (context: RequestContext): Promise<Reply> =>
    healthReply(await readiness.check(), context.requestId);
  return [
    route({
      method: "GET",
      path: "/health/live",
      tag: "Operations",
      summary: "Whether the process answers",
      access: "public",
      rateLimit: "probe",
      responses: {
        200: { description: "It does.", schema: Type.Object({ status: Type.Literal("up") }) },
      },
      handler: () => ({ status: 200, body: { status: "up" } }),
    }),
    route({
      method: "GET",
      path: "/health/ready",
      tag: "Operations",
      summary: "Whether every dependency is reachable",
      access: "public",
      rateLimit: "probe",
      responses: { 200: { description: "The server can do its work.", schema: Health } },
      handler: answer,
    }),
    route({
      method: "GET",
      path: "/health",
      tag: "Operations",
      summary: "Health of the server and its dependencies",
      access: "public",
      rateLimit: "probe",
      responses: { 200: { description: "The server can do its work.", schema: Health } },
      handler: answer,
    }),
  ];
}

function healthReply(dependencies: readonly DependencyStatus[], requestId: string): Reply {
  const status = worstState(dependencies);
  if (status !== "down") return { status: 200, body: { status, dependencies } };
  return {
    status: 503,
    headers: { "retry-after": String(UNAVAILABLE_RETRY_SEC) },
    body: { error: "A dependency is down.", code: "UNAVAILABLE", requestId, status, dependencies },
  };
}
