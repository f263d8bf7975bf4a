import { attribute, call, type Expression, literal } from "../../query/index.ts";

/**
 * What entries of agents carry: names of OpenTelemetry's conventions for generative AI (semconv 1.37) first, then older ones and
 * those of OpenInference and LiteLLM.
 */
export const NAMES = {
  agent: ["gen_ai.agent.name", "agent.name", "metadata.agent"],
  model: ["gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "model"],
  tool: ["gen_ai.tool.name", "tool.name"],
  arguments: ["gen_ai.tool.call.arguments", "tool.parameters"],
  result: ["gen_ai.tool.call.result", "tool.output"],
  user: ["user.id", "enduser.id", "user.email", "user.name", "metadata.user_id", "langfuse.user.id"],
  inputTokens: [
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.token_count.prompt",
    "usage.prompt_tokens",
  ],
  outputTokens: [
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
    "usage.completion_tokens",
  ],
  cacheReadTokens: [
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "llm.token_count.prompt_details.cache_read",
    "usage.cache_read_input_tokens",
    "usage.prompt_tokens_details.cached_tokens",
  ],
  cacheWriteTokens: [
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens",
    "llm.token_count.prompt_details.cache_write",
    "usage.cache_creation_input_tokens",
  ],
  reasoningTokens: [
    "gen_ai.usage.reasoning.output_tokens",
    "gen_ai.usage.reasoning_tokens",
    "llm.token_count.completion_details.reasoning",
    "usage.completion_tokens_details.reasoning_tokens",
  ],
} as const;

/** Whether an entry may have an attribute under one of the names: under it, or as a member of an object. */
export function mayHaveOne(names: readonly string[], mayHave: (outermostKey: string) => boolean): boolean {
  return names.some((name) => {
    const parts = name.split(".");
    return parts.some((_, i) => mayHave(parts.slice(0, i + 1).join(".")));
  });
}

/** The first of the names that an entry has a text under; empty for none. */
export function textOf(names: readonly string[]): Expression {
  const texts = names.map((name) => call("tostring", attribute("attrs", ...name.split("."))));
  const [first, second, ...others] = texts;
  if (first === undefined) return literal("string", "");
  return second === undefined ? first : call("coalesce", first, second, ...others);
}

/** A number that is not negative; 0 for none. */
export function tokensOf(names: readonly string[]): Expression {
  const number = call("todouble", textOf(names));
  return call("iff", call("greater", number, literal("real", 0)), number, literal("real", 0));
}
