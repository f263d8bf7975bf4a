import { messageWords } from "../message-words.ts";
import { MESSAGE_COLUMN } from "../schema.ts";
import type { SelectContext } from "./expression-writer.ts";
import type { Source } from "./select-block.ts";

/**
 * The words that conditions on the rows of a source may be written with: of messages in the table, whose words have an index. What comes
 * from elsewhere, or from a SELECT, has none: its words would be computed. `onRead` is told that they are looked for.
 */
export function indexedWords(source: Source, onRead: () => void): SelectContext["words"] {
  if (source.kind !== "table" || source.scan.kind !== "guardedScan") return undefined;
  const { hasWordIndex, files, archived } = source.scan.scope;
  if (hasWordIndex !== true || files !== undefined || archived !== undefined) return undefined;
  return (column) => {
    if (column !== MESSAGE_COLUMN) return undefined;
    onRead();
    return messageWords(column);
  };
}
