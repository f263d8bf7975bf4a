import { writeJsonRecord } from "../../record/json-record.ts";
import type { RecordField } from "../../record/json-record-keys.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import type { JsonObject } from "../json-body.ts";

/** Where a sender puts a document. */
export interface DocumentPlace {
  readonly index: string;
  /** The id that the sender gave. */
  readonly id: string | null;
  /** There must be one such document, so its id deduplicates; another one may replace an earlier document. */
  readonly isCreated: boolean;
}

/** The name of the index is the source of the entry. */
const SOURCE_GIVEN: ReadonlySet<RecordField> = new Set(["source"]);

/** A data stream's name, of type, dataset and namespace, of which only the namespace may have dashes. */
const DATA_STREAM = /^(?:logs|metrics|traces)-([^-]+)-.+$/;
/** The dataset of senders that have not been given one. */
const GENERIC_DATASET = "generic";

/**
 * Makes an entry of a document by the well-known keys of JSON logs. Of one that names no service the dataset of the data
 * stream is the service.
 */
export function writeIndexed(writer: RecordWriter, place: DocumentPlace, document: JsonObject): void {
  beginIndexed(writer, place);
  const written = writeJsonRecord(writer, document, SOURCE_GIVEN);
  if (!written.has("service")) writer.service(datasetOf(place.index));
  writer.end();
}

/** Begins the entry of a document with what its place says: the source and the id. */
export function beginIndexed(writer: RecordWriter, { index, id, isCreated }: DocumentPlace): void {
  writer.begin();
  writer.source(index);
  if (id !== null && isCreated) writer.eventId(`${index}/${id}`);
  else if (id !== null) writer.attribute("_id", id);
}

/** The dataset that an index is named for, empty for none; dates are no namespace. */
export function datasetOf(index: string): string {
  const [, dataset = ""] = DATA_STREAM.exec(index) ?? [];
  return dataset === GENERIC_DATASET || !/\p{L}/u.test(dataset) ? "" : dataset;
}
