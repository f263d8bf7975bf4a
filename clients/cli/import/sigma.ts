import { readFile, stat } from "node:fs/promises";
import type { CallAnswer } from "../../api/calls.ts";
import type { ApiClient } from "../../api/client.ts";
import { isRecord } from "../../api/json.ts";
import { CliError } from "../cli-error.ts";
import { yamlFiles } from "../configuration/read-folder.ts";
import {
  CONFIG_FILE_MAX_BYTES,
  RULE_QUERY_MAX_CHARS,
  SIGMA_BATCH_MAX_BYTES,
  SIGMA_BATCH_MAX_DOCUMENTS,
} from "../limits.ts";
import { Imported } from "./imported.ts";

type Result = CallAnswer<"POST /api/v1/log-alerts/import">["results"][number];

interface SigmaFile {
  readonly path: string;
  readonly text: string;
  readonly lines: number;
  readonly documents: number;
}

const KINDS = { log: "log-alerts", correlation: "correlation-rules" } as const;

/**
 * Asks the server what it would make of the Sigma rules of a file or folder, in which nothing is made, and answers that. Correlations find the
 * rules that they name in any file of one batch, which a folder of ordinary size is.
 */
export async function readSigma(api: ApiClient, path: string): Promise<Imported> {
  const imported = new Imported();
  const files = await sigmaFiles(path);
  if (files.length === 0) throw new CliError(`${path} has no rules of Sigma`);
  for (const batch of batches(files)) {
    const yaml = batch.map(({ text }) => text).join("\n---\n");
    const { results } = await api.call("POST /api/v1/log-alerts/import", { body: { yaml, dryRun: true } });
    for (const result of results) addResult(result, batch, imported);
  }
  return imported;
}

async function sigmaFiles(path: string): Promise<SigmaFile[]> {
  const found = await stat(path).catch((error: unknown) => {
    throw new CliError(`${path} cannot be read`, { cause: error });
  });
  const files: SigmaFile[] = [];
  for (const file of found.isDirectory() ? await yamlFiles(path) : [path]) {
    if ((await stat(file)).size > CONFIG_FILE_MAX_BYTES)
      throw new CliError(`${file} is larger than ${CONFIG_FILE_MAX_BYTES / 1024} KiB`);
    // A document that ends the file without one behind it would be an empty one.
    const text = (await readFile(file, "utf8"))
      .replace(/^\uFEFF/, "")
      .replace(/(\n(---|\.\.\.)\s*)+$/, "\n")
      .trimEnd();
    if (text === "") continue;
    files.push({
      path: file,
      text,
      lines: text.split("\n").length,
      documents: text.match(/^---/gm)?.length ?? 0,
    });
  }
  return files;
}

function batches(files: readonly SigmaFile[]): SigmaFile[][] {
  const made: SigmaFile[][] = [];
  let [bytes, documents] = [0, 0];
  for (const file of files) {
    const size = Buffer.byteLength(file.text) + 5;
    const count = file.documents + 1;
    const current = made.at(-1);
    const fits = bytes + size <= SIGMA_BATCH_MAX_BYTES && documents + count <= SIGMA_BATCH_MAX_DOCUMENTS;
    if (current !== undefined && fits) current.push(file);
    else {
      made.push([file]);
      [bytes, documents] = [0, 0];
    }
    bytes += size;
    documents += count;
  }
  return made;
}

function addResult(result: Result, batch: readonly SigmaFile[], imported: Imported): void {
  const { title, ruleKind, rule } = result;
  const refusal = refusalOf(result, batch);
  if (refusal !== null || ruleKind === undefined || rule === undefined) {
    imported.leaveOut(ruleKind === undefined ? KINDS.log : KINDS[ruleKind], refusal ?? title);
    return;
  }
  const unseen = (result.fields ?? []).filter(({ seen }) => seen === false).map(({ name }) => name);
  const notes =
    unseen.length === 0 ? [] : [`nothing; but no entry of the last seven days has ${unseen.join(", ")}`];
  const kind = KINDS[ruleKind];
  imported.add(kind, imported.keyFor(kind, title), rule, notes);
}

/** Why a document becomes no record; null for one that does. */
function refusalOf(result: Result, batch: readonly SigmaFile[]): string | null {
  const { title, rule, error, note } = result;
  if (note !== undefined) return `${title}: ${note}`;
  if (rule === undefined)
    return `${placeOf(result, batch)}${title === "" ? "a document" : title}: ${error ?? "no rule"}`;
  const longest = Math.max(...queriesOf(rule).map((query) => query.length));
  if (longest <= RULE_QUERY_MAX_CHARS) return null;
  return `${title}: its query has ${longest} characters, of which files take ${RULE_QUERY_MAX_CHARS}; POST /log-alerts/import takes it`;
}

function queriesOf(rule: Readonly<Record<string, unknown>>): string[] {
  const steps = Array.isArray(rule.steps) ? rule.steps : [];
  const found = [rule.kql, rule.matchKql, ...steps.map((step) => (isRecord(step) ? step.kql : undefined))];
  return ["", ...found.filter((query) => typeof query === "string")];
}

/** Where in its file something stands that the server found in all of them together. */
function placeOf({ line, column }: Result, batch: readonly SigmaFile[]): string {
  if (line === undefined) return "";
  let first = 1;
  for (const { path, lines } of batch) {
    if (line < first + lines) return `${path}:${line - first + 1}:${column ?? 1} `;
    first += lines + 1;
  }
  return "";
}
