/** Proofs of the types of calls: this file compiles only as long as each of them holds. */
import type {
  CallAnswer,
  CallArguments,
  CallInput,
  CallName,
  JsonCallName,
  PagedCallName,
  RawBody,
  SuccessStatus,
} from "../../../clients/api/calls.ts";
import type { DeclaredRoute } from "../../../src/server/domains.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Holds<Proof extends true> = Proof;
type Fails<Proof extends false> = Proof;
type Accepts<Name extends CallName, Input> = [Input] extends CallArguments<Name> ? true : false;
type AcceptsNothing<Name extends CallName> = [] extends CallArguments<Name> ? true : false;

/** A route whose path is a plain string would take in all others of its function, and their types with them. */
export type Routes = [
  Fails<string extends DeclaredRoute["path"] ? true : false>,
  Holds<"POST /api/v1/auth/login" extends CallName ? true : false>,
  Fails<"GET /api/v1/nowhere" extends CallName ? true : false>,
  Fails<"POST /api/v1/logs/search" extends CallName ? true : false>,
];

type SavedSearch = CallAnswer<"GET /api/v1/saved-searches">[number];

export type Answers = [
  Holds<Equal<CallAnswer<"GET /api/v1/logs/search">["nextCursor"], string | null>>,
  Holds<Equal<CallAnswer<"GET /api/v1/logs/search">["entries"][number]["attrs"], Record<string, unknown>>>,
  Holds<Equal<CallAnswer<"POST /api/v1/logs/ingest">, { accepted: number; duplicates: number }>>,
  Holds<Equal<CallAnswer<"POST /api/v1/logs/tail/session">, { token: string; expiresAt: string }>>,
  Holds<Equal<CallAnswer<"POST /api/v1/saved-searches">, SavedSearch>>,
  Holds<Equal<CallAnswer<"PATCH /api/v1/saved-searches/:id">, SavedSearch>>,
  Holds<Equal<SavedSearch["id"], number>>,
  Holds<Equal<CallAnswer<"DELETE /api/v1/saved-searches/:id">, undefined>>,
  Holds<Equal<SuccessStatus<"POST /api/v1/saved-searches">, 201>>,
];

/** What the client takes for an obs server's answer at run time. */
export type Shapes = [Holds<CallAnswer<JsonCallName> extends object | undefined ? true : false>];

/** What is no JSON has to be opened. */
export type Kinds = [
  Holds<Equal<CallAnswer<"GET /api/v1/logs/export">, never>>,
  Fails<"GET /api/v1/logs/export" extends JsonCallName ? true : false>,
  Fails<"GET /api/v1/logs/tail" extends JsonCallName ? true : false>,
  Holds<"GET /api/v1/logs/search" extends PagedCallName ? true : false>,
  Holds<"GET /api/v1/audit-logs" extends PagedCallName ? true : false>,
  Fails<"GET /api/v1/saved-searches" extends PagedCallName ? true : false>,
];

/** Parts that a route can do without may be left out, parts that it needs may not, and parts that it has not do not exist. */
export type Inputs = [
  Holds<AcceptsNothing<"GET /api/v1/me">>,
  Holds<AcceptsNothing<"GET /api/v1/logs/search">>,
  Holds<Accepts<"GET /api/v1/logs/search", { query: { q: string; limit: number } }>>,
  Fails<Accepts<"GET /api/v1/logs/search", { query: { limit: string } }>>,
  Fails<AcceptsNothing<"GET /api/v1/logs/:id">>,
  Holds<Accepts<"GET /api/v1/logs/:id", { params: { id: string } }>>,
  Holds<Accepts<"DELETE /api/v1/saved-searches/:id", { params: { id: number } }>>,
  Fails<Accepts<"DELETE /api/v1/saved-searches/:id", { params: { key: number } }>>,
  Fails<AcceptsNothing<"POST /api/v1/saved-searches">>,
  Fails<Accepts<"POST /api/v1/saved-searches", { body: { name: number } }>>,
  Holds<Equal<CallInput<"POST /api/v1/auth/login">["body"]["email"], string>>,
  Holds<Equal<CallInput<"POST /api/v1/logs/ingest">["body"], RawBody | undefined>>,
  Holds<Equal<Extract<keyof CallInput<"GET /api/v1/me">, "params" | "query" | "body">, never>>,
];
