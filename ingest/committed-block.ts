import { type ColumnSlices, EntryColumns, type EntryDetails } from "./entry-columns.ts";
import { BlockReader } from "./native/block-reader.ts";

/** What the store adds to what the sender gave. */
interface StoredColumns {
  readonly organizations: DataView;
  readonly ids: DataView;
  readonly receivedAt: DataView;
}

/**
 * The entries of a committed batch, column by column, as they will be in the table `logs`. Reading one costs what the
 * columns up to the message cost; the rest is looked into when an entry is wanted whole.
 */
export class CommittedBlock extends EntryColumns {
  readonly #stored: StoredColumns;

  /** Throws a RangeError or TypeError for bytes that are not a block of log entries. */
  constructor(block: Uint8Array) {
    const { slices, stored } = readColumns(new BlockReader(block));
    super(slices);
    this.#stored = stored;
  }

  organizationId(row: number): number {
    return this.#stored.organizations.getUint32(row * 4, true);
  }

  id(row: number): bigint {
    return this.#stored.ids.getBigUint64(row * 8, true);
  }

  /** Milliseconds since 1970. */
  receivedAt(row: number): bigint {
    return this.#stored.receivedAt.getBigInt64(row * 8, true);
  }
}

/** The id of the last entry of a block, which is its greatest. */
export function lastIdOf(block: Uint8Array): bigint {
  const reader = new BlockReader(block);
  named(reader, "organization_id").fixed(4);
  named(reader, "ts").fixed(8);
  return named(reader, "id")
    .fixed(8)
    .getBigUint64((reader.rows - 1) * 8, true);
}

function readColumns(reader: BlockReader): { slices: ColumnSlices; stored: StoredColumns } {
  const organizations = named(reader, "organization_id").fixed(4);
  const ts = named(reader, "ts").fixed(8);
  const ids = named(reader, "id").fixed(8);
  const receivedAt = named(reader, "received_at").fixed(8);
  const levels = named(reader, "level").fixed(1);
  const service = named(reader, "service").indexedTexts();
  const source = named(reader, "source").indexedTexts();
  const host = named(reader, "host").indexedTexts();
  const message = named(reader, "message").texts();
  const details = (): EntryDetails => readDetails(reader);
  return {
    slices: { rows: reader.rows, ts, levels, service, source, host, message, details },
    stored: { organizations, ids, receivedAt },
  };
}

function readDetails(reader: BlockReader): EntryDetails {
  const traceId = named(reader, "trace_id").texts();
  const spanId = named(reader, "span_id").texts();
  const eventId = named(reader, "event_id").texts();
  named(reader, "attrs").indexedPrefix();
  const attrEnds = reader.elementEnds();
  const attrCount = attrEnds[reader.rows - 1] ?? 0;
  const keys = reader.indexedData(attrCount);
  const values = reader.texts(attrCount);
  named(reader, "attr_json_keys").indexedPrefix();
  const jsonEnds = reader.elementEnds();
  const elements = reader.indexedData(jsonEnds[reader.rows - 1] ?? 0);
  return {
    traceId,
    spanId,
    eventId,
    attrs: { keys, values, ends: attrEnds },
    attrJsonKeys: { elements, ends: jsonEnds },
  };
}

/** The reader, once the next column is the one that the caller knows how to read. */
function named(reader: BlockReader, name: string): BlockReader {
  const found = reader.columnName();
  if (found !== name) throw new TypeError(`the block has the column ${found} where ${name} should be`);
  return reader;
}
