import {
  aggregate,
  aggregateCall,
  allOf,
  attribute,
  call,
  column,
  DECORATION_BUDGET,
  type Expression,
  literal,
  scan,
} from "../../../query/index.ts";
import type { LogRanges } from "../../archive/reading/log-ranges.ts";
import { patientBudget } from "../../concurrency/patience.ts";
import { ApiError, DependencyError } from "../../errors.ts";
import { compileEntryQuery } from "../../kql/issues.ts";
import { conditionsOf } from "../../kql/relation-conditions.ts";
import type { Pack } from "../../rules/packs/pack.ts";
import type { Converted } from "../../rules/sigma/convert.ts";
import type { QueryCaller } from "../../storage/query-runner.ts";
import type { Seeded } from "./catalog-types.ts";
import type { ImportResult } from "./import-types.ts";
import { SEEN_FIELDS_MAX, SEEN_MS } from "./limits.ts";

const NANOS_PER_MILLI = 1_000_000n;
/** Fields of entries that are no attributes. */
const TEXT_COLUMNS: ReadonlySet<string> = new Set(["message", "service", "source", "host", "level"]);

/** Of each pack whether entries that it is about came within the last days; null where the log store does not say. */
export async function seenPacks(
  ranges: Pick<LogRanges, "read">,
  caller: QueryCaller,
  packs: readonly Pack[],
  nowMs: number,
): Promise<Seeded["packs"]> {
  const conditions = packs.map(({ expects }) => conditionOf(expects.kql, nowMs));
  const seen = await seenOf(ranges, caller, conditions, nowMs);
  return packs.map(({ id, expects }, i) => ({ id, sources: expects.sources, seen: seen?.[i] ?? null }));
}

/** Of each document which fields of it entries of the last days have, wherever their sources put them. */
export async function seenFields(
  ranges: Pick<LogRanges, "read">,
  caller: QueryCaller,
  converted: readonly Converted[],
  nowMs: number,
): Promise<Pick<ImportResult, "fields">[]> {
  const fieldsOf = (each: Converted) => ("made" in each && each.made !== "part" ? [...each.made.fields] : []);
  const names = [...new Set(converted.flatMap((each) => fieldsOf(each).flatMap(([, places]) => places)))];
  const asked = names.slice(0, SEEN_FIELDS_MAX);
  const seen = await seenOf(ranges, caller, asked.map(hasField), nowMs);
  const isSeen = new Map(asked.map((name, i) => [name, seen?.[i] ?? null]));
  return converted.map((each) => {
    if (!("made" in each) || each.made === "part") return {};
    return {
      fields: fieldsOf(each).map(([name, places]) => {
        const known = places.map((place) => isSeen.get(place) ?? null);
        return { name, seen: known.includes(true) ? true : known.includes(null) ? null : false };
      }),
    };
  });
}

function hasField(name: string): Expression {
  if (TEXT_COLUMNS.has(name)) return call("isnotempty", column(name, "string"));
  return call("isnotempty", call("tostring", attribute("attrs", ...name.split("."))));
}

/** Of each condition whether it holds of an entry of the last days; null where the log store does not say. */
async function seenOf(
  ranges: Pick<LogRanges, "read">,
  caller: QueryCaller,
  conditions: readonly Expression[],
  nowMs: number,
): Promise<readonly boolean[] | null> {
  if (conditions.length === 0) return [];
  const plan = aggregate(
    scan("logs"),
    [],
    conditions.map((condition, i) => aggregateCall(`n${i}`, "countif", condition)),
  );
  const timeRange = { from: BigInt(nowMs - SEEN_MS) * NANOS_PER_MILLI, to: null };
  try {
    const { value } = await ranges.read(caller, (reading) =>
      reading.runHot({
        operation: "seen_entries",
        plan,
        timeRange,
        maxRows: 1,
        budget: patientBudget(DECORATION_BUDGET),
      }),
    );
    const [counts = []] = value.rows;
    return conditions.map((_, i) => Number(counts[i] ?? 0) > 0);
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof DependencyError)) throw error;
    return null;
  }
}

function conditionOf(kql: string, nowMs: number): Expression {
  const conditions = conditionsOf(compileEntryQuery(kql, nowMs));
  if (conditions === null) throw new TypeError("a pack expects what are no entries");
  return conditions.length === 0 ? literal("bool", true) : allOf(conditions);
}
