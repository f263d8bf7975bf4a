import {
  aggregateCall,
  anyOf,
  call,
  columnOf,
  type Expression,
  literal,
  type Relation,
} from "../../../query/index.ts";
import { NAMES, tokensOf } from "../../entities/agent-attributes.ts";
import type { Price, Prices } from "./types.ts";

/** What calls came to. */
export interface Usage {
  calls: number;
  errors: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number | null;
  unpriced: boolean;
}

const PER_MILLION = 1_000_000;

/**
 * The tokens of an entry as columns: `input` and `output` as its sender counts them, and each part that has a price of its own, so that no
 * token is in two of them. Some senders count what came of a cache into the input and some beside it: what is more than the whole
 * stands beside it, so that no part is negative.
 */
export function tokenColumns(): Record<string, Expression> {
  const [input, output] = [tokensOf(NAMES.inputTokens), tokensOf(NAMES.outputTokens)];
  const [cacheRead, cacheWrite] = [tokensOf(NAMES.cacheReadTokens), tokensOf(NAMES.cacheWriteTokens)];
  const reasoning = tokensOf(NAMES.reasoningTokens);
  return {
    ...{ input, output, cacheRead, cacheWrite, reasoning },
    plainInput: rest(input, call("add", cacheRead, cacheWrite)),
    plainOutput: rest(output, reasoning),
  };
}

function rest(whole: Expression, part: Expression): Expression {
  return call("iff", call("greater", part, whole), whole, call("subtract", whole, part));
}

/** What `usageOf` reads, in its order. */
export function usageCalls(entries: Relation): ReturnType<typeof aggregateCall>[] {
  const level = columnOf(entries, "level");
  const isError = anyOf(["error", "fatal"].map((name) => call("equal", level, literal("string", name))));
  const sums = ["input", "output", "plainInput", "cacheRead", "cacheWrite", "plainOutput", "reasoning"];
  return [
    aggregateCall("calls", "count"),
    aggregateCall("errors", "countif", isError),
    ...sums.map((name) => aggregateCall(`${name}Sum`, "sum", columnOf(entries, name))),
  ];
}

/** What counts came to at a price; what has tokens and no price is unpriced. */
export function usageOf(counts: readonly unknown[], price: Price | null): Usage {
  const [calls = 0, errors = 0, input = 0, output = 0, plainInput = 0, ...parts] = counts.map(Number);
  const [cacheRead = 0, cacheWrite = 0, plainOutput = 0, reasoning = 0] = parts;
  const usage = { calls, errors, inputTokens: input, outputTokens: output };
  if (price === null)
    return { ...usage, costUsd: null, unpriced: input + output + cacheRead + cacheWrite + reasoning > 0 };
  const { inputPerMillion, outputPerMillion } = price;
  const cost =
    plainInput * inputPerMillion +
    cacheRead * (price.cacheReadPerMillion ?? inputPerMillion) +
    cacheWrite * (price.cacheWritePerMillion ?? inputPerMillion) +
    plainOutput * outputPerMillion +
    reasoning * (price.reasoningPerMillion ?? outputPerMillion);
  return { ...usage, costUsd: cost / PER_MILLION, unpriced: false };
}

export function priceOf(prices: Prices["prices"], model: string): Price | null {
  return Object.hasOwn(prices, model) ? (prices[model] ?? null) : null;
}

export function nothing(): Usage {
  return { calls: 0, errors: 0, inputTokens: 0, outputTokens: 0, costUsd: null, unpriced: false };
}

/** What has no price makes a sum unpriced, and not smaller. */
export function add(sum: Usage, used: Usage): void {
  sum.calls += used.calls;
  sum.errors += used.errors;
  sum.inputTokens += used.inputTokens;
  sum.outputTokens += used.outputTokens;
  if (used.costUsd !== null) sum.costUsd = (sum.costUsd ?? 0) + used.costUsd;
  sum.unpriced ||= used.unpriced;
}
