import { expect, test } from "bun:test";
import { NativeFormat } from "../../../ingest/decode/native.ts";
import { LogBatch } from "../../../ingest/log-batch.ts";
import { type NativeEntry, nativeEntryOf, type RecogniserState } from "../../../ingest/recognise/index.ts";
import { ACCESS_LINES } from "./corpus/access-lines.ts";
import { DATA_LINES } from "./corpus/data-lines.ts";
import { PRODUCT_LINES } from "./corpus/product-lines.ts";
import { SYSLOG_LINES } from "./corpus/syslog-lines.ts";
import { TEXT_LINES } from "./corpus/text-lines.ts";
import { entriesOf } from "./entries.ts";

function nativeOf(line: string, state?: RecogniserState): NativeEntry {
  const [entry] = entriesOf(line, [], state === undefined ? {} : { state });
  if (entry === undefined) throw new Error("the line is no entry");
  return nativeEntryOf(entry);
}

test("what is recognised is an entry that the native format takes", () => {
  const lines = [...TEXT_LINES, ...SYSLOG_LINES, ...PRODUCT_LINES, ...ACCESS_LINES, ...DATA_LINES].map(
    ([line]) => line,
  );
  for (const line of lines) {
    const entry = nativeOf(line);
    // A head whose message is in the next line has none by itself.
    if (entry.message === "") continue;
    const batch = new LogBatch();
    batch.beginRequest(1, 0);
    new NativeFormat().decode(Buffer.from(JSON.stringify(entry)), batch, new Set());
    expect(batch.requestRows).toBe(1);
  }
});

test("it has as many digits of the time as the line, and the ids of traces as attributes", () => {
  expect(nativeOf("2026-01-02T03:04:05.123456Z [WARN] a").ts).toBe("2026-01-02T03:04:05.123456Z");
  expect(nativeOf("2026-01-02T03:04:05Z [WARN] a").ts).toBe("2026-01-02T03:04:05.000Z");
  const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  expect(nativeOf(`{"msg":"a","trace_id":"${trace}"}`)).toEqual({ message: "a", attrs: { trace_id: trace } });
});

test("columns that another recogniser read are known", () => {
  const state = { columns: ["date", "time", "cs-method", "cs-uri-stem"], headsInARow: 0 };
  expect(nativeOf("2026-01-02 03:04:05 GET /cart", state).message).toBe("GET /cart");
});
