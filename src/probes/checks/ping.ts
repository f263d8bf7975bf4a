import { isIPv6 } from "node:net";
import type { OutboundScope } from "../../outbound/outbound-scope.ts";
import { CheckFailure } from "../check-failure.ts";
import { PING_ATTEMPTS } from "../limits.ts";
import { ECHO_TOKEN_BYTES, ECHO_V4, ECHO_V6, encodeEcho, isEchoReply } from "../ping/icmp-packet.ts";
import { type IcmpSocket, openIcmpSocket } from "../ping/icmp-socket.ts";
import { pingByProgram } from "../ping/ping-program.ts";
import { parseHostTarget } from "../targets/host-target.ts";
import type { Check } from "./check-tools.ts";

/** How a system pings; what is not there is null. */
export interface PingMeans {
  readonly openSocket: (address: string) => IcmpSocket | null;
  readonly program: string | null;
}

export const SYSTEM_PING: PingMeans = { openSocket: openIcmpSocket, program: Bun.which("ping") };

/** Between two looks for a reply, growing with the wait: a tenth of it. */
const LOOK_MIN_MS = 1;
const LOOK_MAX_MS = 20;

/** The host answers one of several echo requests, which share the time of the check. */
export function createPingCheck(means: PingMeans): Check {
  return async (spec, { connector, findings, scope }) => {
    const target = parseHostTarget(spec.url);
    if (target === null) throw new CheckFailure("target_invalid");
    const startedAt = performance.now();
    const [address = ""] = await connector.addressesOf(target.host);
    findings.connected(performance.now() - startedAt, 0);
    const eachMs = scope.remainingMs / PING_ATTEMPTS;
    const socket = means.openSocket(address);
    if (socket !== null) scope.hold(socket);
    for (let attempt = 1; attempt <= PING_ATTEMPTS; attempt += 1) {
      const tookMs =
        socket === null
          ? await pingByProgram(means.program, address, eachMs, scope)
          : await pingOnce(socket, address, attempt, eachMs, scope);
      if (tookMs === null) continue;
      findings.answered(tookMs);
      return;
    }
    throw new CheckFailure("timeout");
  };
}

/** The round trip in milliseconds, null when nothing came back in time. */
async function pingOnce(
  socket: IcmpSocket,
  address: string,
  sequence: number,
  timeoutMs: number,
  scope: OutboundScope,
): Promise<number | null> {
  const kind = isIPv6(address) ? ECHO_V6 : ECHO_V4;
  const token = crypto.getRandomValues(new Uint8Array(ECHO_TOKEN_BYTES));
  const [identifier = 0] = crypto.getRandomValues(new Uint16Array(1));
  const sentAt = performance.now();
  if (!socket.send(encodeEcho(kind, identifier, sequence, token))) throw new CheckFailure("unreachable");
  for (;;) {
    const waitedMs = performance.now() - sentAt;
    for (let found = socket.receive(); found !== null; found = socket.receive())
      if (isEchoReply(kind, found.packet, token))
        return Math.max(0, performance.now() - sentAt - found.ageMs);
    if (waitedMs >= timeoutMs || scope.remainingMs === 0) return null;
    await Bun.sleep(Math.min(LOOK_MAX_MS, Math.max(LOOK_MIN_MS, waitedMs / 10)));
  }
}
