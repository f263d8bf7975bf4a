import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { isRecord } from "../../api/json.ts";
import { CliError } from "../cli-error.ts";
import { CONFIG_FILE_MAX_BYTES, CONFIG_FILES_MAX, CONFIG_FOLDERS_MAX_DEPTH } from "../limits.ts";
import { resolveSecrets } from "./secrets.ts";
import { type Place, type PlacedProblem, pointerTo, readYaml } from "./yaml-file.ts";

type Resources = Record<string, Record<string, Record<string, unknown>>>;

/** What all files of a folder describe. */
export interface Described {
  /** By kind and key, secrets with their values. */
  readonly resources: Resources;
  /** Where each value stands, by its JSON pointer into `resources`. */
  readonly places: ReadonlyMap<string, Place>;
}

const YAML_NAME = /\.ya?ml$/;

/** Every YAML file of a folder and those below, in the order of their names; what begins with a dot is passed over. */
export async function yamlFiles(folder: string): Promise<string[]> {
  const files: string[] = [];
  const visit = async (directory: string, depth: number): Promise<void> => {
    if (depth > CONFIG_FOLDERS_MAX_DEPTH)
      throw new CliError(`${directory} lies more than ${CONFIG_FOLDERS_MAX_DEPTH} folders deep`);
    const entries = await readdir(directory, { withFileTypes: true });
    for (const entry of entries.toSorted((left, right) => (left.name < right.name ? -1 : 1))) {
      if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
      const path = join(directory, entry.name);
      if (entry.isDirectory()) await visit(path, depth + 1);
      else if (YAML_NAME.test(entry.name)) files.push(path);
      if (files.length > CONFIG_FILES_MAX)
        throw new CliError(`${folder} has more than ${CONFIG_FILES_MAX} YAML files`);
    }
  };
  try {
    await visit(folder, 0);
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`${folder} cannot be read: ${reasonOf(error)}`, { cause: error });
  }
  return files;
}

/**
 * Reads what the files of a folder describe, whichever of them says what. Throws CliError with the place of everything
 * that is wrong, and of every secret that is not there.
 */
export async function readFolder(
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Described> {
  const files = await yamlFiles(folder);
  if (files.length === 0) throw new CliError(`${folder} has no YAML files`);
  // Without a prototype, whose name a file may say as well.
  const resources: Resources = Object.create(null);
  const places = new Map<string, Place>();
  const problems: PlacedProblem[] = [];
  for (const file of files) {
    const read = readYaml(file, await readText(file));
    problems.push(...read.problems);
    problems.push(...merge(resources, places, read));
  }
  const secrets = await resolveSecrets(resources, places, env);
  problems.push(...secrets.problems);
  if (problems.length > 0) throw placedError(problems);
  return { resources: secrets.resources, places };
}

/** Says each problem with its place, a line each. */
export function placedError(problems: readonly PlacedProblem[]): CliError {
  return new CliError(problems.map(({ place, message }) => `${placeText(place)} ${message}`).join("\n"));
}

function placeText({ file, line, column }: Place): string {
  return `${file}:${line}:${column}`;
}

/** Where a pointer leads to, or the nearest thing above it that stands somewhere. */
export function placeOf(places: ReadonlyMap<string, Place>, pointer: string): Place | null {
  for (let at = pointer; at !== ""; at = at.slice(0, at.lastIndexOf("/"))) {
    const place = places.get(at);
    if (place !== undefined) return place;
  }
  return null;
}

async function readText(file: string): Promise<string> {
  try {
    const { size } = await stat(file);
    if (size > CONFIG_FILE_MAX_BYTES)
      throw new CliError(`${file} is larger than ${CONFIG_FILE_MAX_BYTES / 1024} KiB`);
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`${file} cannot be read: ${reasonOf(error)}`, { cause: error });
  }
}

/** Adds what a file describes to what others do, and answers what cannot be. */
function merge(
  resources: Resources,
  places: Map<string, Place>,
  { value, places: own }: ReturnType<typeof readYaml>,
): PlacedProblem[] {
  const problems: PlacedProblem[] = [];
  const wrong = (pointer: string, message: string): void => {
    const place = placeOf(own, pointer) ?? own.get("");
    if (place !== undefined) problems.push({ place, message });
  };
  if (value === null) return problems;
  if (!isRecord(value)) {
    wrong("", "has to hold kinds of records, such as monitors:");
    return problems;
  }
  for (const [kind, records] of Object.entries(value)) {
    const kindAt = pointerTo(kind);
    if (records === null) continue;
    if (!isRecord(records)) {
      wrong(kindAt, `has to hold records by their keys`);
      continue;
    }
    const merged: Resources[string] = Object.assign(Object.create(null), resources[kind]);
    for (const [key, record] of Object.entries(records)) {
      const at = kindAt + pointerTo(key);
      const other = key in merged ? places.get(at) : undefined;
      if (other !== undefined) wrong(at, `${kind}/${key} is described already, at ${placeText(other)}`);
      else if (!isRecord(record)) wrong(at, "has to hold the fields of a record");
      else merged[key] = record;
    }
    resources[kind] = merged;
  }
  for (const [pointer, place] of own) if (!places.has(pointer)) places.set(pointer, place);
  return problems;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
