import { NativeFormat } from "../../ingest/decode/native.ts";
import { EntryRules } from "../../ingest/entry-rules.ts";
import { LogBatch } from "../../ingest/log-batch.ts";
import { RequestCopy, requestColumns } from "../../ingest/request-columns.ts";
import { asReceived, asRuled } from "../../ingest/request-entries.ts";
import { compileRules, readRule } from "../../src/domains/ingest-rules/compile-rule.ts";
import type { RuleTerms } from "../../src/domains/ingest-rules/types.ts";
import { nativeBodies } from "./bodies.ts";

const NOTHING: ReadonlySet<number> = new Set();

/** Rules as the API takes them, to be asked in this process. */
export function entryRules(terms: readonly (Partial<RuleTerms> & Pick<RuleTerms, "action">)[]): EntryRules {
  const read = terms.map((rule) =>
    readRule({ query: null, keepOneIn: null, fields: null, patterns: null, ...rule }),
  );
  return new EntryRules({ ...compileRules(read), random: () => 1 - Number.EPSILON, applied: () => {} });
}

/** Those of some entries that rules find nothing in, as many as are asked for. */
export function withoutFindings<T extends object>(
  entries: readonly T[],
  rules: EntryRules,
  batch: number,
): T[] {
  const format = new NativeFormat();
  return nativeBodies(entries, batch).flatMap((body, i) => {
    const columns = new LogBatch();
    columns.beginRequest(1, 0);
    format.decode(body, columns, NOTHING);
    const judging = rules.judge(requestColumns(columns));
    let step = judging.next();
    while (step.done !== true) step = judging.next();
    const { dropped, replaced, messages, values } = step.value;
    const { ends } = columns.attrs.sinceBookmark();
    const changed = new Set([...dropped, ...replaced.keys(), ...messages.places]);
    for (const element of values.places) changed.add(ends.findIndex((end) => end > element));
    return entries.slice(i * batch, (i + 1) * batch).filter((_, row) => !changed.has(row));
  });
}

/** Microseconds that decoding takes, with rules where there are some. */
export function decodingUs(bodies: readonly Uint8Array[], rows: number, rules: EntryRules | null): number {
  const format = new NativeFormat();
  const copy = new RequestCopy();
  const batch = new LogBatch();
  const startMs = performance.now();
  for (const body of bodies) {
    const request = {
      organizationId: 1,
      format: "native",
      bytes: body.length,
      keys: null,
      decode: (into: LogBatch, skip: ReadonlySet<number>) => format.decode(body, into, skip),
    };
    batch.beginRequest(1, 0);
    (rules === null ? asReceived(request) : asRuled(request, rules, copy)).append(batch, NOTHING);
    batch.keepRequest();
  }
  return ((performance.now() - startMs) * 1000) / rows;
}
