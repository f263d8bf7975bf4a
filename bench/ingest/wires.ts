import { otlpBody } from "../decode/otlp-body.ts";
import { type BenchEntry, nativeBodies } from "./bodies.ts";

/** A way to send the entries of a run. */
interface BenchWire {
  readonly path: string;
  /** Request bodies of `batch` entries each. */
  bodies(entries: readonly BenchEntry[], batch: number): Uint8Array[];
  /** Whether a successful answer says that so many rows are stored. */
  acknowledges(answer: string, rows: number): boolean;
}

export const WIRES: Readonly<Record<string, BenchWire>> = {
  native: {
    path: "/api/v1/logs/ingest",
    bodies: nativeBodies,
    acknowledges: (answer, rows) => JSON.parse(answer).accepted === rows,
  },
  otlp: {
    path: "/api/v1/otlp/v1/logs",
    bodies: (entries, batch) => {
      const encoder = new TextEncoder();
      return Array.from({ length: Math.ceil(entries.length / batch) }, (_, i) =>
        encoder.encode(JSON.stringify(otlpBody(entries.slice(i * batch, (i + 1) * batch)))),
      );
    },
    // Anything else names records that were rejected.
    acknowledges: (answer) => answer === "{}",
  },
  bulk: {
    path: "/elasticsearch/_bulk",
    bodies: (entries, batch) => {
      const encoder = new TextEncoder();
      const lines = entries.map((entry) => `{"create":{"_index":"logs"}}\n${JSON.stringify(entry)}\n`);
      return Array.from({ length: Math.ceil(entries.length / batch) }, (_, i) =>
        encoder.encode(lines.slice(i * batch, (i + 1) * batch).join("")),
      );
    },
    acknowledges: (answer) => JSON.parse(answer).errors === false,
  },
};

/** The wire of that name; throws for a name that is none. */
export function wireOf(name: string): BenchWire {
  const wire = WIRES[name];
  if (wire === undefined) throw new Error(`no format ${name}: one of ${Object.keys(WIRES).join(", ")}`);
  return wire;
}
