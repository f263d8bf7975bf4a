import { join } from "node:path";
import { type LineTemplate, readLineTemplates, synthesizeLineTemplates } from "../storage/lines.ts";
import { digitsOf, type Random, seededRandom } from "../storage/random.ts";

const SEED = 20_260_201;
const LOGHUB = join(import.meta.dir, "../../../shared/data/loghub");
export const SPAN_MS = 20 * 3_600_000;
const TRACE_ID_CHARS = 32;

/** A word that one entry has. */
export const NEEDLE = "kqvzxneedlewjyq";
/** The trace id of one entry. */
export const KNOWN_TRACE_ID = "feedc0dedeadbeef0123456789abcdef";

/**
 * Request bodies of a run: JSON lines of some 315 bytes with ten fields, made from lines of real logs where those are
 * present, the times spread over the 20 hours before `endMs`. The same for every store.
 */
export class PeerEntries {
  readonly #random: Random = seededRandom(SEED);
  readonly #templates: readonly LineTemplate[];
  readonly #total: number;
  readonly #endMs: number;
  #row = 0;

  constructor(total: number, endMs: number) {
    const real = readLineTemplates(LOGHUB);
    this.#templates = real.length > 0 ? real : synthesizeLineTemplates(this.#random, 4000);
    this.#total = total;
    this.#endMs = endMs;
  }

  /** The next `count` entries, `batch` in a body. */
  take(count: number, batch: number): Uint8Array<ArrayBuffer>[] {
    const encoder = new TextEncoder();
    const bodies: Uint8Array<ArrayBuffer>[] = [];
    for (let left = count; left > 0; left -= batch) {
      const lines = Array.from({ length: Math.min(batch, left) }, () => this.#next());
      bodies.push(encoder.encode(`${lines.join("\n")}\n`));
    }
    return bodies;
  }

  #next(): string {
    const row = this.#row++;
    const random = this.#random;
    const template = this.#templates[random.below(this.#templates.length)];
    if (template === undefined) throw new Error("no line templates");
    const message = template.pieces
      .map((piece) =>
        piece.kind === "text"
          ? piece.text
          : digitsOf(random.below(1_000_000_000), piece.length, piece.kind === "hex"),
      )
      .join("");
    const traceId = digitsOf(random.below(1_000_000_000), TRACE_ID_CHARS, true);
    const isKnown = row === Math.floor(this.#total / 3);
    return JSON.stringify({
      ts: new Date(this.#endMs - SPAN_MS + Math.floor((row / this.#total) * SPAN_MS)).toISOString(),
      level: template.level,
      service: `${template.system}-${["api", "worker", "gateway"][random.below(3)]}`,
      message: isKnown ? `${message} ${NEEDLE}` : message,
      attrs: {
        trace_id: isKnown ? KNOWN_TRACE_ID : traceId,
        host: `${template.system}-${random.below(12)}.prod`,
        component: template.component,
        user_id: `u${random.below(100_000)}`,
        status: random.below(20) === 0 ? 500 : 200,
        duration_ms: Math.round(random.unit() * 50_000) / 100,
      },
    });
  }
}
