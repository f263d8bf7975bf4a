/**
 * The program of a thread beside the engine, whose own thread is within it for as long as it runs:
 * `pages-worker.ts <library> <milliseconds between two looks>`.
 */
import { unmapLoadedPages } from "./loaded-pages.ts";
import { RestingPages } from "./resting-pages.ts";

const [libraryPath, everyMs] = process.argv.slice(2);
if (libraryPath === undefined || everyMs === undefined)
  throw new Error("usage: pages-worker.ts <library> <milliseconds>");

const pages = new RestingPages({
  monotonicMs: () => performance.now(),
  cpuMs: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  unmap: () => unmapLoadedPages(libraryPath),
});
setInterval(() => pages.look(), Number(everyMs));
