import { CommittedBlock } from "../committed-block.ts";
import { tryParseJson } from "../decode/json-body.ts";
import { ATTRIBUTE_MAX_DEPTH } from "../limits.ts";
import type { LogBatch } from "../log-batch.ts";
import { takeBlock } from "../take-block.ts";

/** The entries of a batch that is not stored, in the form in which they would be. Its request must be open. */
export function blockOf(batch: LogBatch): CommittedBlock {
  return new CommittedBlock(takeBlock(batch));
}

/** The attributes of an entry as values; those of any name are its own members. */
export function attributesOf(block: CommittedBlock, row: number): Record<string, unknown> {
  const [keys, texts, jsonKeys] = block.attributes(row);
  const isJson = new Set(jsonKeys);
  return Object.fromEntries(
    keys.map((key, i): [string, unknown] => [key, isJson.has(key) ? parsedValue(texts[i] ?? "") : texts[i]]),
  );
}

/** The empty text stands for null. */
function parsedValue(text: string): unknown {
  const parsed = tryParseJson(text, ATTRIBUTE_MAX_DEPTH);
  return parsed.ok ? parsed.value : null;
}
