import { join } from "node:path";
import { Client as CurrentClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as EarlierClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as EarlierStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as EarlierHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const MAIN = join(import.meta.dir, "../../../clients/cli/main.ts");
const WHO = { name: "test", version: "1" };

/** Where a client finds the server, and as whom. */
interface Target {
  readonly url: string;
  readonly token: string;
  readonly mayWrite?: boolean;
}

/** What the clients of all eras have in common, as plain data. */
export interface McpClient extends AsyncDisposable {
  tools(): Promise<Tool[]>;
  call(name: string, given?: Record<string, unknown>): Promise<CallResult>;
  resources(): Promise<string[]>;
  templates(): Promise<string[]>;
  read(uri: string): Promise<string>;
  prompts(): Promise<string[]>;
  prompt(name: string, given: Record<string, string>): Promise<string>;
}

interface Tool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: { readonly [keyword: string]: unknown };
}

interface CallResult {
  readonly isError: boolean;
  /** `structuredContent`. */
  readonly content: Record<string, unknown>;
  /** The first text. */
  readonly text: string;
}

type AnyClient = CurrentClient | EarlierClient;

/** Official clients by how they speak: revision and transport. */
export const CLIENTS: Readonly<Record<string, (target: Target) => Promise<McpClient>>> = {
  "2026-07-28 over HTTP": async (target) => {
    const client = new CurrentClient(WHO, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
    await client.connect(new StreamableHTTPClientTransport(addressOf(target), requestInit(target)));
    return common(client);
  },
  "2025-11-25 over HTTP": async (target) => {
    const client = new CurrentClient(WHO);
    await client.connect(new StreamableHTTPClientTransport(addressOf(target), requestInit(target)));
    return common(client);
  },
  "the SDK of 2025 over HTTP": async (target) => {
    const client = new EarlierClient(WHO);
    await client.connect(new EarlierHttp(addressOf(target), requestInit(target)));
    return common(client);
  },
  "2026-07-28 over stdio": async (target) => {
    const client = new CurrentClient(WHO, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
    await client.connect(new StdioClientTransport(bridge(target)));
    return common(client);
  },
  "the SDK of 2025 over stdio": async (target) => {
    const client = new EarlierClient(WHO);
    await client.connect(new EarlierStdio(bridge(target)));
    return common(client);
  },
};

/** The one that most tests speak with. */
export async function connect(target: Target): Promise<McpClient> {
  const made = CLIENTS["2025-11-25 over HTTP"];
  if (made === undefined) throw new Error("no such client");
  return made(target);
}

function addressOf({ url, mayWrite = false }: Target): URL {
  return new URL(`${url}/mcp${mayWrite ? "?write=1" : ""}`);
}

function requestInit({ token }: Target) {
  return { requestInit: { headers: { authorization: `Bearer ${token}` } } };
}

function bridge({ url, token, mayWrite = false }: Target) {
  return {
    command: process.execPath,
    args: [MAIN, "mcp", ...(mayWrite ? ["--write"] : [])],
    env: { OBS_URL: url, OBS_TOKEN: token, PATH: process.env.PATH ?? "", HOME: "/nonexistent" },
  };
}

function common(client: AnyClient): McpClient {
  return {
    tools: async () => (await client.listTools()).tools,
    call: async (name, given = {}) => {
      const result = await client.callTool({ name, arguments: given });
      const blocks: unknown = result.content;
      const [block] = Array.isArray(blocks) ? blocks : [];
      return {
        isError: result.isError === true,
        content: Object.fromEntries(Object.entries(result.structuredContent ?? {})),
        text: block?.type === "text" ? String(block.text) : "",
      };
    },
    resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    templates: async () =>
      (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    read: async (uri) => {
      const [content] = (await client.readResource({ uri })).contents;
      return content !== undefined && "text" in content ? content.text : "";
    },
    prompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    prompt: async (name, given) => {
      const [message] = (await client.getPrompt({ name, arguments: given })).messages;
      return message?.content.type === "text" ? message.content.text : "";
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
