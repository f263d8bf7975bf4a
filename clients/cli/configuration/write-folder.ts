import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CliError } from "../cli-error.ts";
import { yamlFiles } from "./read-folder.ts";

type Resources = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>>;

/** Writes what is described into a folder, a file for each kind, and answers their paths. Throws CliError for files that are there. */
export async function writeFolder(
  folder: string,
  resources: Resources,
  overwrite: boolean,
): Promise<string[]> {
  await requireNoYaml(folder, overwrite);
  // Read by the few commands that write YAML, not at every start.
  const { stringify } = await import("yaml");
  const written: string[] = [];
  for (const [kind, records] of Object.entries(resources)) {
    const path = join(folder, `${kind}.yaml`);
    await writeFile(
      path,
      stringify({ [kind]: records }, { version: "1.2", lineWidth: 0, aliasDuplicateObjects: false }),
    );
    written.push(path);
  }
  return written;
}

/** Makes the folder where it is not there. Throws CliError where it holds YAML files that nobody said may be overwritten. */
export async function requireNoYaml(folder: string, overwrite: boolean): Promise<void> {
  await mkdir(folder, { recursive: true });
  const [first] = await yamlFiles(folder);
  if (first !== undefined && !overwrite)
    throw new CliError(
      `${first} is there already: choose an empty folder, or --overwrite what has the same names`,
    );
}
