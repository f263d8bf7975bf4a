import type { QueryBudget } from "../../../../query/index.ts";
import { ApiError } from "../../../errors.ts";
import type { StatementCost } from "../../../storage/statement-wire.ts";

/** What the statements of one answer may cost together, from now on. */
export class RemainingBudget {
  readonly #budget: QueryBudget;
  readonly #startMs = performance.now();
  rowsRead = 0;
  bytesRead = 0;

  constructor(budget: QueryBudget) {
    this.#budget = budget;
  }

  spend({ rowsRead, bytesRead }: StatementCost): void {
    this.rowsRead += rowsRead;
    this.bytesRead += bytesRead;
  }

  /** For the next statement. Throws QUERY_TIMEOUT or QUERY_TOO_EXPENSIVE when nothing is left. */
  rest(): QueryBudget {
    const { maxExecutionMs, maxReadBytes } = this.#budget;
    const leftMs = Math.floor(maxExecutionMs - (performance.now() - this.#startMs));
    const leftBytes = maxReadBytes - this.bytesRead;
    if (leftMs <= 0)
      throw new ApiError("QUERY_TIMEOUT", "The query took too long; narrow the time range or the filter.");
    if (leftBytes <= 0)
      throw new ApiError(
        "QUERY_TOO_EXPENSIVE",
        "The query reads more of the archive than the limits allow; narrow the time range.",
      );
    return { ...this.#budget, maxExecutionMs: leftMs, maxReadBytes: leftBytes };
  }
}
