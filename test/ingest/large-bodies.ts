import type { DecoderSpec } from "../../ingest/apart/decoder-spec.ts";
import { CommittedBlock } from "../../ingest/committed-block.ts";
import { NativeFormat } from "../../ingest/decode/native.ts";
import { requestKeys } from "../../ingest/dedupe/request-keys.ts";
import { type Ingest, type IngestOptions, openIngest } from "../../ingest/ingest.ts";
import type { IngestRequest } from "../../ingest/ingest-request.ts";
import type { EntryIds, LogStore } from "../../ingest/log-store.ts";
import { SILENT_OBSERVER } from "./silent-observer.ts";

const encoder = new TextEncoder();
const format = new NativeFormat();
const SPEC: DecoderSpec = { kind: "native" };
/** Makes some two hundred entries a slice. */
const TEXT = "x".repeat(20_000);

export interface LargeEntry {
  readonly message: string;
  readonly event_id?: string;
}

/** A request of the native format whose entries take several slices when there are some hundred of them. */
export function largeRequest(entries: readonly LargeEntry[], name: string | null = null): IngestRequest {
  const body = encoder.encode(JSON.stringify(entries.map((entry) => ({ ...entry, attrs: { text: TEXT } }))));
  return {
    organizationId: 1,
    format: "native",
    bytes: body.length,
    keys: name === null ? null : requestKeys(1, "token:1", name, body),
    decode: () => {
      throw new Error("a large body is decoded in place");
    },
    apart: { spec: SPEC, body },
  };
}

export function smallRequest(entries: readonly LargeEntry[]): IngestRequest {
  const body = encoder.encode(JSON.stringify(entries));
  const decode: IngestRequest["decode"] = (batch, skip) => format.decode(body, batch, skip);
  return { organizationId: 1, format: "native", bytes: body.length, keys: null, decode };
}

/** Remembers the messages that were inserted, and their ids; what is tested with it is what leaves the log. */
export class MemoryStore implements LogStore {
  readonly messages: string[] = [];
  readonly #ids = new Map<number, Set<bigint>>();

  insert(blocks: readonly Uint8Array[]): Promise<void> {
    for (const block of blocks) {
      const entries = new CommittedBlock(block);
      for (let row = 0; row < entries.rows; row++) {
        const organizationId = entries.organizationId(row);
        this.messages.push(entries.messageText(row));
        this.#ids.set(organizationId, (this.#ids.get(organizationId) ?? new Set()).add(entries.id(row)));
      }
    }
    return Promise.resolve();
  }

  find(): Promise<EntryIds> {
    return Promise.resolve(this.#ids);
  }
}

export function openLarge(directory: string, options: Partial<IngestOptions> = {}): Promise<Ingest> {
  return openIngest({
    directory,
    store: new MemoryStore(),
    observer: SILENT_OBSERVER,
    instance: 1,
    walMaxBytes: 512 * 1024 * 1024,
    maxInFlightBytes: 256 * 1024 * 1024,
    dedupeWindowMs: 600_000,
    dedupeMaxKeys: 1_000_000,
    now: Date.now,
    onFatal: (error) => {
      throw error;
    },
    ...options,
  });
}
