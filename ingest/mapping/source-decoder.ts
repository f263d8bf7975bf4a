import type { RecordDecoder } from "../record/record-decoder.ts";
import { CefSourceDecoder } from "./cef-source.ts";
import { JsonRecordDecoder, JsonSourceDecoder } from "./json-source.ts";
import type { SourceDecoder } from "./learned-texts.ts";
import type { Mapping, SourceFormat } from "./mapping.ts";
import { TextSourceDecoder } from "./text-source.ts";

/** What a configured source does with a body. */
interface SourceShape {
  readonly format: SourceFormat;
  readonly mapping: Mapping;
  /** Records are stored as they are: their text is the message, and nothing is given up. */
  readonly learning: boolean;
  /** The time of receipt, for times without a year. Milliseconds since 1970. */
  readonly now: () => number;
}

/** Decodes the bodies that a source takes; its mapping is compiled once, here. */
export function sourceDecoder(shape: SourceShape): SourceDecoder {
  const { format, mapping, learning } = shape;
  if (format === "cef") return new CefSourceDecoder(shape);
  if (format === "text") return new TextSourceDecoder(shape);
  return new JsonSourceDecoder({ format, mapping, learning });
}

/** Decodes one record of a source by itself, as the quarantine and the samples of a learning source keep it. */
export function sourceRecordDecoder({ format, mapping, now }: Omit<SourceShape, "learning">): RecordDecoder {
  if (format === "cef") return new CefSourceDecoder({ mapping, learning: false, now });
  if (format === "text") return new TextSourceDecoder({ mapping, learning: false, now });
  return new JsonRecordDecoder({ format, mapping });
}
