import { IngestRejectedError } from "../../errors.ts";
import { JSON_MAX_DEPTH } from "../../limits.ts";
import type { RecordDecoder } from "../../record/record-decoder.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import { isJsonObject, parseJson } from "../json-body.ts";
import { type DocumentPlace, writeIndexed } from "./indexed-document.ts";

/**
 * One document of Elasticsearch's index and create requests, which the body is. One instance serves one request.
 * Source: Elasticsearch reference, "Create or update a document in an index".
 */
export class ElasticsearchDocument implements RecordDecoder {
  readonly format = "elasticsearch-document";
  readonly #place: DocumentPlace;

  constructor(place: DocumentPlace) {
    this.#place = place;
  }

  decode(body: Uint8Array, writer: RecordWriter): void {
    const document = parseJson(body, JSON_MAX_DEPTH);
    if (!isJsonObject(document)) {
      const message = "the document is no JSON object";
      throw new IngestRejectedError(message, [{ path: "", code: "invalid_type", message }]);
    }
    writeIndexed(writer, this.#place, document);
  }
}
