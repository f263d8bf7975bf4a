import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const LOGHUB = join(import.meta.dir, "../../../shared/data/loghub");

export const SYSTEMS = ["HDFS", "Hadoop", "Zookeeper", "Linux", "Android", "Apache", "OpenSSH", "OpenStack"];

/** A line of a system and the event that people say it is one of. */
export interface LabelledLine {
  readonly content: string;
  readonly event: string;
}

/** Whether the labelled lines are on this machine. */
export function hasLoghub(): boolean {
  return existsSync(LOGHUB);
}

export function readLabelledLines(system: string): LabelledLine[] {
  return readRows(system).map((row) => ({
    content: row.get("Content") ?? "",
    event: row.get("EventId") ?? "",
  }));
}

/** The lines as they were written. */
export function readRawLines(system: string): Uint8Array {
  return new Uint8Array(readFileSync(join(LOGHUB, system, `${system}_2k.log`)));
}

/** What people say of each line, by the names of the columns. */
export function readRows(system: string): ReadonlyMap<string, string>[] {
  const text = readFileSync(join(LOGHUB, system, `${system}_2k.log_structured.csv`), "utf8");
  const [header = [], ...rows] = parseCsv(text);
  return rows
    .filter((row) => row.length === header.length)
    .map((row) => new Map(header.map((column, i) => [column, row[i] ?? ""])));
}

/** RFC 4180. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    row.push(quoted?.replaceAll('""', '"') ?? plain ?? "");
    if (end === ",") continue;
    rows.push(row);
    row = [];
  }
  return rows.filter((fields) => fields.length > 1);
}
