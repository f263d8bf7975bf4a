import type { Change } from "../../changes/change.ts";
import { mapInSlices } from "../../concurrency/thread-turns.ts";
import { ApiError, validationFailed } from "../../errors.ts";
import { requireEntryConditions } from "../../kql/entry-conditions.ts";
import { type Converted, convertSigma } from "../../rules/sigma/convert.ts";
import { type ConvertedRule, type Correlation, correlationOf } from "../../rules/sigma/converted-rule.ts";
import { IMPORT_MAX_DOCUMENTS } from "../../rules/sigma/limits.ts";
import { lockOrganization } from "../../storage/organization-transaction.ts";
import type { LogAlerts } from "./alerts.ts";
import type { ImportResult } from "./import-types.ts";

/** Makes the correlation rule of that key, or changes it to this; its id, and whether it was there. */
export type PutCorrelation = (
  change: Change,
  correlation: Correlation,
  enabled: boolean,
) => Promise<{ readonly id: number; readonly updated: boolean }>;

/** A document, and whether what it became can be asked. */
export type Convertible = Converted | { readonly title: string; readonly refusal: string };

/** What the documents of a text become. Throws VALIDATION_FAILED for more of them than one import has. */
export async function readSigma(yaml: string): Promise<readonly Convertible[]> {
  const converted = await convertSigma(yaml);
  if (converted.length === 0)
    throw validationFailed([{ path: "/yaml", code: "custom", message: "has no rules" }]);
  if (converted.length > IMPORT_MAX_DOCUMENTS)
    throw validationFailed([
      { path: "/yaml", code: "too_big", message: `has more than ${IMPORT_MAX_DOCUMENTS} documents` },
    ]);
  const keys = new Set<string>();
  return mapInSlices(converted, (each): Convertible => {
    if (!("made" in each) || each.made === "part") return each;
    const { title, made } = each;
    if (keys.has(made.key)) return { title, refusal: "Another document before it has the same id." };
    keys.add(made.key);
    const refusal = conditionsOf(made)
      .map(refusalOf)
      .find((said) => said !== null);
    return refusal === undefined || refusal === null ? each : { title, refusal };
  });
}

/** Makes the rules of an import, or changes those of the same Sigma ids; who changed one otherwise, keeps that. */
export async function putImported(
  change: Change,
  converted: readonly Convertible[],
  to: {
    readonly alerts: LogAlerts;
    /** Null for who may make none. */
    readonly putCorrelation: PutCorrelation | null;
    readonly enabled: boolean;
  },
): Promise<ImportResult[]> {
  await lockOrganization(change.tx, change.organizationId);
  const results: ImportResult[] = [];
  for (const each of converted) results.push(await putOne(change, each, to));
  const made = results.flatMap(({ ruleKind, ruleId, updated }) =>
    ruleId === undefined ? [] : [{ ruleKind, ruleId, updated }],
  );
  change.record({ resource: "log-alerts", after: { imported: made } });
  return results;
}

async function putOne(
  change: Change,
  each: Convertible,
  { alerts, putCorrelation, enabled }: Parameters<typeof putImported>[2],
): Promise<ImportResult> {
  const shown = shownOf(each);
  if (!("made" in each) || each.made === "part") return shown;
  const { title, made } = each;
  if (made.kind === "log") {
    const { id, updated } = await alerts.put(change, made.key, { ...logAlertOf(made), enabled });
    return { title, ruleKind: "log", ruleId: id, updated };
  }
  if (putCorrelation === null)
    return { title, error: "It becomes a correlation rule, for which the scope security:write is needed." };
  const { id, updated } = await putCorrelation(change, made, enabled);
  return { title, ruleKind: "correlation", ruleId: id, updated };
}

/** What is said of a document before anything is made of it. */
export function shownOf(each: Convertible): ImportResult {
  const title = each.title ?? "";
  if ("refusal" in each) return { title, error: each.refusal };
  if ("problems" in each) {
    const [first] = each.problems;
    const said = each.problems.map(
      ({ line, column, path, message }) => `line ${line}, column ${column}: ${path} ${message}`,
    );
    return {
      ...{ title, error: said.join("\n") },
      ...(first !== undefined && { line: first.line, column: first.column }),
    };
  }
  if (each.made === "part")
    return {
      title,
      note: "Others are made of it; by itself it tells of nothing, unless it says `generate: true`.",
    };
  return {
    ...{ title, ruleKind: each.made.kind === "log" ? "log" : "correlation" },
    kql: conditionsOf(each.made).join("\n"),
    rule: each.made.kind === "log" ? logAlertOf(each.made) : correlationOf(each.made),
  };
}

function logAlertOf(made: ConvertedRule) {
  return {
    ...{ name: made.name, severity: made.severity, kql: made.kql, threshold: made.threshold },
    ...{ windowSec: made.windowSec, groupBy: [...made.groupBy] },
    ...(made.description !== null && { description: made.description }),
    ...(made.attackTechnique !== null && { attackTechnique: made.attackTechnique }),
  };
}

function conditionsOf(
  made: Exclude<Extract<Converted, { made: unknown }>["made"], "part">,
): readonly string[] {
  if (made.kind === "log") return [made.kql];
  return made.matchKql === null ? made.steps : [made.matchKql];
}

/** Why a condition cannot be asked; null for one that can. */
function refusalOf(kql: string): string | null {
  try {
    requireEntryConditions(kql, "/kql");
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const [issue] = error.fields ?? [];
    return `It becomes KQL that is refused: ${issue?.message ?? error.message}`;
  }
}
