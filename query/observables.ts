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

/** Words with dots between them of any alphabet, for texts that have more than ASCII. */
const INTERNATIONAL = "(?:[\\p{L}\\p{M}\\p{N}_-]+[.])+[\\p{L}\\p{M}\\p{N}-]+";

/**
 * What is no name of its own in such texts: what goes on behind letters of Latin, Greek or Cyrillic beyond ASCII. Other scripts have no
 * blanks between words, so that a name of ASCII may stand right beside their letters.
 */
const REST_OF_WORD = "[\\x{c0}-\\x{d6}\\x{d8}-\\x{f6}\\x{f8}-\\x{52f}\\x{1e00}-\\x{1fff}]+[0-9A-Za-z_.-]*";

/** A domain ends in letters, or in a country's name in Punycode, and is no longer than any. */
const DOMAIN = "^[0-9A-Za-z_][0-9A-Za-z_.-]*[.](?:[A-Za-z]{2,24}|[Xx][Nn]--[0-9A-Za-z-]+)$";

/** The same of any alphabet; what it is in Punycode, and so how long, is seen where it is taken. */
const INTERNATIONAL_DOMAIN = "[.]\\p{L}[\\p{L}\\p{M}\\p{N}-]+$";

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
    const isBeyond = (text: string): string => `length(${text}) != lengthUTF8(${text})`;
    // Texts of ASCII, which are most, are empty here, so that the larger automata have nothing to do.
    const beyond = `if(${isBeyond(texts)}, ${texts}, '')`;
    const international = `extractAll(${beyond}, ${call.parameter("String", INTERNATIONAL)})`;
    const ofAscii = `if(${isBeyond(texts)}, replaceRegexpAll(${beyond}, ${call.parameter("String", REST_OF_WORD)}, ' '), ${texts})`;
    const found = `arrayDistinct(arrayConcat(extractAll(${ofAscii}, ${call.parameter("String", CANDIDATE)}), ${international}))`;
    const isHash = "length(x) IN (32, 40, 64, 128) AND match(x, '^[0-9A-Fa-f]+$')";
    const isDomain = `length(x) <= 253 AND match(x, ${call.parameter("String", DOMAIN)})`;
    const isInternational = `${isBeyond("x")} AND lengthUTF8(x) <= 253 AND match(x, ${call.parameter("String", INTERNATIONAL_DOMAIN)})`;
    return `arrayJoin(arrayFilter(x -> isIPv4String(x) OR isIPv6String(x) OR ${isHash} OR (${isDomain}) OR (${isInternational}), ${found}))`;
  },
);

/** One row for each different candidate of the row: to be grouped by, once in a plan. A row without any is none. */
export function observableCandidates(message: Expression, attrs: Expression): Call {
  return callOverload("observableCandidates", CANDIDATES, [message, attrs]);
}
