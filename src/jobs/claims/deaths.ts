import type { Fragment, Helper, ISql } from "postgres";

/**
 * The claim of a row says how many of its holders died with it, one after the other: whoever gives it back frees it, so a
 * claim that is still there when the row is taken is that of a dead one. Such claims are of UUID version 8 (RFC 9562, 5.8),
 * and the number is in their last two digits; any other claim was made by a server that did not count yet.
 */
const COUNTING = /^.{14}8.*(..)$/;
const COUNTED_MAX = 255;

/** How many holders of a row died before the one that has this claim. */
export function deathsOf(claim: string): number {
  return Number.parseInt(COUNTING.exec(claim)?.[1] ?? "0", 16);
}

/** A claim as one that counts, of a row that nobody died with. */
export function countingNone(claim: string): string {
  return `${claim.slice(0, 14)}8${claim.slice(15, 34)}00`;
}

/** The claim that a row gets whose claim is in the column `before`; null there where nobody holds it. */
export function countingDeaths(sql: ISql, claim: string, before: Helper<string>): Fragment {
  const none = countingNone(claim);
  return sql`CASE
    WHEN ${before} IS NULL THEN ${none}
    WHEN substr(${before}::text, 15, 1) <> '8' THEN left(${none}, 34) || '01'
    ELSE left(${none}, 34) || lpad(to_hex(least(
      ('x' || right(${before}::text, 2))::bit(8)::integer + 1, ${COUNTED_MAX}::integer)), 2, '0')
  END`;
}
