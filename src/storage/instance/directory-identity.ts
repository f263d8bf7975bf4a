import { statSync } from "node:fs";

/**
 * Tells a data directory from every other one, also from its copy: the file system's number of the folder and when the
 * folder was made. Both stay through a new name, a mount elsewhere and a restart of the machine. Null where the file
 * system does not say when.
 */
export function directoryIdentity(directory: string): string | null {
  const { ino, birthtimeNs } = statSync(directory, { bigint: true });
  return birthtimeNs === 0n ? null : `${ino}-${birthtimeNs}`;
}
