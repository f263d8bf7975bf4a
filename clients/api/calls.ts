import type { Routes } from "./routes.ts";

/** A route as it is documented: method and path, such as `GET /api/v1/logs/:id`. */
export type CallName = keyof Routes;

type Param<P> = { readonly [Name in keyof P]: string | number };
/** A member that may be left out where all of it may, and that does not exist where there is nothing to say. */
type Part<Name extends string, T> = keyof T extends never
  ? unknown
  : Record<never, never> extends T
    ? { readonly [N in Name]?: T }
    : { readonly [N in Name]: T };
/** A body that is no JSON value is sent as it is; its content type stands in `headers`. */
export type RawBody = string | Uint8Array<ArrayBuffer> | Blob;
type Body<Name extends CallName> = [Routes[Name]["body"]] extends [undefined]
  ? Name extends `POST ${string}`
    ? { readonly body?: RawBody }
    : unknown
  : { readonly body: Routes[Name]["body"] };

type Responses<Name extends CallName> = Routes[Name]["responses"];
/** The statuses with which a call succeeds. */
export type SuccessStatus<Name extends CallName> = Extract<
  keyof Responses<Name>,
  200 | 201 | 202 | 203 | 204 | 205 | 206
>;

interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Ends the call from outside, beside its time limit. */
  readonly signal?: AbortSignal;
}

/** What a call takes: the parts that its route declares, each optional where the route can do without. */
export type CallInput<Name extends CallName> = CallOptions & {
  /** Refuses every other status, for callers that must know they speak to the right server; any 2xx by default. */
  readonly expect?: SuccessStatus<Name>;
} & Part<"params", Param<Routes[Name]["params"]>> &
  Part<"query", Routes[Name]["query"]> &
  Body<Name>;

/** The same, absent where nothing has to be said. */
export type CallArguments<Name extends CallName, Options = unknown> =
  Record<never, never> extends CallInput<Name>
    ? [input?: CallInput<Name> & Options]
    : [input: CallInput<Name> & Options];

/** The value of a successful answer; undefined where it has none, `never` where it is no JSON and has to be opened. */
export type CallAnswer<Name extends CallName> = {
  [Status in SuccessStatus<Name>]: Responses<Name>[Status];
}[SuccessStatus<Name>];

/** The calls that answer JSON or nothing. The others are opened. */
export type JsonCallName = {
  [Name in CallName]: [CallAnswer<Name>] extends [never] ? never : Name;
}[CallName];

/** The calls that answer page by page. */
export type PagedCallName = {
  [Name in JsonCallName]: CallAnswer<Name> extends { readonly nextCursor: string | null } ? Name : never;
}[JsonCallName];
