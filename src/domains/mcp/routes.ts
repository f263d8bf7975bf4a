import { Type } from "typebox";
import { ApiError } from "../../errors.ts";
import { route } from "../../http/define-route.ts";
import { readBody } from "../../http/read-body.ts";
import { parseJson } from "../../http/read-json.ts";
import type { AuthenticatedContext } from "../../http/route.ts";
import { CONTENT_ENCODINGS } from "../../http/unpack.ts";
import type { ToolDefinition } from "../../tools/tool-definition.ts";
import { type HandleRequest, type McpCaller, sendFor } from "./caller.ts";
import { MESSAGE_MAX_BYTES } from "./limits.ts";
import { Toolbox } from "./toolbox.ts";

interface McpDeps {
  readonly tools: readonly ToolDefinition[];
  readonly handle: HandleRequest;
  /** Under which the server is reached: pages of other origins are refused. */
  readonly publicUrl: string;
  readonly build: { readonly name: string; readonly version: string };
  /** Renders what there is of the query language. */
  readonly kqlReference: () => string;
}

const McpParameters = Type.Object({
  write: Type.Optional(
    Type.Enum(["0", "1"], { description: "1: offer operations that change something, too." }),
  ),
});

const Message = Type.Object(
  {
    jsonrpc: Type.Literal("2.0"),
    id: Type.Optional(Type.Union([Type.String(), Type.Integer()])),
    method: Type.String({ examples: ["tools/list"] }),
    params: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { description: "One message of JSON-RPC 2.0, as the Model Context Protocol has it." },
);
const Refused = Type.Unknown({ description: "An error of JSON-RPC, or an `Error`." });

/** The Model Context Protocol over HTTP, without sessions: one message a request, one answer, nothing kept. */
export function mcpRoutes({ tools, handle, publicUrl, build, kqlReference }: McpDeps) {
  const toolbox = new Toolbox(tools);
  const ownOrigin = new URL(publicUrl).origin;
  return [
    route({
      method: "POST",
      path: "/mcp",
      tag: "Operations",
      summary: "Speak the Model Context Protocol: streamable HTTP, stateless",
      access: "authenticated",
      // Asked only where there is no bearer token, and before any cookie is looked at.
      credential: () => {
        throw new ApiError("UNAUTHENTICATED", "A token is required: Authorization: Bearer obs_...");
      },
      effect: "read",
      query: McpParameters,
      body: { kind: "raw", contentTypes: ["application/json"], documented: Message },
      responses: {
        200: { description: "The answer to the message", schema: Type.Unknown() },
        202: { description: "A notification, which has no answer" },
        400: { description: "Not a message, or not one of this protocol", schema: Refused },
        404: { description: "A method that there is not", schema: Refused },
        406: {
          description: "`Accept` lacks one of the two types that the protocol asks for",
          schema: Refused,
        },
      },
      // As long as the operation takes, which has bounds of its own.
      idleTimeoutSec: 0,
      handler: async (context, { query }) => {
        refuseForeignOrigin(context.request, ownOrigin);
        const body = await messageOf(context);
        if (body === undefined) return badMessage(-32700, "Parse error: the body is not JSON.");
        if (Array.isArray(body))
          return badMessage(-32600, "A request holds one message: there are no batches.");
        const caller: McpCaller = {
          principal: context.principal,
          mayWrite: query.write === "1",
          send: sendFor(handle, context),
        };
        // Loaded when it is first used, for most servers never speak it: 25 MB.
        const { answerMessage } = await import("./protocol.ts");
        return answerMessage({ toolbox, build, kqlReference }, caller, context.request, body);
      },
    }),
  ];
}

/** A page of somewhere else must not speak through the browser of somebody who is near the server (DNS rebinding). */
function refuseForeignOrigin({ headers }: Request, ownOrigin: string): void {
  const origin = headers.get("origin");
  if (origin !== null && origin !== ownOrigin)
    throw new ApiError("FORBIDDEN", "The protocol is not spoken to pages of another origin.");
}

/** The message; undefined for what is no JSON. Throws what `readBody` throws. */
async function messageOf({ request, reserveMemory, unpackTurn }: AuthenticatedContext): Promise<unknown> {
  const limits = {
    maxPackedBytes: MESSAGE_MAX_BYTES,
    maxUnpackedBytes: MESSAGE_MAX_BYTES,
    encodings: CONTENT_ENCODINGS,
  };
  const bytes = await readBody(request, limits, reserveMemory, unpackTurn);
  try {
    return parseJson(bytes);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

function badMessage(code: number, message: string) {
  return { status: 400, body: { jsonrpc: "2.0", id: null, error: { code, message } } };
}
