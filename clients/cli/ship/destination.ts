import type { ApiClient } from "../../api/client.ts";
import { isRecord } from "../../api/json.ts";
import { escapeControls } from "../terminal/escape-controls.ts";

/** A request with the entries of a batch. */
interface IngestRequest {
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** What the server says became of the entries of a request. */
export interface Receipt {
  /** Entries that are durable now. */
  readonly stored: number;
  /** Records that a source could not map and that wait in the quarantine. */
  readonly quarantined: number;
  /** Records that are nowhere. */
  readonly rejected: number;
  /** Why the first of those was not mapped; null where there is none. */
  readonly problem: string | null;
}

/** Where batches are sent. */
export interface Destination {
  readonly contentType: string;
  /** The body of a request with these entries. */
  bodyOf(entries: readonly string[]): string;
  /** Resolves with what became of them, and the answer's headers. Throws what the client throws. */
  send(api: ApiClient, request: IngestRequest): Promise<{ receipt: Receipt; headers: Headers }>;
}

/** The native ingest, for entries as JSON. */
export const NATIVE_INGEST: Destination = {
  contentType: "application/json",
  bodyOf: (entries) => `[${entries.join(",")}]`,
  send: async (api, request) => {
    const { body, headers } = await api.send("POST /api/v1/logs/ingest", { ...request, expect: 202 });
    return { receipt: receiptOf(body), headers };
  },
};

/** A configured source, for lines as they are: whatever its format, one record a line is taken. */
export function sourceIngest(sourceKey: string): Destination {
  return {
    contentType: "application/x-ndjson",
    bodyOf: (entries) => entries.join("\n"),
    send: async (api, request) => {
      const input = { ...request, params: { sourceKey }, expect: 202 } as const;
      const { body, headers } = await api.send("POST /api/v1/ingest/:sourceKey", input);
      return { receipt: receiptOf(body), headers };
    },
  };
}

function receiptOf(answer: unknown): Receipt {
  const body = isRecord(answer) ? answer : {};
  const number = (name: string): number => (typeof body[name] === "number" ? body[name] : 0);
  const [first]: unknown[] = Array.isArray(body.errors) ? body.errors : [];
  const problem = isRecord(first) && typeof first.reason === "string" ? first.reason : null;
  return {
    stored: number("accepted"),
    quarantined: number("quarantined"),
    rejected: number("rejected"),
    problem: problem === null ? null : escapeControls(problem),
  };
}
