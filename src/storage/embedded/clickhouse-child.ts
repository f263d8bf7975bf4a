/**
 * The embedded ClickHouse: `bun clickhouse-child.ts <libchdb.so> <where tables are> <argument>...`, the arguments being those of
 * `clickhouse local`. The call returns when the query it runs ends, that is, when standard input closes: the
 * engine cannot outlive the process that holds the other end of the pipe.
 */
import { dlopen, FFIType, ptr } from "bun:ffi";
import { unmapLoadedPages } from "./loaded-pages.ts";
import { MergedIndexes, RECENT_MS } from "./merged-indexes.ts";
import { LOOK_EVERY_MS } from "./resting-pages.ts";

const [libraryPath, storePath, ...engineArguments] = process.argv.slice(2);
if (libraryPath === undefined || storePath === undefined)
  throw new Error("usage: clickhouse-child.ts <libchdb.so> <where tables are> <argument>...");

const { symbols } = dlopen(libraryPath, {
  chdb_query_cmdline: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.ptr },
});
unmapLoadedPages(libraryPath);
// What an engine before this one merged: this one removes at once what that was merged of, for it is old by now.
new MergedIndexes(storePath).sync(Date.now() - RECENT_MS);
const beside = { argv: [libraryPath, storePath, String(LOOK_EVERY_MS)], smol: true };
new Worker(new URL("./beside-engine.ts", import.meta.url), beside).unref();

const texts = ["clickhouse", `--path=${storePath}`, ...engineArguments].map((argument) =>
  Buffer.from(`${argument}\0`),
);
// One more entry than arguments: the vector ends with a null pointer.
const vector = new BigUint64Array(texts.length + 1);
texts.forEach((text, index) => {
  vector[index] = BigInt(ptr(text));
});
symbols.chdb_query_cmdline(texts.length, ptr(vector));
process.exit(0);
