import { ERROR_CODES, type ErrorCode } from "../../errors.ts";
import { IMPLIED_ERRORS, type Route } from "../route.ts";

const REGISTRY = Object.keys(ERROR_CODES);

/** Every code a route can answer with, in the order of the registry: its own, and those its declaration implies. */
export function errorCodesOf(route: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>([...IMPLIED_ERRORS, ...impliedBy(route), ...route.errors]);
  return [...codes].toSorted((a, b) => REGISTRY.indexOf(a) - REGISTRY.indexOf(b));
}

function impliedBy({ access, body, effect, method, params }: Route): ErrorCode[] {
  const isPublic = access === "public";
  const isGet = method === "GET";
  return [
    ...when(!isPublic, "UNAUTHENTICATED"),
    ...when(typeof access === "object", "PAT_SCOPE_INSUFFICIENT", "FORBIDDEN"),
    // A call that rides on a cookie needs the Origin of the server.
    ...when(!isGet, "FORBIDDEN", "IDEMPOTENCY_KEY_TOO_LONG"),
    ...when(!isGet && !isPublic, "IDEMPOTENCY_KEY_REUSED", "IDEMPOTENCY_IN_PROGRESS"),
    ...when(!isGet && !isPublic && effect !== "read", "PAT_DAILY_LIMIT_EXCEEDED"),
    ...when(params !== undefined, "NOT_FOUND"),
    ...when(body !== undefined, "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE", "REQUEST_TIMEOUT"),
  ];
}

function when(condition: boolean, ...codes: readonly ErrorCode[]): readonly ErrorCode[] {
  return condition ? codes : [];
}
