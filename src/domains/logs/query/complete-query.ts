import { completeKql, type NamedColumn } from "../../../../query/index.ts";
import { bareNamesIn } from "../../../kql/issues.ts";
import type { QueryCaller } from "../../../storage/query-runner.ts";
import { readFields } from "../facets/fields.ts";
import type { Fields } from "../facets/types.ts";
import { readCovered } from "../read-logs.ts";
import { readSelection } from "../selection.ts";
import type { QueryDependencies } from "./run-query.ts";
import type { Completions, CompletionsBody } from "./types.ts";

/** What KQL calls values of a JSON type; null where it is several things or nothing of its own. */
const KQL_TYPES: Readonly<Record<string, string>> = {
  string: "string",
  number: "real",
  boolean: "bool",
  object: "dynamic",
  array: "dynamic",
};

/** What can stand at a place of a query, and which of its names no entry seems to have. */
export async function completeQuery(
  deps: QueryDependencies,
  caller: QueryCaller,
  { query, position = query.length, from, to }: CompletionsBody,
): Promise<Completions> {
  const range = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  const kept = await deps.kept.namesOf(caller.organizationId);
  const { timeRange } = readSelection(range);
  return readCovered(deps, caller, async (one) => {
    const bareNames = bareNamesIn(query, deps.now(), kept);
    const warned = deps.nameWarnings.lookFor(one.logs, bareNames, timeRange);
    const { fields } = await readFields(one, range);
    const { items, replace } = completeKql(query, position, { attributes: attributesAmong(fields), kept });
    return { items: [...items], replace, names: await warned() };
  });
}

function attributesAmong(fields: Fields["fields"]): NamedColumn[] {
  return fields.flatMap(({ name, kind, types }) => {
    if (kind !== "attribute") return [];
    const [type, ...others] = types;
    return [{ name, type: type === undefined || others.length > 0 ? null : (KQL_TYPES[type] ?? null) }];
  });
}
