import type { RecordDecoder } from "../../../../ingest/index.ts";

/** How records of the quarantine are read now. */
export interface ReplayDecoders {
  /** The decoder of one record by itself; null when nothing here reads such records. */
  decoderOf(
    organizationId: number,
    record: { readonly format: string; readonly sourceKey: string | null },
  ): Promise<RecordDecoder | null>;
}

/** The configured sources, with their present mappings. */
export interface SourceDecoders {
  /** The decoder of one record of a source; null when there is no such source. */
  recordDecoderOf(organizationId: number, sourceKey: string): Promise<RecordDecoder | null>;
}

/** A record of a source is read by the source's present mapping, any other one by the decoder of its format. */
export function replayDecoders(
  sources: SourceDecoders,
  formats: ReadonlyMap<string, RecordDecoder>,
): ReplayDecoders {
  return {
    decoderOf: async (organizationId, { format, sourceKey }) =>
      sourceKey === null ? (formats.get(format) ?? null) : sources.recordDecoderOf(organizationId, sourceKey),
  };
}
