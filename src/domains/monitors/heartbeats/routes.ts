import { Type } from "typebox";
import { route } from "../../../http/define-route.ts";
import type { HeartbeatReceiver, HeartbeatSignal } from "./receive.ts";

const PATH = "/api/v1/heartbeats/:token";
const Token = Type.String({ pattern: "^[A-Za-z0-9_-]{43}$" });
const TokenParams = Type.Object({ token: Token });
const ExitCodeParams = Type.Object({ token: Token, exitCode: Type.String({ pattern: "^[0-9]{1,10}$" }) });
const Received = Type.Object({ received: Type.Boolean({ examples: [true] }) }, { $id: "Heartbeat" });

/** What all of them have: the token in the path is the only credential, and the body, if there is one, is not looked at. */
const common = {
  tag: "Heartbeats",
  access: "public",
  rateLimit: "heartbeat",
  effect: "ingest",
  responses: { 200: { description: "Written down", schema: Received } },
} as const;

/** Where jobs say that they live: by POST, GET or HEAD, for there are senders of each. */
export function heartbeatRoutes(receiver: HeartbeatReceiver) {
  const received = async (token: string, signal: HeartbeatSignal) => {
    await receiver.receive(token, signal);
    return { status: 200, body: { received: true } };
  };
  const signals = {
    alive: { ...common, path: PATH, params: TokenParams, summary: "Say that a job lives, or is done" },
    start: {
      ...common,
      path: `${PATH}/start`,
      params: TokenParams,
      summary: "Say that a job begins; it is done by a heartbeat without this",
    },
    fail: { ...common, path: `${PATH}/fail`, params: TokenParams, summary: "Say that a job failed" },
    exit: {
      ...common,
      path: `${PATH}/:exitCode`,
      params: ExitCodeParams,
      summary: "Say how a job ended: 0 is well, any other number is a failure",
    },
  } as const;
  return [
    route({ ...signals.alive, method: "POST", handler: (_, { params }) => received(params.token, "alive") }),
    route({
      ...signals.alive,
      method: "GET",
      showsHead: true,
      handler: (_, { params }) => received(params.token, "alive"),
    }),
    route({ ...signals.start, method: "POST", handler: (_, { params }) => received(params.token, "start") }),
    route({ ...signals.start, method: "GET", handler: (_, { params }) => received(params.token, "start") }),
    route({ ...signals.fail, method: "POST", handler: (_, { params }) => received(params.token, "fail") }),
    route({ ...signals.fail, method: "GET", handler: (_, { params }) => received(params.token, "fail") }),
    route({
      ...signals.exit,
      method: "POST",
      handler: (_, { params }) => received(params.token, signalOf(params.exitCode)),
    }),
    route({
      ...signals.exit,
      method: "GET",
      handler: (_, { params }) => received(params.token, signalOf(params.exitCode)),
    }),
  ];
}

function signalOf(exitCode: string): HeartbeatSignal {
  return Number(exitCode) === 0 ? "alive" : "fail";
}
