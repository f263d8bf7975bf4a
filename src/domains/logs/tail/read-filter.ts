import { Type } from "typebox";
import type { LogFilter, SearchCondition } from "../../../../query/index.ts";
import { validationFailed } from "../../../errors.ts";
import { compileSchema } from "../../../http/validate.ts";
import { readSelection } from "../selection.ts";
import { readTailQuery } from "./read-query.ts";
import type { TailFilter } from "./tail-filter.ts";
import { SessionBody, type TailParameters } from "./types.ts";

const filterKey = compileSchema(Type.Tuple([SessionBody, SessionBody, Type.Integer()]));

/**
 * The filter of a stream: that of its session, narrowed by the parameters of the request; `nowMs` is what its query
 * takes for the present. Throws VALIDATION_FAILED for what the schema cannot say, and for a parameter that contradicts
 * the session, and KQL_INVALID.
 */
export function readTailFilter(
  parameters: TailParameters,
  session: TailParameters,
  nowMs: number,
): TailFilter {
  const own = readSelection(withoutQuery(parameters)).filter;
  const fixed = readSelection(withoutQuery(session)).filter;
  for (const name of ["service", "level"] as const)
    if (own[name] !== null && fixed[name] !== null && own[name] !== fixed[name])
      throw validationFailed([
        { path: `/${name}`, code: "custom", message: "is not the one that the session was made with" },
      ]);
  const text = parameters.query ?? session.query ?? "";
  const query = text.trim() === "" ? null : readTailQuery(text, nowMs);
  const filter: LogFilter = {
    ...fixed,
    search: bothOf(own.search, fixed.search),
    service: own.service ?? fixed.service,
    level: own.level ?? fixed.level,
    query: query?.relation ?? null,
  };
  return {
    // A query depends on the time it was read at.
    key: JSON.stringify([parameters, session, query === null ? 0 : nowMs]),
    filter,
    matches: query?.matches ?? null,
    bound: query?.matches == null ? null : query.bound,
    isLive: query === null || query.matches !== null,
  };
}

/** The filter of a key, which another server made. Throws an Error for a text that is no key. */
export function readFilterKey(key: string): TailFilter {
  const value: unknown = JSON.parse(key);
  if (!filterKey.check(value)) throw new TypeError("not the key of a filter");
  return readTailFilter(...value);
}

function withoutQuery({ query: _, ...others }: TailParameters): TailParameters {
  return others;
}

function bothOf(left: SearchCondition | null, right: SearchCondition | null): SearchCondition | null {
  if (left === null || right === null) return left ?? right;
  return { kind: "all", operands: [left, right] };
}
