import type { LogFilter, MessageKind, QueryBudget, Relation } from "../../../../query/index.ts";
import type { RangeReading } from "../../../archive/reading/range-reading.ts";
import { ApiError } from "../../../errors.ts";
import type { QueryAnswer } from "../../../storage/query-runner.ts";
import { FORMS_MAX_COUNT, KINDS_MAX_COUNT, NEW_FORMS_MAX_COUNT } from "./limits.ts";
import { formCountPlan, type Grouping, groupsPlan, kindCountPlan, MESSAGE_KINDS } from "./plans.ts";
import type { PatternWindow } from "./window.ts";

/** Values with the number of their entries. */
export type Counts = readonly (readonly [value: string, count: number])[];

/** Messages of one form, or of one kind, in the window or in the time before it. */
export interface MessageGroup {
  /** The same number for the same messages of both times. */
  readonly id: string;
  readonly isCurrent: boolean;
  readonly count: number;
  /** Nanoseconds since 1970 as decimal text. */
  readonly firstSeen: string;
  readonly lastSeen: string;
  /** Some of the messages, the first and the last by the order of texts among them; long ones are cut. */
  readonly texts: readonly string[];
  readonly levels: Counts;
  readonly services: Counts;
  /** Entries by the number of the bucket. */
  readonly trend: Counts;
}

export interface MessageGroups {
  readonly groups: readonly MessageGroup[];
  /** Whether every group is of one form, not only of one kind. */
  readonly areForms: boolean;
  readonly rowsRead: number;
  readonly bytesRead: number;
}

interface PatternReaderOptions {
  readonly logs: RangeReading;
  readonly budget: QueryBudget;
}

interface PatternQuery {
  readonly filter: LogFilter;
  readonly window: PatternWindow;
}

/** Rows of an answer: each group has one in each of the two times. */
const ROWS_MAX_COUNT = 2 * (FORMS_MAX_COUNT + NEW_FORMS_MAX_COUNT);

/** Counts stored messages by what they look like. Every function throws what `RangeReading.run` throws. */
export class PatternReader {
  readonly #options: PatternReaderOptions;

  constructor(options: PatternReaderOptions) {
    this.#options = options;
  }

  /**
   * Every entry of the window and of the time before it in one group: by form, if there are not too many of them;
   * otherwise, beside the frequent forms, by the finest kind of which there are few enough.
   */
  async readGroups(query: PatternQuery): Promise<MessageGroups> {
    const answers: QueryAnswer[] = [];
    const ask = async (operation: string, plan: Relation, maxRows: number): Promise<QueryAnswer> => {
      const answer = await this.#run(query, operation, plan, maxRows);
      answers.push(answer);
      return answer;
    };
    const result = (areForms: boolean, { rows }: QueryAnswer): MessageGroups => ({
      groups: rows.map(readGroup),
      areForms,
      rowsRead: answers.reduce((sum, { rowsRead }) => sum + rowsRead, 0),
      bytesRead: answers.reduce((sum, { bytesRead }) => sum + bytesRead, 0),
    });

    const forms = await ask("pattern_forms", formCountPlan(query.filter), 1);
    if (Number(forms.rows[0]?.[0]) <= FORMS_MAX_COUNT) {
      const answer = await ask(
        "patterns",
        groupsPlan(query.filter, query.window, { by: "form" }),
        ROWS_MAX_COUNT,
      );
      if (answer.rows.length < ROWS_MAX_COUNT) return result(true, answer);
    }
    const kinds = await ask("pattern_kinds", kindCountPlan(query.filter), 1);
    const [finest, ...coarser] = feasibleKinds(kinds);
    const groupings: Grouping[] = [
      { by: "frequentFormOrKind", kind: finest ?? null },
      ...[finest ?? null, ...coarser].map((kind): Grouping => ({ by: "kind", kind })),
    ];
    for (const grouping of groupings) {
      const answer = await ask(
        "patterns",
        groupsPlan(query.filter, query.window, grouping),
        ROWS_MAX_COUNT,
      ).catch((error: unknown) =>
        isTooExpensive(error) && grouping.by !== "kind" ? null : Promise.reject(error),
      );
      if (answer !== null && answer.rows.length < ROWS_MAX_COUNT) return result(false, answer);
    }
    throw new ApiError(
      "QUERY_TOO_EXPENSIVE",
      "The entries change too fast to be counted; narrow the time range.",
    );
  }

  #run({ window }: PatternQuery, operation: string, plan: Relation, maxRows: number) {
    const { logs, budget } = this.#options;
    const timeRange = { from: window.previousFrom, to: window.to };
    return logs.run({ operation, plan, timeRange, maxRows, budget });
  }
}

/** The kinds of which there are few enough, the finest first, and at the end the one of everything. */
function feasibleKinds({ rows }: QueryAnswer): (MessageKind | null)[] {
  const counts = rows[0] ?? [];
  return [...MESSAGE_KINDS.filter((_, i) => Number(counts[i]) <= KINDS_MAX_COUNT), null];
}

function isTooExpensive(error: unknown): boolean {
  return error instanceof ApiError && error.code === "QUERY_TOO_EXPENSIVE";
}

/** A row of `groupsPlan`. */
function readGroup([id, isCurrent, count, firstSeen, lastSeen, ...rest]: readonly unknown[]): MessageGroup {
  const [least, greatest, arbitrary, levels, services, trend] = rest.map(String);
  return {
    id: String(id),
    isCurrent: isCurrent === true || isCurrent === 1,
    count: Number(count),
    firstSeen: String(firstSeen),
    lastSeen: String(lastSeen),
    texts: [least ?? "", greatest ?? "", arbitrary ?? ""],
    levels: readCounts(levels),
    services: readCounts(services),
    trend: readCounts(trend),
  };
}

/** `[["info", 2], ["error", 1]]`. */
function readCounts(json = "[]"): Counts {
  const pairs: unknown = JSON.parse(json);
  if (!Array.isArray(pairs)) throw new TypeError("the log store answered in another format");
  return pairs.map(([value, count]: [unknown, unknown]): [string, number] => [String(value), Number(count)]);
}
