import { FAILING_RECORDS_MIN, FAILING_REQUESTS_MIN, STREAKS_MAX } from "./limits.ts";

/** What came of one request to a source. */
interface MappedRequest {
  readonly accepted: number;
  /** Records that could not be mapped. */
  readonly failed: number;
  readonly reason: string | undefined;
}

interface Streak {
  records: number;
  requests: number;
}

/** Counts, for each version of a source, the records in a row that could not be mapped. Forgets the oldest of too many. */
export class FailureStreaks {
  readonly #streaks = new Map<string, Streak>();

  /** Counts a request; why the source keeps failing, when it does; null when it does not, or not yet. */
  record(sourceVersion: string, { accepted, failed, reason }: MappedRequest): string | null {
    if (accepted > 0) {
      this.#streaks.delete(sourceVersion);
      return null;
    }
    if (failed === 0) return null;
    const streak = this.#streaks.get(sourceVersion) ?? { records: 0, requests: 0 };
    streak.records += failed;
    streak.requests += 1;
    this.#streaks.delete(sourceVersion);
    this.#streaks.set(sourceVersion, streak);
    for (const oldest of this.#streaks.keys()) {
      if (this.#streaks.size <= STREAKS_MAX) break;
      this.#streaks.delete(oldest);
    }
    if (streak.records < FAILING_RECORDS_MIN || streak.requests < FAILING_REQUESTS_MIN) return null;
    return `The last ${streak.records} records could not be mapped: ${reason ?? "no reason was given"}.`;
  }
}
