/** That each form is what its vendor's own calls take: proved by the compiler, nothing runs. */
import type Anthropic from "@anthropic-ai/sdk";
import type { Tool } from "@google/genai";
import type { ListToolsResult as ListedByCurrent } from "@modelcontextprotocol/client";
import type { ListToolsResult as ListedByEarlier } from "@modelcontextprotocol/sdk/types.js";
import type OpenAI from "openai";
import type { ToolDefinition } from "../../src/tools/tool-definition.ts";
import { FORMATS } from "../../src/tools/vendor-formats.ts";

declare const tools: readonly ToolDefinition[];

FORMATS["openai-chat"](tools) satisfies OpenAI.Chat.ChatCompletionTool[];
FORMATS["openai-responses"](tools) satisfies OpenAI.Responses.Tool[];
FORMATS.anthropic(tools) satisfies Anthropic.Tool[];
FORMATS.gemini(tools) satisfies Tool[];
FORMATS.mcp(tools) satisfies ListedByCurrent;
FORMATS.mcp(tools) satisfies ListedByEarlier;
