import { type BareName, compileKql, nearestName, type TimeRange } from "../../../../query/index.ts";
import type { ReadWarning } from "../../../archive/reading/coverage.ts";
import type { RangeReading } from "../../../archive/reading/range-reading.ts";
import { patient, patientBudget } from "../../../concurrency/patience.ts";
import { LookupCache } from "../../../storage/lookup-cache.ts";
import { ENTRY_COLUMNS } from "../entry-json.ts";
import {
  KNOWN_ATTRIBUTES_LIFE_MS,
  KNOWN_ATTRIBUTES_MAX_ORGANIZATIONS,
  NAME_WARNINGS_BUDGET,
  NAME_WARNINGS_GRACE_MS,
  NAMED_ATTRIBUTES_MAX,
} from "../limits.ts";

/** The newest entries that are looked at; the query says so, too. */
const SAMPLE_ENTRIES = 2000;
const ATTRIBUTES_OF_NEWEST = `logs | top ${SAMPLE_ENTRIES} by ts desc | mv-expand name = bag_keys(attrs) to typeof(string) | distinct name | take ${NAMED_ATTRIBUTES_MAX}`;

interface Attributes {
  readonly names: ReadonlySet<string>;
}

/**
 * Tells of names in queries that are no columns, and attributes of none of the newest entries: `levle == "error"` answers
 * nothing, and nothing in the answer would say why. It is asked beside the query, costs no more than a glance, and where it
 * is not known in time, nothing is said.
 */
export class NameWarnings {
  /** Attributes that entries of an organisation had a moment ago, of whatever time: whose names are among them needs no look. */
  readonly #known: LookupCache<Attributes>;

  constructor(now: () => number) {
    const max = KNOWN_ATTRIBUTES_MAX_ORGANIZATIONS;
    this.#known = new LookupCache({ now, lifeMs: KNOWN_ATTRIBUTES_LIFE_MS, max, absentMax: 1 });
  }

  /** Begins to look at once; what comes back is called when the answer is there, and never rejects. */
  lookFor(
    logs: RangeReading,
    bareNames: readonly BareName[],
    timeRange: TimeRange,
  ): () => Promise<ReadWarning[]> {
    if (bareNames.length === 0) return () => Promise.resolve([]);
    const found = this.#find(logs, bareNames, timeRange).catch(() => []);
    return () => Promise.race([found, nothingAfter(patient(NAME_WARNINGS_GRACE_MS))]);
  }

  async #find(
    logs: RangeReading,
    bareNames: readonly BareName[],
    timeRange: TimeRange,
  ): Promise<ReadWarning[]> {
    const key = String(logs.caller.organizationId);
    const known = this.#known.peek(key);
    if (known !== undefined && known !== null && bareNames.every(({ name }) => isAmong(name, known.names)))
      return [];
    const names = await attributesOfNewest(logs, timeRange);
    await this.#known.get(key, () => Promise.resolve({ names }));
    // Without an attribute there is nothing to say of: there may be no entry.
    if (names.size === 0) return [];
    const told = new Set<string>();
    return bareNames.flatMap((bareName) => {
      if (isAmong(bareName.name, names) || told.has(bareName.name)) return [];
      told.add(bareName.name);
      return warningOf(bareName, names);
    });
  }
}

async function attributesOfNewest(logs: RangeReading, timeRange: TimeRange): Promise<ReadonlySet<string>> {
  const compiled = compileKql(ATTRIBUTES_OF_NEWEST, { nowNs: 0n });
  if (!compiled.ok) throw new TypeError("the query for attributes is none");
  const { rows } = await logs.runHot({
    operation: "attribute_names",
    plan: compiled.query.relation,
    timeRange,
    maxRows: NAMED_ATTRIBUTES_MAX,
    budget: patientBudget(NAME_WARNINGS_BUDGET),
  });
  return new Set(rows.map(([name]) => String(name)));
}

/** `a` is there, too, where entries have `a.b`. */
function isAmong(name: string, names: ReadonlySet<string>): boolean {
  return names.has(name) || [...names].some((other) => other.startsWith(`${name}.`));
}

/** Nothing where no other name is near, unless it stands where a text would: attributes may be rare. */
function warningOf({ name, span, isValue }: BareName, names: ReadonlySet<string>): ReadWarning[] {
  const near = isValue ? null : nearestName(name, [...ENTRY_COLUMNS, ...names]);
  if (near === null && !isValue) return [];
  const suggestion = near ?? JSON.stringify(name);
  const advice = isValue ? `A text stands in quotes: ${suggestion}.` : `Did you mean ${suggestion}?`;
  const message = `${name} is no column, and an attribute of none of the newest entries. ${advice}`;
  return [{ code: "NO_SUCH_ATTRIBUTE", day: null, message, name, ...span, suggestion }];
}

function nothingAfter(milliseconds: number): Promise<ReadWarning[]> {
  return new Promise((resolve) => {
    setTimeout(() => resolve([]), milliseconds).unref();
  });
}
