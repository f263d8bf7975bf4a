import { createServer, type Server, type Socket } from "node:net";
import { Connector } from "../../src/outbound/connector.ts";
import { OutboundPolicy } from "../../src/outbound/outbound-policy.ts";
import type { HostResolver } from "../../src/outbound/outbound-target.ts";
import { Browser } from "../../src/probes/browser/browser.ts";
import type { CheckOutcome, CheckSpec, RunCheck } from "../../src/probes/check.ts";
import type { PingMeans } from "../../src/probes/checks/ping.ts";
import { createRunCheck } from "../../src/probes/run-check.ts";

/** A monitor as it is when nothing is set but what it watches. */
export function specOf(given: Pick<CheckSpec, "type" | "url"> & Partial<CheckSpec>): CheckSpec {
  return {
    timeoutMs: 30_000,
    degradedResponseTimeMs: null,
    method: null,
    headers: {},
    body: null,
    followRedirects: true,
    tlsSkipVerify: false,
    expectedStatusCode: null,
    port: null,
    keyword: null,
    keywordMatchType: "contains",
    expiryWarnDays: 14,
    steps: [],
    ...given,
  };
}

interface CheckingOptions {
  /** This machine's loopback unless told otherwise. */
  readonly allow?: readonly string[];
  readonly allowPrivate?: boolean;
  readonly resolve?: HostResolver;
  readonly authorities?: readonly string[];
  readonly ping?: PingMeans;
  readonly browser?: Browser;
  readonly report?: (error: Error) => void;
}

/** Every check; what is reported of ourselves fails the test. */
export function checking(options: CheckingOptions = {}): RunCheck {
  const { allow = ["127.0.0.1", "::1", "localhost"], allowPrivate = false, browser, ...rest } = options;
  const policy = new OutboundPolicy({ allow, allowPrivate });
  const connector = new Connector({ policy });
  return createRunCheck({
    policy,
    browser: browser ?? new Browser({ connector, path: null }),
    report: (error) => {
      throw error;
    },
    ...rest,
  });
}

/** What an outcome says in a line: the status, and the error where there is one. */
export function verdict({ status, error }: CheckOutcome): string {
  return error === null ? status : `${status} ${error}`;
}

/** A server on this machine's loopback that does with each connection what the test says. */
export async function listen(take: (socket: Socket) => void): Promise<LoopbackServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined);
    take(socket);
    // Without anybody who reads, the end would not be seen.
    socket.resume();
  });
  return listening(server, sockets);
}

export interface LoopbackServer {
  readonly port: number;
  /** Connections that are open now. */
  readonly sockets: ReadonlySet<Socket>;
  close(): Promise<void>;
}

export async function listening(server: Server, sockets: Set<Socket>): Promise<LoopbackServer> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address !== "object") throw new Error("the server does not listen");
  return {
    port: address.port,
    sockets,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
