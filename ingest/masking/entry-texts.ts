import { type EntryColumns, indexedText } from "../entry-columns.ts";

/** One attribute of an entry: a string as it is, anything else its JSON text. */
export interface EntryAttribute {
  readonly key: string;
  readonly text: string;
  readonly isJson: boolean;
}

/** All texts of an entry, by the names that the API has for them; empty for what it does not have. */
export interface EntryTexts {
  readonly message: string;
  readonly service: string;
  readonly source: string;
  readonly host: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly event_id: string;
  readonly attributes: readonly EntryAttribute[];
}

export function entryTexts(block: EntryColumns, row: number): EntryTexts {
  const [keys, texts, jsonKeys] = block.attributes(row);
  return {
    message: block.messageText(row),
    service: indexedText(block.service, row),
    source: indexedText(block.source, row),
    host: indexedText(block.host, row),
    traceId: block.traceId(row),
    spanId: block.spanId(row),
    event_id: block.eventId(row),
    attributes: keys.map((key, i) => ({ key, text: texts[i] ?? "", isJson: jsonKeys.includes(key) })),
  };
}
