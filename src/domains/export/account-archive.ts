import { makeZip } from "client-zip";
import type { Sql } from "postgres";
import { ApiError } from "../../errors.ts";
import { EXPORTERS } from "./exporters.ts";
import { LEFT_OUT } from "./left-out.ts";
import { EXPORT_MAX_MS, EXPORT_RETRY_AFTER_SECONDS, EXPORT_STALL_MS, EXPORTS_MAX_RUNNING } from "./limits.ts";
import { openSnapshot, type Snapshot } from "./snapshot.ts";

/** Characters of JSON that make one piece of a file. */
const PIECE_CHARS = 64 * 1024;

export interface ArchiveDependencies {
  readonly sql: Sql;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly stallMs?: number;
}

/** An archive that has been begun and waits to be read. */
interface OpenArchive {
  /** Ends with an error when the export fails, so that the file is seen to be incomplete. */
  readonly bytes: ReadableStream<Uint8Array>;
  /** Gives up what has not been read. */
  readonly close: () => Promise<void>;
}

/**
 * Makes archives of everything an organisation has, as one JSON file for each kind of thing, all of one moment. They
 * are made while the client takes them, so memory does not grow with the organisation.
 */
export class AccountArchives {
  readonly #deps: ArchiveDependencies;
  readonly #running = new Set<number>();

  constructor(deps: ArchiveDependencies) {
    this.#deps = deps;
  }

  /** Throws UNAVAILABLE while one of the organisation or as many as may are being taken, and DependencyError. */
  async open(organizationId: number): Promise<OpenArchive> {
    if (this.#running.has(organizationId) || this.#running.size >= EXPORTS_MAX_RUNNING)
      throw new ApiError("UNAVAILABLE", "Too many exports at once.", {
        retryAfterSeconds: EXPORT_RETRY_AFTER_SECONDS,
      });
    this.#running.add(organizationId);
    try {
      const snapshot = await openSnapshot(this.#deps.sql, organizationId);
      return this.#archive(snapshot, organizationId);
    } catch (error) {
      this.#running.delete(organizationId);
      throw error;
    }
  }

  #archive(snapshot: Snapshot, organizationId: number): OpenArchive {
    const { now, stallMs = EXPORT_STALL_MS } = this.#deps;
    const beganMs = now();
    const zip = makeZip(archiveFiles(snapshot, organizationId, beganMs)).getReader();
    let stall: ReturnType<typeof setTimeout> | undefined;
    let isOpen = true;
    const close = async (): Promise<void> => {
      if (!isOpen) return;
      isOpen = false;
      clearTimeout(stall);
      // What fails while nobody reads any more concerns nobody.
      zip.cancel().catch(() => undefined);
      await snapshot.close();
      this.#running.delete(organizationId);
    };
    const awaitReader = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
      const patienceMs = Math.min(stallMs, Math.max(0, beganMs + EXPORT_MAX_MS - now()));
      stall = setTimeout(() => {
        controller.error(new Error("an export was not taken in time"));
        void close();
      }, patienceMs);
    };
    const bytes = new ReadableStream<Uint8Array>(
      {
        start: awaitReader,
        pull: async (controller) => {
          clearTimeout(stall);
          try {
            const { done, value } = await zip.read();
            if (!done) {
              controller.enqueue(value);
              awaitReader(controller);
              return;
            }
          } catch (error) {
            await close();
            throw error;
          }
          await close();
          controller.close();
        },
        cancel: close,
      },
      // Nothing is read ahead of the client.
      { highWaterMark: 0 },
    );
    return { bytes, close };
  }
}

interface ArchiveFile {
  readonly name: string;
  readonly lastModified: Date;
  readonly input: AsyncIterable<string>;
}

/** A file for each exporter and at last one that says what there is and what there is not. */
async function* archiveFiles(
  snapshot: Snapshot,
  organizationId: number,
  beganMs: number,
): AsyncGenerator<ArchiveFile> {
  const lastModified = new Date(beganMs);
  const files: { file: string; rows: number }[] = [];
  for (const { name, rows } of EXPORTERS) {
    const entry = { file: `${name}.json`, rows: 0 };
    files.push(entry);
    const found = snapshot.read((tx) => rows(tx, organizationId));
    const input = jsonArray(found, () => {
      entry.rows += 1;
    });
    yield { name: entry.file, lastModified, input };
  }
  const leftOut = [
    { what: "logs", why: "they are downloaded with /api/v1/logs/export" },
    ...LEFT_OUT.map(({ table, why }) => ({ what: table, why })),
  ];
  const manifest = { organizationId, exportedAt: lastModified.toISOString(), files, leftOut };
  yield { name: "manifest.json", lastModified, input: oneText(`${JSON.stringify(manifest, null, 2)}\n`) };
}

/** The rows as a JSON array, one to a line, in pieces of some size. */
async function* jsonArray(rows: AsyncIterable<object>, onRow: () => void): AsyncGenerator<string> {
  let piece = "[";
  let separator = "\n";
  for await (const row of rows) {
    piece += separator + JSON.stringify(row);
    separator = ",\n";
    onRow();
    if (piece.length < PIECE_CHARS) continue;
    yield piece;
    piece = "";
  }
  yield `${piece}\n]\n`;
}

async function* oneText(text: string): AsyncGenerator<string> {
  yield text;
}
