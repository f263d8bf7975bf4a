import { Elysia } from "elysia";
import { ApiError } from "../errors.ts";
import { compilePath, pathSegments } from "./path-pattern.ts";
import { type Connection, Pipeline, type PipelineDeps, type Plan } from "./pipeline.ts";
import type { Route } from "./route.ts";

/** The application without a listener. */
export interface App {
  /** Answers a request as the listener would; never rejects. */
  handle(request: Request, connection?: Connection): Promise<Response>;
}

/** What logs and metrics call requests that no route answers; their paths are a caller's text. */
const UNMATCHED = "unmatched";
const KNOWN_METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/**
 * Mounts routes on Elysia, which finds the route of a request and nothing else: bodies, queries, parameters, errors and
 * headers are the pipeline's. Paths answer with and without a trailing slash, GET routes answer HEAD. Throws an
 * Error for two routes with one method and path.
 */
export function buildApp(routes: readonly Route[], deps: PipelineDeps): App {
  requireDistinct(routes);
  const pipeline = new Pipeline(deps);
  const connections = new WeakMap<Request, Connection>();
  const answer = (plan: Plan, request: Request): Promise<Response> =>
    pipeline.handle(plan, request, connections.get(request) ?? {});

  // Hosts shorter than four characters are legal, so the path is searched from the end of the scheme.
  const elysia = new Elysia({ normalize: false, systemRouter: false, handler: { standardHostname: false } });
  for (const route of routes) {
    const plan = planOf(route);
    elysia.route(route.method, route.path, ({ request }) => answer(plan, request), { parse: "none" });
    if (route.method === "GET") {
      const head: Plan = { ...plan, method: "HEAD", isHead: true };
      elysia.route("HEAD", route.path, ({ request }) => answer(head, request), { parse: "none" });
    }
  }
  const methodsOf = methodFinder(routes);
  const miss = ({ request }: { request: Request }) => answer(missPlan(request, methodsOf), request);
  elysia.all("/*", miss, { parse: "none" });
  elysia.onError(({ request, error }) => answer(faultPlan(request, error), request));
  elysia.compile();

  return {
    handle: async (request, connection) => {
      if (connection !== undefined) connections.set(request, connection);
      return elysia.fetch(request);
    },
  };
}
