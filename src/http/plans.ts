import { ApiError } from "../errors.ts";
import { compilePath, pathSegments } from "./path-pattern.ts";
import type { Plan } from "./pipeline.ts";
import type { Route } from "./route.ts";

/** What logs and metrics call requests that no route answers; their paths are a caller's text. */
const UNMATCHED = "unmatched";
const KNOWN_METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** The plan of a route; its parameters are read here, because the framework's router hides malformed encoding. */
export function planOf(route: Route): Plan {
  const pattern = compilePath(route.path);
  return {
    method: route.method,
    label: route.path,
    access: route.access,
    identifies: route.access !== "public",
    credential: route.credential,
    rateLimit: route.rateLimit,
    isProbe: route.isProbe,
    effect: route.effect,
    auditAction: route.audit,
    isHead: false,
    refusalMembers: route.refusalMembers,
    refusalBody: route.refusalBody,
    idleTimeoutSec: route.idleTimeoutSec,
    run: (exchange) => {
      const { path, search } = splitUrl(exchange.request.url);
      const params = pattern.hasParams ? pattern.params(pathSegments(path)) : {};
      if (params === undefined) throw notFound();
      return route.run(exchange, params, search);
    },
  };
}

/** The same for HEAD, which answers what GET would without the body. */
export function headPlanOf(plan: Plan): Plan {
  return { ...plan, method: "HEAD", isHead: true };
}

/** Makes the plan of a request that matches no route. */
export type MissPlanner = (request: Request) => Plan;

/** For a server that has not opened what most of its routes stand on: whoever asks is to come again. */
export const planUnopened: MissPlanner = (request) => ({
  ...unmatchedPlan(request, () => {
    throw new ApiError("UNAVAILABLE", "The server is starting; what it needs does not answer yet.");
  }),
  identifies: false,
  rateLimit: "public",
});

/** Makes the plans of requests that match no route: 405 where another method would have matched, else 404. */
export function missPlanner(routes: readonly Route[]): MissPlanner {
  const patterns = routes.map((route) => ({ method: route.method, pattern: compilePath(route.path) }));
  const allowed = (path: string): string => {
    const segments = pathSegments(path);
    const methods = new Set<string>();
    for (const { method, pattern } of patterns) {
      if (!pattern.matches(segments)) continue;
      methods.add(method);
      if (method === "GET") methods.add("HEAD");
    }
    return [...methods].toSorted().join(", ");
  };
  return (request) =>
    unmatchedPlan(request, () => {
      const allow = allowed(splitUrl(request.url).path);
      if (allow === "") throw notFound();
      throw new ApiError("METHOD_NOT_ALLOWED", `This path answers ${allow}.`, { headers: { allow } });
    });
}

/** The plan of a request the framework itself failed on. */
export function faultPlan(request: Request, fault: unknown): Plan {
  return unmatchedPlan(request, () => {
    throw fault;
  });
}

function unmatchedPlan(request: Request, run: () => never): Plan {
  const method = KNOWN_METHODS.has(request.method) ? request.method : "other";
  return {
    method,
    label: UNMATCHED,
    access: "public",
    // Whoever is known has their own rate limit wherever they knock; a credential that is not valid is none.
    identifies: true,
    credential: undefined,
    rateLimit: "default",
    isProbe: false,
    effect: "read",
    auditAction: undefined,
    isHead: request.method === "HEAD",
    refusalMembers: undefined,
    refusalBody: undefined,
    idleTimeoutSec: undefined,
    run,
  };
}

function notFound(): ApiError {
  return new ApiError("NOT_FOUND", "No such resource.");
}

/** The path of an absolute URL and its query without the `?`. */
function splitUrl(url: string): { path: string; search: string } {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  const question = url.indexOf("?", start);
  return question === -1
    ? { path: url.slice(start), search: "" }
    : { path: url.slice(start, question), search: url.slice(question + 1) };
}
