import type { Sql } from "postgres";
import { classifyAddress } from "../../outbound/address-class.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import type { SeenObservable } from "../observe.ts";
import {
  allowedValues,
  type IndicatorHit,
  indicatorsAmong,
  isAnyLookedFor,
  rangePrefixes,
} from "./indicator-store.ts";
import { domainAndParents, type IndicatorValue } from "./indicator-value.ts";
import { networkAddress } from "./ip-network.ts";

/** Finds asked about at a time: each may be several values. */
const ASKED_MAX = 10_000;

/** Which indicators of an organisation are among what was seen, as of a revision and a time. */
export async function matchIndicators(
  sql: Sql,
  organizationId: number,
  observables: readonly SeenObservable[],
  at: { readonly revision: bigint; readonly ms: number },
): Promise<IndicatorHit[]> {
  if (observables.length === 0) return [];
  if (!(await askPostgres(() => isAnyLookedFor(sql, organizationId)))) return [];
  const allowed = await allowListOf(sql, organizationId);
  const prefixes = await askPostgres(() => rangePrefixes(sql, organizationId));
  const hits: IndicatorHit[] = [];
  for (let from = 0; from < observables.length; from += ASKED_MAX) {
    const some = observables.slice(from, from + ASKED_MAX).filter(({ indicator }) => !allowed(indicator));
    const asked = some.map((observable) => ({
      observable,
      values: valuesToAsk(observable.indicator, prefixes),
    }));
    const distinct = new Map(
      asked.flatMap(({ values }) => values.map((value) => [`${value.type}\t${value.value}`, value])),
    );
    const found = await askPostgres(() => indicatorsAmong(sql, organizationId, [...distinct.values()], at));
    const byValue = new Map(found.map((indicator) => [`${indicator.type}\t${indicator.value}`, indicator]));
    for (const { observable, values } of asked) {
      const matched = values.flatMap(({ type, value }) => byValue.get(`${type}\t${value}`) ?? []);
      for (const { id, feedId } of matched) hits.push(hitOf(observable, id, feedId));
    }
  }
  return hits;
}

/** Whether what was found, or what it lies in, is let pass. */
export async function allowListOf(
  sql: Sql,
  organizationId: number,
): Promise<(indicator: Pick<IndicatorValue, "type" | "value">) => boolean> {
  const entries = await askPostgres(() => allowedValues(sql, organizationId));
  const known = new Set(entries.map(({ type, value }) => `${type}\t${value}`));
  const prefixes = [
    ...new Set(entries.flatMap(({ type, value }) => (type === "ip" ? (prefixOf(value) ?? []) : []))),
  ];
  return ({ type, value }) => {
    if (known.has(`${type}\t${value}`)) return true;
    if (type === "domain") return domainAndParents(value).some((domain) => known.has(`domain\t${domain}`));
    return type === "ip" && rangesAround(value, prefixes).some((range) => known.has(`ip\t${range}`));
  };
}

/** The values of indicators that a find is a hit of. */
function valuesToAsk(
  { type, value }: IndicatorValue,
  prefixes: readonly number[],
): Pick<IndicatorValue, "type" | "value">[] {
  if (type === "domain") return domainAndParents(value).map((domain) => ({ type, value: domain }));
  if (type === "hash") return [{ type, value }];
  const usable = prefixes.filter((bits) => isTold(value, bits));
  return [value, ...rangesAround(value, usable)].map((each) => ({ type, value: each }));
}

/**
 * Whether a range of so many bits tells anything of an address: private, documentation and other special addresses are everybody's,
 * so that a wide range does not mean them; one that lies within theirs does.
 */
export function isTold(address: string, prefixBits: number): boolean {
  const known = classifyAddress(address);
  return known !== null && (known.class === "public" || prefixBits >= known.prefixBits);
}

/** The ranges of those lengths that an address lies in. */
export function rangesAround(address: string, prefixes: readonly number[]): string[] {
  const bits = address.includes(":") ? 128 : 32;
  return prefixes
    .filter((prefix) => prefix < bits)
    .map((prefix) => `${networkAddress(address, prefix)}/${prefix}`);
}

function prefixOf(value: string): number | null {
  const bits = value.split("/")[1];
  return bits === undefined ? null : Number(bits);
}

function hitOf(
  { indicator, where, n, firstMs, lastMs, sampleId }: SeenObservable,
  indicatorId: number,
  feedId: number | null,
) {
  return {
    ...{ indicatorId, feedId, n, firstMs, lastMs },
    entityType: where.type,
    entityKey: where.key,
    found: indicator.value,
    sampleId: String(sampleId),
  };
}
