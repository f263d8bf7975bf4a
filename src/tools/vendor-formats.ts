import type { ToolDefinition } from "./tool-definition.ts";

/** The forms in which vendors take tools, each by the name of its file. */
export const FORMATS = {
  /** OpenAI, chat completions: `tools`. */
  "openai-chat": (tools) =>
    tools.map(({ name, description, inputSchema }) => ({
      type: "function" as const,
      function: { name, description, parameters: inputSchema },
    })),
  /** OpenAI, responses: `tools`. */
  "openai-responses": (tools) =>
    tools.map(({ name, description, inputSchema }) => ({
      ...{ type: "function" as const, name, description, parameters: inputSchema, strict: false },
    })),
  /** Anthropic, messages: `tools`. */
  anthropic: (tools) =>
    tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema })),
  /** Google, generateContent: `tools`. */
  gemini: (tools) => [
    {
      functionDeclarations: tools.map(({ name, description, inputSchema }) => ({
        ...{ name, description, parametersJsonSchema: inputSchema },
      })),
    },
  ],
  /** Model Context Protocol: the result of `tools/list`. */
  mcp: (tools) => ({
    tools: tools.map(({ name, title, description, inputSchema, isReadOnly }) => ({
      ...{ name, title, description, inputSchema, annotations: { readOnlyHint: isReadOnly } },
    })),
  }),
} as const satisfies Readonly<Record<string, (tools: readonly ToolDefinition[]) => object>>;

export type FormatName = keyof typeof FORMATS;
