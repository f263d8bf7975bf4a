import { setImmediate as nextTurn } from "node:timers/promises";
import { appendBlock, appendEntries } from "./append-block.ts";
import { type EntryRules, type JudgedEntries, judgeEntries } from "./entry-rules.ts";
import type { IngestRequest } from "./ingest-request.ts";
import type { LogBatch } from "./log-batch.ts";
import { takeBlock } from "./take-block.ts";

/** The rules of an organisation; null where entries are stored as they come. Rejects when nobody can tell: nothing is stored then. */
export type RulesOf = (organizationId: number) => EntryRules | null | Promise<EntryRules | null>;

/** The entries of a request: what appends them, and what rules did to them before. */
export interface RequestEntries {
  readonly append: IngestRequest["decode"];
  /** Entries that the request has and that are not appended. */
  readonly dropped: number;
  /** To be called when they are durable. */
  readonly applied: () => void;
}

const NOTHING: ReadonlySet<number> = new Set();

/** `block`: the entries, where they have been decoded already. */
export function asReceived({ decode }: IngestRequest, block: Uint8Array | null): RequestEntries {
  return {
    append: block === null ? decode : (batch, skip) => appendBlock(batch, block, skip),
    dropped: 0,
    applied: () => {},
  };
}

/** As rules leave them, many of them in several turns of the event loop. `scratch` is an empty batch, and is empty afterwards. */
export async function asRuled(
  request: IngestRequest,
  block: Uint8Array | null,
  rules: EntryRules,
  { scratch, receivedAtMs }: { scratch: LogBatch; receivedAtMs: number },
): Promise<RequestEntries> {
  const judging = judgeEntries(block ?? decodedBlock(request, scratch, receivedAtMs), rules);
  let step = judging.next();
  for (; step.done !== true; step = judging.next()) if (block !== null) await nextTurn();
  const judged = step.value;
  return {
    append: (batch, skip) => {
      const { entries, replaced } = judged;
      if (entries !== null) appendEntries(batch, entries, withoutDropped(judged, skip), replaced);
    },
    dropped: judged.dropped.size,
    applied: () => {
      if (judged.outcomes.length > 0) rules.applied(judged.outcomes);
    },
  };
}

/** The positions of what is not appended; those in `skip` are counted among what is not dropped. */
function withoutDropped({ entries, dropped }: JudgedEntries, skip: ReadonlySet<number>): ReadonlySet<number> {
  if (entries === null || skip.size === 0) return dropped;
  const passed = new Set(dropped);
  let position = 0;
  for (let row = 0; row < entries.rows; row++) if (!dropped.has(row) && skip.has(position++)) passed.add(row);
  return passed;
}

/** The entries of a request by themselves. */
function decodedBlock(
  { organizationId, decode }: IngestRequest,
  batch: LogBatch,
  receivedAtMs: number,
): Uint8Array {
  batch.beginRequest(organizationId, receivedAtMs);
  try {
    decode(batch, NOTHING);
  } catch (error) {
    batch.clear();
    throw error;
  }
  return takeBlock(batch);
}
