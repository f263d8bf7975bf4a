import type { Static, TSchema } from "typebox";
import type { ApiRoute } from "../../src/server/domains.ts";

type NameOf<R> = R extends { readonly method: infer M extends string; readonly path: infer P extends string }
  ? `${M} ${P}`
  : never;
type Value<S> = S extends TSchema ? Static<S> : never;
type BodyOf<Response> = Response extends { readonly contentType: string }
  ? never
  : Response extends { readonly schema: infer S extends TSchema }
    ? Static<S>
    : undefined;
type Contract = NonNullable<ApiRoute["contract"]>;
type RouteOf<C extends Contract> = {
  readonly params: Value<C["params"]>;
  readonly query: Value<C["query"]>;
  readonly body: Value<C["body"]>;
  readonly responses: { readonly [Status in keyof C["responses"]]: BodyOf<C["responses"][Status]> };
};

/**
 * By method and path what a route takes and answers, as the server declares it: `never` for an answer that is no JSON. Whoever
 * has the client without the server has in this place what `clients/publish` writes.
 */
export type Routes = { [R in ApiRoute as NameOf<R>]: RouteOf<NonNullable<R["contract"]>> };
