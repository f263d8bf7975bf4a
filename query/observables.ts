import { callOverload } from "./call.ts";
import type { Call, Expression } from "./expression.ts";
import { overload, parameter } from "./functions/definition.ts";

/**
 * What somebody or something may be known by, as it stands in texts: what looks like an address, a name with dots or a hash. Only
 * what looks so; whoever takes it decides. No query can name any of it.
 */

/**
 * First what has two colons, which is an address of IPv6 or a time; then words with dots between them; then a run of hex digits as
 * long as an MD5 at least. No repetition is counted, for that would make the automaton large.
 */
const CANDIDATE =
  "[0-9A-Za-z_]*:[0-9A-Za-z_]*:[0-9A-Za-z_:.]*|(?:[0-9A-Za-z_-]+[.])+[0-9A-Za-z-]+|[0-9A-Fa-f]{32}[0-9A-Fa-f]*";

/** A domain ends in letters, or in a country's name in Punycode, and is no longer than any. */
const DOMAIN = "^[0-9A-Za-z_][0-9A-Za-z_.-]*[.](?:[A-Za-z]{2,24}|[Xx][Nn]--[0-9A-Za-z-]+)$";

/**
 * Which values of attributes are looked through: most are too short for anything. What its name calls an id is no hash, though a
 * trace, a span or a request is often told by as many hex digits, another one in each entry.
 */
const MAY_HOLD =
  "position(x, '.') > 0 OR position(x, ':') > 0 OR (length(x) >= 32 AND lower(right(name, 2)) != 'id')";

const CANDIDATES = overload(
  [parameter("message", "string"), parameter("attrs", "dynamic")],
  "string",
  "never",
  (call) => {
    const bag = call.bagParts(1);
    const texts =
      bag === undefined
        ? call.operand(0)
        : `concat(${call.operand(0)}, '\\n', arrayStringConcat(arrayFilter((x, name) -> ${MAY_HOLD}, ${bag.values}, ${bag.keys}), '\\n'))`;
    const found = `arrayDistinct(extractAll(${texts}, ${call.parameter("String", CANDIDATE)}))`;
    const isHash = "length(x) IN (32, 40, 64, 128) AND match(x, '^[0-9A-Fa-f]+$')";
    const isDomain = `length(x) <= 253 AND match(x, ${call.parameter("String", DOMAIN)})`;
    return `arrayJoin(arrayFilter(x -> isIPv4String(x) OR isIPv6String(x) OR ${isHash} OR (${isDomain}), ${found}))`;
  },
);

/** One row for each different candidate of the row: to be grouped by, once in a plan. A row without any is none. */
export function observableCandidates(message: Expression, attrs: Expression): Call {
  return callOverload("observableCandidates", CANDIDATES, [message, attrs]);
}
