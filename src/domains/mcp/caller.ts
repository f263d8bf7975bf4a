import type { Principal } from "../../access/principal.ts";
import type { Connection } from "../../http/pipeline.ts";
import type { ToolRequest } from "../../tools/tool-request.ts";

/** Answers a request as the listener would: the one way into the server, with everything that it checks. */
export type HandleRequest = (request: Request, connection: Connection) => Promise<Response>;

/** Who speaks to a model's client, and what may be done for them. */
export interface McpCaller {
  readonly principal: Principal;
  /** Whether operations that change something are offered, too. What the token may do is judged where they are called. */
  readonly mayWrite: boolean;
  /** Sends a request with the caller's own token. */
  readonly send: (request: ToolRequest) => Promise<Response>;
}

/** What a call of the protocol came with. */
interface Origin {
  readonly request: Request;
  readonly requestId: string;
  readonly clientAddress: string;
}

/** How the audit log calls this door. */
const VIA = "mcp";
/** Of absolute URLs within the server; nothing looks at it. */
const WITHIN = "http://localhost";
/** What of the client's request goes along: whose call it is, and by which program. No cookie, no key of another request. */
const PASSED_ON = ["authorization", "user-agent"];

/** Makes the sender of a caller's requests, which end with the request that they are made for. */
export function sendFor(
  handle: HandleRequest,
  { request, requestId, clientAddress }: Origin,
): McpCaller["send"] {
  return ({ method, target, body }) => {
    const headers = new Headers({ accept: "application/json", "x-request-id": requestId });
    for (const name of PASSED_ON) {
      const value = request.headers.get(name);
      if (value !== null) headers.set(name, value);
    }
    if (body !== null) headers.set("content-type", "application/json");
    const init = { method, headers, signal: request.signal, ...(body !== null && { body }) };
    return handle(new Request(`${WITHIN}${target}`, init), { peerAddress: clientAddress, via: VIA });
  };
}
