import { Findings } from "./findings.ts";
import { formatReport } from "./format-report.ts";
import type { SentTotals } from "./sender.ts";
import type { ShipResult } from "./ship.ts";
import { addTally, emptyTally } from "./tally.ts";

/** What a run has shipped, of all its files together. */
export class RunTotals {
  readonly #sent: Readonly<SentTotals>;
  readonly #zone: string;
  readonly #sourceKey: string | null;
  readonly #startedAt = performance.now();
  readonly #tally = emptyTally();
  readonly #findings = new Findings();
  #files = 0;
  #bytes = 0;
  #resumedAt = 0;

  constructor(sent: Readonly<SentTotals>, zone: string, sourceKey: string | null) {
    this.#sent = sent;
    this.#zone = zone;
    this.#sourceKey = sourceKey;
  }

  get lines(): number {
    return this.#tally.lines;
  }

  add({ tally, findings, bytes, resumedAt }: ShipResult): void {
    this.#files++;
    this.#bytes += bytes;
    this.#resumedAt += resumedAt;
    addTally(this.#tally, tally);
    this.#findings.merge(findings);
  }

  /** In lines for a person, who runs this command as `command`. */
  asLines(command: string): string[] {
    return formatReport(
      {
        files: this.#files,
        bytes: this.#bytes,
        seconds: this.#seconds,
        resumedAt: this.#resumedAt,
        tally: this.#tally,
        findings: this.#findings,
        totals: this.#sent,
        zone: this.#zone,
        sourceKey: this.#sourceKey,
      },
      command,
    );
  }

  asJson(): Readonly<Record<string, unknown>> {
    const { levels, services, span, timesWithoutZone } = this.#findings;
    const { retries, stored, quarantined, rejected } = this.#sent;
    return {
      files: this.#files,
      ...this.#tally,
      resumedAt: this.#resumedAt,
      bytes: this.#bytes,
      seconds: Math.round(this.#seconds * 1000) / 1000,
      retries,
      stored,
      quarantined,
      rejected,
      levels: Object.fromEntries(levels),
      services: Object.fromEntries(services),
      timesWithoutZone,
      zone: timesWithoutZone > 0 ? this.#zone : null,
      from: span === null ? null : new Date(span.fromMs).toISOString(),
      to: span === null ? null : new Date(span.toMs).toISOString(),
    };
  }

  get #seconds(): number {
    return (performance.now() - this.#startedAt) / 1000;
  }
}
