import type { QueryCaller } from "../../storage/query-runner.ts";
import type { Coverage } from "./coverage.ts";
import { READ_MAX_ATTEMPTS } from "./limits.ts";
import { RangeReading, type RangeReadingOptions } from "./range-reading.ts";

/**
 * The entries of organisations as one range of time, wherever they lie.
 *
 * An entry is in the log store, then in both places, then in the archive alone; the ledger names its file before the log
 * store begins to let go of it. So an entry is counted in its file from when the ledger names it, and passed over in
 * the log store. What was read by a list of files that the ledger had beforehand may lack entries whose file came to the
 * list later and that were gone by then: the ledger is asked once more afterwards, and where it names other files, all
 * is read again.
 */
export class LogRanges {
  readonly #options: RangeReadingOptions;

  constructor(options: RangeReadingOptions) {
    this.#options = options;
  }

  /**
   * What `work` makes of the entries, and of what of them. It may be called several times; only what it made last
   * counts. Throws what it throws.
   */
  async read<T>(
    caller: QueryCaller,
    work: (logs: RangeReading) => Promise<T>,
  ): Promise<{ readonly value: T; readonly coverage: Coverage }> {
    for (let attempt = 1; ; attempt++) {
      const reading = new RangeReading(this.#options, caller);
      const value = await work(reading);
      const isCurrent = await reading.isCurrent();
      if (!isCurrent && attempt === READ_MAX_ATTEMPTS) reading.coverage.setMoving();
      if (isCurrent || attempt === READ_MAX_ATTEMPTS) return { value, coverage: reading.coverage.finish() };
      reading.discard();
    }
  }
}
