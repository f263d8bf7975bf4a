import type { Static, TObject, TSchema } from "typebox";
import type { Principal, Role, Scope } from "../access/principal.ts";
import type { AnonymousChange, Change, ChangeOptions } from "../changes/change.ts";
import type { MemoryShare } from "../concurrency/memory-share.ts";
import type { ApiError, ErrorCode } from "../errors.ts";
import type { Logger } from "../log.ts";
import type { EncodedBody } from "./encoded-body.ts";
import type { RequestName } from "./ledger/request-name.ts";
import type { PreparedAnswer } from "./prepared-answer.ts";
import type { UnpackTurn } from "./unpack-turns.ts";

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";

/**
 * Who may call a route. `public` needs no credential; `authenticated` any valid one; otherwise the caller
 * needs at least the role and, when it is a token, the scope.
 */
export type Access = "public" | "authenticated" | { role: Role; scope: Scope };

/**
 * Which token bucket a call draws from; `probe` is for what machines ask for all the time, such as health, `public` for what
 * many readers behind one address ask for in an outage. `heartbeat` has a bucket for each token behind
 * `/heartbeats/`, so that many jobs behind one address are never mistaken for one that is too eager.
 */
export type RateLimitClass = "default" | "ingest" | "probe" | "public" | "heartbeat";

/**
 * What a call does to the state of an organisation. `change` is audited, counted against the caps of tokens and
 * executed once per Idempotency-Key; `ingest` stores logs and heartbeats, which have caps and counts of their own; `read`
 * changes nothing, whatever its method.
 */
export type Effect = "read" | "change" | "ingest";

/** The personal access token that a request carries, null when it carries none. */
export type CredentialReader = (request: Request) => string | null;

/** What a handler gets besides its validated input. */
export interface RequestContext {
  readonly requestId: string;
  readonly request: Request;
  /** The peer's address, or the one a trusted proxy vouches for. */
  readonly clientAddress: string;
  readonly log: Logger;
  /**
   * Counts bytes of a body against what all requests together may hold, until this one is answered. Throws
   * UNAVAILABLE when there is no room, RATE_LIMITED when only the caller's share is used up. Handlers of raw bodies pass it to `readBody`.
   */
  readonly reserveMemory: (bytes: number) => void;
  /** Taken while the request holds a large body unpacked, and released when it is answered. */
  readonly unpackTurn: UnpackTurn;
  /** What the answer to this request holds until the client has taken it. */
  readonly answerMemory: MemoryShare;
  /** Makes a change for somebody who is not signed in when they call: who it is comes out in it. */
  readonly changeAnonymously: <T>(work: (change: AnonymousChange) => Promise<T>) => Promise<T>;
}

export interface AuthenticatedContext extends RequestContext {
  readonly principal: Principal;
  /** What the request is recognised by when it is sent again; null without an Idempotency-Key. */
  readonly requestName: RequestName | null;
  /** Makes a change of state: one transaction that holds what `work` does, its audit rows and its remembered answer. */
  readonly change: (work: ChangeWork, options?: ChangeOptions) => Promise<Reply>;
}

/** What a refusal says besides the error envelope. */
export type RefusalMembers = (request: Request, error: ApiError) => Readonly<Record<string, unknown>>;

/** A refusal in an encoding of its senders; null where the request is answered in JSON. */
export type RefusalBody = (request: Request, error: ApiError) => EncodedBody | null;

export interface Reply {
  status: number;
  /** Sent as JSON; absent means an empty body, or the one in `encoded` or `prepared`. */
  body?: unknown;
  encoded?: EncodedBody;
  /** The whole answer, headers included, where many get the same. */
  prepared?: PreparedAnswer;
  headers?: Readonly<Record<string, string>>;
}

/** Makes a change and the answer to the call. */
export type ChangeWork = (change: Change) => Promise<Reply>;

/**
 * How the body of a route is taken. `json` is read, unpacked, parsed and validated; an `optional` one that is
 * absent counts as `{}`. `raw` is left to the handler, which sees `input.body` as undefined and reads with `readBody`.
 */
export type BodySpec<B extends TSchema> =
  | {
      kind: "json";
      schema: B /** Unpacked bytes; the default is the general limit. */;
      maxBytes?: number;
      optional?: boolean;
    }
  | {
      kind: "raw";
      contentTypes: readonly string[] /** What the OpenAPI document shows. */;
      documented: TSchema;
    };

export interface ResponseSpec {
  description: string;
  schema?: TSchema;
  /** JSON by default where there is a schema. */
  contentType?: string;
  /** Other content types that a request may ask for, and their schemas. */
  alternatives?: Readonly<Record<string, TSchema>>;
}

/** Codes that every route can answer with. */
export const IMPLIED_ERRORS = [
  "VALIDATION_FAILED",
  "RATE_LIMITED",
  "INTERNAL",
  "UNAVAILABLE",
] as const satisfies readonly ErrorCode[];

/** A code that a route states itself. */
export type OwnErrorCode = Exclude<ErrorCode, (typeof IMPLIED_ERRORS)[number]>;

export type Responses = Readonly<Record<number, ResponseSpec>>;

interface RouteInput<P extends TObject, Q extends TObject, B extends TSchema> {
  params: Static<P>;
  query: Static<Q>;
  body: Static<B>;
}

export interface RouteSpec<
  M extends HttpMethod,
  Path extends string,
  A extends Access,
  P extends TObject,
  Q extends TObject,
  B extends TSchema,
  R extends Responses,
> {
  method: M;
  /** The whole path with `:name` parameters, for example `/api/v1/me/tokens/:id`. */
  path: Path;
  tag: string;
  summary: string;
  access: A;
  /** Where else than in `Authorization: Bearer` a call may carry its token, for senders that cannot set that. */
  credential?: CredentialReader;
  rateLimit?: RateLimitClass;
  /** Whether the document shows that the route answers HEAD: every GET does, few are meant to be asked so. */
  showsHead?: boolean;
  /** How balancers and orchestrators ask whether the server lives: such calls have slots that nobody else can take. */
  isProbe?: boolean;
  /** The action the audit log records. With it the effect is `change`. */
  audit?: string;
  /** Needed where neither the method nor `audit` says it: GET reads, and what is audited changes. */
  effect?: Exclude<Effect, "change">;
  params?: P;
  query?: Q;
  body?: BodySpec<B>;
  responses: R;
  /** Codes beyond those that the rest of the declaration implies; for the OpenAPI document. */
  errors?: readonly OwnErrorCode[];
  /** Further members of the body of every refusal, for senders that look for their own; they win over ours. */
  refusalMembers?: RefusalMembers;
  /** What `refusalMembers` adds, with a name; for the OpenAPI document. */
  refusalSchema?: TObject;
  /** The body of refusals to senders that read no JSON. */
  refusalBody?: RefusalBody;
  /** The content type of `refusalBody`; for the OpenAPI document. */
  refusalType?: string;
  /** Seconds the answer may stay silent before the connection is closed; the default suits all but slow queries. */
  idleTimeoutSec?: number;
  handler: (context: HandlerContext<A>, input: RouteInput<P, Q, B>) => HandlerResult;
}

export type HandlerContext<A extends Access> = A extends "public" ? RequestContext : AuthenticatedContext;
export type HandlerResult = Promise<Reply | Response> | Reply | Response;

/** A spec whose parameter, query and body types are erased: what the app and the OpenAPI document are built from. */
export interface Route {
  readonly method: HttpMethod;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly access: Access;
  readonly credential: CredentialReader | undefined;
  readonly rateLimit: RateLimitClass;
  readonly showsHead: boolean;
  readonly isProbe: boolean;
  readonly audit: string | undefined;
  readonly effect: Effect;
  readonly params: TObject | undefined;
  readonly query: TObject | undefined;
  readonly body: BodySpec<TSchema> | undefined;
  readonly responses: Responses;
  readonly errors: readonly OwnErrorCode[];
  readonly refusalMembers: RefusalMembers | undefined;
  readonly refusalSchema: TObject | undefined;
  readonly refusalBody: RefusalBody | undefined;
  readonly refusalType: string | undefined;
  readonly idleTimeoutSec: number | undefined;
  /**
   * Validates parameters, query and body, in that order, and calls the handler. `search` is the query of the URL
   * without its `?`. Throws ApiError; a context without a principal is refused unless the route is public.
   */
  readonly run: (
    context: RequestContext | AuthenticatedContext,
    params: Readonly<Record<string, string>>,
    search: string,
  ) => HandlerResult;
}

/**
 * A route whose types are not erased, from which clients have the types of their calls. `contract` is for the compiler:
 * no value has it.
 */
export interface TypedRoute<
  M extends HttpMethod,
  Path extends string,
  P extends TObject,
  Q extends TObject,
  B extends TSchema,
  R extends Responses,
> extends Route {
  readonly method: M;
  readonly path: Path;
  readonly contract?: { readonly params: P; readonly query: Q; readonly body: B; readonly responses: R };
}
