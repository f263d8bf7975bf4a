import type { Static, TObject, TSchema, TUndefined } from "typebox";
import { ApiError, validationFailed } from "../errors.ts";
import { requireMediaType } from "./media-type.ts";
import { parameterOf } from "./path-pattern.ts";
import { compileQuery } from "./query-parameters.ts";
import { readJson } from "./read-json.ts";
import type {
  Access,
  AuthenticatedContext,
  BodySpec,
  Effect,
  HandlerContext,
  HandlerResult,
  HttpMethod,
  RequestContext,
  Responses,
  RouteSpec,
  TypedRoute,
} from "./route.ts";
import { unstorableText } from "./unstorable-text.ts";
import { type Checker, compileSchema } from "./validate.ts";

type NoProperties = TObject<Record<never, TSchema>>;

/**
 * Declares a route: checks the spec when the server starts, compiles its schemas once and erases its type
 * parameters. Throws an Error for a spec that contradicts itself, which is a bug found at start.
 */
export function route<
  const M extends HttpMethod,
  const Path extends string,
  const A extends Access,
  const R extends Responses,
  P extends TObject = NoProperties,
  Q extends TObject = NoProperties,
  B extends TSchema = TUndefined,
>(spec: RouteSpec<M, Path, A, P, Q, B, R>): TypedRoute<M, Path, P, Q, B, R> {
  checkPath(spec.path, spec.params);
  const params = compileSchema(spec.params);
  const parseQuery = compileQuery(spec.query);
  const body = compileBody(spec.body);
  const effect = effectOf(spec);
  return {
    method: spec.method,
    path: spec.path,
    tag: spec.tag,
    summary: spec.summary,
    access: spec.access,
    credential: spec.credential,
    rateLimit: spec.rateLimit ?? "default",
    showsHead: spec.showsHead ?? false,
    isProbe: spec.isProbe ?? false,
    audit: spec.audit,
    effect,
    params: spec.params,
    query: spec.query,
    body: spec.body,
    responses: spec.responses,
    errors: spec.errors ?? [],
    refusalMembers: spec.refusalMembers,
    refusalSchema: spec.refusalSchema,
    refusalBody: spec.refusalBody,
    refusalType: spec.refusalType,
    idleTimeoutSec: spec.idleTimeoutSec,
    run(context, rawParams: unknown, search) {
      if (!suits(context, spec.access)) throw new ApiError("UNAUTHENTICATED", "A credential is required.");
      if (!params.check(rawParams)) throw new ApiError("NOT_FOUND", "No such resource.");
      const query = parseQuery(search);
      const handle = (value: unknown): HandlerResult => {
        if (!body.check(value)) throw validationFailed(body.issues(value));
        // What is changed is kept in Postgres, if only in the audit log.
        const unstorable = effect === "change" ? unstorableText(value) : null;
        if (unstorable !== null) throw validationFailed([unstorable]);
        return spec.handler(context, { params: rawParams, query, body: value });
      };
      const value = body.read(context);
      return value instanceof Promise ? value.then(handle) : handle(value);
    },
  };
}

interface DeclaredEffect {
  method: string;
  path: string;
  audit?: string;
  effect?: Exclude<Effect, "change">;
}

/** Throws an Error for a route that could change something and declares nothing. */
function effectOf({ method, path, audit, effect }: DeclaredEffect): Effect {
  if (audit !== undefined) {
    if (effect !== undefined) throw new Error(`${method} ${path} is audited and declares to ${effect}`);
    return "change";
  }
  if (effect !== undefined) return effect;
  if (method !== "GET") throw new Error(`${method} ${path} declares neither an audit action nor its effect`);
  return "read";
}

/** Whether a context is what the handler of a route with this access expects: only public routes go without a principal. */
function suits<A extends Access>(
  context: RequestContext | AuthenticatedContext,
  access: A,
): context is HandlerContext<A> & RequestContext {
  return access === "public" || "principal" in context;
}

/** How the body of a route is taken: `read` answers at once where there is nothing to wait for. */
interface BodyInput<B extends TSchema> extends Checker<B> {
  read(context: RequestContext): unknown;
}

function compileBody<B extends TSchema>(spec: BodySpec<B> | undefined): BodyInput<B> {
  if (spec?.kind === "json")
    return {
      ...compileSchema(spec.schema),
      read: (context) => readJson(context.request, spec, context.reserveMemory),
    };
  return {
    read: (context) => {
      if (spec !== undefined) requireMediaType(context.request, spec.contentTypes);
    },
    // Such a route has no body schema, so B is its default, whose only value is undefined.
    check: (value): value is Static<B> => value === undefined,
    issues: () => [],
  };
}

/** Refuses paths the router would read differently from what they look like. */
function checkPath(path: string, params: TObject | undefined): void {
  const segments = path.split("/").slice(1);
  const names = segments.flatMap((segment) => parameterOf(segment)?.name ?? []);
  const declared = Object.keys(params?.properties ?? {});
  const isSegment = (segment: string): boolean =>
    parameterOf(segment) !== null || /^[a-z0-9._-]+$/.test(segment);
  if (path !== "/" && !(path.startsWith("/") && segments.every(isSegment))) {
    throw new Error(`${path} is not a path of literal segments and :name parameters`);
  }
  if (names.toSorted().join() !== declared.toSorted().join()) {
    throw new Error(`${path} has parameters [${names.join()}] but declares [${declared.join()}]`);
  }
}
