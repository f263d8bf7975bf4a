import type { Change } from "../../changes/change.ts";
import { validationFailed } from "../../errors.ts";
import { type Converted, conditionsOf, convertSigma } from "../../rules/sigma/convert.ts";
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

/** What the documents of a text become. Throws VALIDATION_FAILED for more of them than one import has. */
export async function readSigma(yaml: string): Promise<readonly Converted[]> {
  const converted = await convertSigma(yaml);
  if (converted.length > IMPORT_MAX_DOCUMENTS)
    throw validationFailed([
      { path: "/yaml", code: "too_big", message: `has more than ${IMPORT_MAX_DOCUMENTS} documents` },
    ]);
  if (converted.length === 0)
    throw validationFailed([{ path: "/yaml", code: "custom", message: "has no rules" }]);
  return converted;
}

/** Makes the rules of an import, or changes those of the same Sigma ids; who changed one otherwise, keeps that. */
export async function putImported(
  change: Change,
  converted: readonly Converted[],
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
  each: Converted,
  { alerts, putCorrelation, enabled }: Parameters<typeof putImported>[2],
): Promise<ImportResult> {
  const shown = shownOf(each);
  if (!("made" in each) || each.made === "part") return shown;
  const { title, made } = each;
  if (made.kind === "log") {
    const { id, updated } = await alerts.put(change, made.key, { ...logAlertOf(made), enabled });
    return { title, ruleKind: "log", ruleId: id, updated };
  }
  if (putCorrelation === null) {
    const error = "It becomes a correlation rule, for which the scope security:write is needed.";
    return { title, error, line: each.line, column: 1 };
  }
  const { id, updated } = await putCorrelation(change, made, enabled);
  return { title, ruleKind: "correlation", ruleId: id, updated };
}

/** What is said of a document before anything is made of it. */
export function shownOf(each: Converted): ImportResult {
  const title = each.title ?? "";
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
