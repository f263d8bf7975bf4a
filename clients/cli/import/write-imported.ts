import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type * as Yaml from "yaml";
import { requireNoYaml } from "../configuration/write-folder.ts";
import { escapeControls } from "../terminal/escape-controls.ts";
import type { Imported, ImportedRecord } from "./imported.ts";

/**
 * Writes what was imported into files of configuration, one for each kind, and answers their paths. What was not taken over stands
 * as a comment above its record, or at the head of the file where it has become none. Secrets have files of their own that
 * the user alone may read, and that git passes over.
 */
export async function writeImported(
  folder: string,
  imported: Imported,
  origin: string,
  overwrite: boolean,
): Promise<string[]> {
  await requireNoYaml(folder, overwrite);
  // Read by the few commands that write YAML, not at every start.
  const yaml = await import("yaml");
  const kinds = new Set([...imported.records.map(({ kind }) => kind), ...imported.leftOut.keys()]);
  const written: string[] = [];
  for (const kind of kinds) {
    const path = join(folder, `${kind}.yaml`);
    const records = imported.records.filter((record) => record.kind === kind);
    await writeFile(path, fileText(yaml, kind, records, imported.leftOut.get(kind) ?? [], origin));
    written.push(path);
  }
  if (imported.secrets.size > 0) await writeSecrets(folder, imported.secrets);
  return written;
}

async function writeSecrets(folder: string, secrets: ReadonlyMap<string, string>): Promise<void> {
  await mkdir(join(folder, "secrets"), { recursive: true, mode: 0o700 });
  await writeFile(join(folder, "secrets", ".gitignore"), "*\n");
  // Whoever reads one takes the last line break away.
  for (const [file, value] of secrets) await writeFile(join(folder, file), `${value}\n`, { mode: 0o600 });
}

function fileText(
  { Document, isMap, isPair, isScalar }: typeof Yaml,
  kind: string,
  records: readonly ImportedRecord[],
  leftOut: readonly string[],
  origin: string,
): string {
  const document = new Document(
    { [kind]: Object.fromEntries(records.map(({ key, fields }) => [key, fields])) },
    { version: "1.2", aliasDuplicateObjects: false },
  );
  const head = [`Taken over from ${origin}.`];
  if (leftOut.length > 0) head.push("Not taken over:", ...leftOut.map((what) => `- ${what}`));
  document.commentBefore = commentOf(head);
  const notes = new Map(records.map((record) => [record.key, record.notes]));
  const [pair] = isMap(document.contents) ? document.contents.items : [];
  const listed = isPair(pair) && isMap(pair.value) ? pair.value.items : [];
  for (const { key } of listed) {
    if (!isScalar(key) || typeof key.value !== "string") continue;
    const own = notes.get(key.value) ?? [];
    if (own.length > 0) key.commentBefore = commentOf(own.map((note) => `Not taken over: ${note}`));
  }
  if (records.length === 0) document.contents = null;
  const text = document.toString({ lineWidth: 0 });
  return records.length === 0 ? `${text.replace(/\n*null\n$/, "")}\n` : text;
}

/** Lines of a comment, in which nothing ends a line that does not belong to it. */
function commentOf(lines: readonly string[]): string {
  return lines.map((line) => ` ${escapeControls(line)}`).join("\n");
}
