import { join } from "node:path";
import { removeIfPresent, type WalIo, writeFully } from "./io.ts";

/** Ends the names of files that are not complete yet; opening the log removes those left behind. */
export const TEMPORARY_SUFFIX = ".tmp";

/** Creates or replaces a file: after a crash it has all of the new contents or none of them. */
export async function writeFileAtomically(
  io: WalIo,
  directory: string,
  name: string,
  bytes: Uint8Array,
): Promise<void> {
  const path = join(directory, name);
  const temporary = `${path}${TEMPORARY_SUFFIX}`;
  await removeIfPresent(io, temporary);
  const file = await io.open(temporary, "create");
  try {
    await writeFully(file, bytes, 0);
    await file.sync();
  } finally {
    await file.close();
  }
  await io.rename(temporary, path);
  await io.syncDirectory(directory);
}
