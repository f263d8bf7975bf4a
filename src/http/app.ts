import { type AnyElysia, Elysia } from "elysia";
import { Components, type JsonObject } from "./openapi/components.ts";
import { operationOf } from "./openapi/operation.ts";
import { routerPath } from "./path-pattern.ts";
import { type Connection, Pipeline, type PipelineDeps, type Plan } from "./pipeline.ts";
import { faultPlan, headPlanOf, type MissPlanner, missPlanner, planOf } from "./plans.ts";
import type { Route } from "./route.ts";

/** The application without a listener. */
export interface App {
  /**
   * A router like the one that finds the routes, each with its description: for plugins of Elysia. Made when it is asked for,
   * because the descriptions of all routes take as long as the rest of the application.
   */
  router(): AnyElysia;
  /** Answers a request as the listener would. The URL of the request is absolute; never rejects. */
  handle(request: Request, connection?: Connection): Promise<Response>;
}

/** What is no route of its own. */
const UNDESCRIBED = { parse: "none", detail: { hide: true } } as const;

/**
 * Mounts routes on Elysia, which finds the route of a request and nothing else: bodies, queries, parameters, errors and
 * headers are the pipeline's. Paths answer with and without a trailing slash, GET routes answer HEAD. Throws an
 * Error for two routes with one method and path.
 */
export function buildApp(
  routes: readonly Route[],
  deps: PipelineDeps,
  planMiss: MissPlanner = missPlanner(routes),
): App {
  requireDistinct(routes);
  const pipeline = new Pipeline(deps);
  const connections = new WeakMap<Request, Connection>();
  const answer = (plan: Plan, request: Request): Promise<Response> =>
    pipeline.handle(plan, request, connections.get(request) ?? {});

  // Hosts of one letter are legal, so the path is searched right after the scheme. Bun's own router decodes parameters
  // in its own way; without it there is one behaviour, with and without a listener.
  const mount = (describe: (route: Route) => JsonObject | undefined): AnyElysia => {
    const elysia = new Elysia({
      normalize: false,
      systemRouter: false,
      handler: { standardHostname: false },
    });
    for (const route of routes) {
      const plan = planOf(route);
      const detail = describe(route);
      const path = routerPath(route.path);
      elysia.route(route.method, path, ({ request }) => answer(plan, request), {
        parse: "none",
        ...(detail !== undefined && { detail }),
      });
      if (route.method === "GET") {
        const head = headPlanOf(plan);
        elysia.route("HEAD", path, ({ request }) => answer(head, request), UNDESCRIBED);
      }
    }
    elysia.all("/*", ({ request }) => answer(planMiss(request), request), UNDESCRIBED);
    elysia.onError(({ request, error }) => answer(faultPlan(request, error), request));
    return elysia.compile();
  };
  const elysia = mount(() => undefined);

  return {
    router: () => {
      const components = new Components();
      return mount((route) => operationOf(route, components));
    },
    handle: (request, connection) => {
      if (connection !== undefined) connections.set(request, connection);
      const answered = elysia.fetch(request);
      return answered instanceof Promise ? answered : Promise.resolve(answered);
    },
  };
}

function requireDistinct(routes: readonly Route[]): void {
  const seen = new Set<string>();
  for (const { method, path } of routes) {
    const key = `${method} ${path.replace(/:[a-zA-Z0-9]+/g, ":")}`;
    if (seen.has(key)) throw new Error(`${method} ${path} is declared twice`);
    seen.add(key);
  }
}
