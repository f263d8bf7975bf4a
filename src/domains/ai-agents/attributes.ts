import { attribute, call, type Expression, literal } from "../../../query/index.ts";

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
} as const;

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
