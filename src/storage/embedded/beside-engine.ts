/**
 * The program of a thread beside the engine, whose own thread is within it for as long as it runs:
 * `beside-engine.ts <library> <where the engine keeps its tables> <milliseconds between two looks whether it rests>`.
 */
import { unmapLoadedPages } from "./loaded-pages.ts";
import { MergedIndexes, SYNC_EVERY_MS } from "./merged-indexes.ts";
import { RestingPages } from "./resting-pages.ts";

const [libraryPath, storePath, lookEveryMs] = process.argv.slice(2);
if (libraryPath === undefined || storePath === undefined || lookEveryMs === undefined)
  throw new Error("usage: beside-engine.ts <library> <where tables are> <milliseconds>");

const pages = new RestingPages({
  monotonicMs: () => performance.now(),
  cpuMs: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  unmap: () => unmapLoadedPages(libraryPath),
});
setInterval(() => pages.look(), Number(lookEveryMs));

const indexes = new MergedIndexes(storePath);
setInterval(() => {
  try {
    indexes.sync();
  } catch (error) {
    // Into the engine's log; it is tried again.
    process.stderr.write(`indexes of merged parts could not be synced: ${String(error)}\n`);
  }
}, SYNC_EVERY_MS);
