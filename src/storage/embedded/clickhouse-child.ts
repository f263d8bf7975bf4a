/**
 * The embedded ClickHouse: `bun clickhouse-child.ts <libchdb.so> <argument>...`, the arguments being those of
 * `clickhouse local`. The call returns when the query it runs ends, that is, when standard input closes: the
 * engine cannot outlive the process that holds the other end of the pipe.
 */
import { dlopen, FFIType, ptr } from "bun:ffi";
import { unmapLoadedPages } from "./loaded-pages.ts";
import { LOOK_EVERY_MS } from "./resting-pages.ts";

const [libraryPath, ...engineArguments] = process.argv.slice(2);
if (libraryPath === undefined) throw new Error("usage: clickhouse-child.ts <libchdb.so> <argument>...");

const { symbols } = dlopen(libraryPath, {
  chdb_query_cmdline: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.ptr },
});
unmapLoadedPages(libraryPath);
const beside = { argv: [libraryPath, String(LOOK_EVERY_MS)], smol: true };
new Worker(new URL("./pages-worker.ts", import.meta.url), beside).unref();

const texts = ["clickhouse", ...engineArguments].map((argument) => Buffer.from(`${argument}\0`));
// One more entry than arguments: the vector ends with a null pointer.
const vector = new BigUint64Array(texts.length + 1);
texts.forEach((text, index) => {
  vector[index] = BigInt(ptr(text));
});
symbols.chdb_query_cmdline(texts.length, ptr(vector));
process.exit(0);
