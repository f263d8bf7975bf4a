import { connect, isIP, type Socket } from "node:net";
import {
  createSecureContext,
  getCACertificates,
  type SecureContext,
  type TLSSocket,
  connect as upgrade,
} from "node:tls";
import { type CertificateFacts, certificateFacts } from "./certificate.ts";
import { NEXT_ADDRESS_AFTER_MS } from "./limits.ts";
import { OutboundError, type UnreachableReason } from "./outbound-error.ts";
import { type OutboundPolicy, plainHost } from "./outbound-policy.ts";
import type { OutboundScope } from "./outbound-scope.ts";
import { admitHost, type HostResolver, resolveWithSystem } from "./outbound-target.ts";

interface Connection {
  readonly socket: Socket;
  readonly dnsMs: number;
  readonly connectMs: number;
}

interface SecureConnection {
  readonly socket: TLSSocket;
  readonly tlsMs: number;
  readonly certificate: CertificateFacts;
}

export interface ConnectorOptions {
  readonly policy: OutboundPolicy;
  readonly resolve?: HostResolver;
  /** PEM certificates; those of the system and of NODE_EXTRA_CA_CERTS by default. */
  readonly authorities?: readonly string[];
}

/** Opens connections to hosts that people of an organisation have chosen. What is connected to is what was judged. */
export class Connector {
  readonly #policy: OutboundPolicy;
  readonly #resolve: HostResolver;
  readonly #authorities: readonly string[] | undefined;
  #trust: SecureContext | null = null;

  constructor({ policy, resolve = resolveWithSystem, authorities }: ConnectorOptions) {
    this.#policy = policy;
    this.#resolve = resolve;
    this.#authorities = authorities;
  }

  /** The judged addresses of a host. Throws OutboundError. */
  addressesOf(host: string): Promise<readonly string[]> {
    return admitHost(host, this.#policy, this.#resolve);
  }

  /**
   * Connects to the address of a host that answers first; each is given a head start before the next. Never asks
   * for the name again. Throws OutboundError.
   */
  async dial(host: string, port: number, scope: OutboundScope): Promise<Connection> {
    const startedAt = performance.now();
    const addresses = await this.addressesOf(host);
    const resolvedAt = performance.now();
    const socket = await connectToFirst(addresses, port, scope);
    return { socket, dnsMs: resolvedAt - startedAt, connectMs: performance.now() - resolvedAt };
  }

  /**
   * Begins TLS on a connection. A certificate that shows nothing is answered and not thrown: whoever sends anything must look
   * at it first. `protocols` are those of ALPN. Throws OutboundError.
   */
  secure(
    socket: Socket,
    host: string,
    scope: OutboundScope,
    protocols?: readonly string[],
  ): Promise<SecureConnection> {
    const startedAt = performance.now();
    const name = plainHost(host);
    return new Promise((resolve, reject) => {
      const secured = scope.hold(upgrade({ ...this.tlsOptions(name, protocols), socket }));
      secured.once("secureConnect", () => {
        const tlsMs = performance.now() - startedAt;
        try {
          resolve({ socket: secured, tlsMs, certificate: certificateFacts(secured, name, Date.now()) });
        } catch (cause) {
          // A certificate that the handshake took and that cannot be read all the same.
          reject(new OutboundError("unreachable", { cause, reason: "tls" }));
        }
      });
      secured.on("error", (cause) =>
        reject(new OutboundError("unreachable", { cause, reason: isReset(cause) ? "reset" : "tls" })),
      );
      secured.once("close", () => reject(new OutboundError("unreachable", { reason: "reset" })));
    });
  }

  /** How TLS is begun with a host; who uses it judges the certificate with `certificateFacts`. */
  tlsOptions(host: string, protocols?: readonly string[]) {
    return {
      secureContext: this.#trusted(),
      rejectUnauthorized: false,
      // Names are judged with the rest of the certificate.
      checkServerIdentity: () => undefined,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(protocols === undefined ? {} : { ALPNProtocols: [...protocols] }),
    };
  }

  /** Made once: reading the authorities takes longer than a handshake. */
  #trusted(): SecureContext {
    this.#trust ??= createSecureContext({ ca: [...(this.#authorities ?? systemAuthorities())] });
    return this.#trust;
  }
}

function systemAuthorities(): readonly string[] {
  return [...new Set([...getCACertificates("default"), ...getCACertificates("system")])];
}

/** Connections begin one after the other, as RFC 8305 has it: an address that answers nothing holds up no other. */
function connectToFirst(addresses: readonly string[], port: number, scope: OutboundScope): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const waiting = [...addresses];
    const trying = new Set<Socket>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    if (waiting.length > 1) scope.hold({ destroy: () => clearTimeout(timer) });
    const tryNext = (failure: OutboundError | null): void => {
      clearTimeout(timer);
      const address = waiting.shift();
      if (address === undefined) {
        if (trying.size === 0) reject(failure);
        return;
      }
      const socket = openedWithin(scope, address, port);
      if (socket instanceof OutboundError) {
        reject(socket);
        return;
      }
      trying.add(socket);
      if (waiting.length > 0) timer = setTimeout(() => tryNext(null), NEXT_ADDRESS_AFTER_MS);
      // Stays, for whoever has the socket may be gone when it fails.
      socket.on("error", (cause) => {
        if (trying.delete(socket)) tryNext(unreachable(cause));
      });
      socket.once("connect", () => {
        clearTimeout(timer);
        waiting.length = 0;
        trying.delete(socket);
        const slower = [...trying];
        trying.clear();
        for (const other of slower) other.destroy();
        resolve(socket);
      });
    };
    tryNext(null);
  });
}

/** The error is answered, for an address is also tried from an event, into which nothing may be thrown. */
function openedWithin(scope: OutboundScope, host: string, port: number): Socket | OutboundError {
  try {
    return scope.hold(connect({ host, port }));
  } catch (cause) {
    return unreachable(cause);
  }
}

/** What a failed connection is to who wanted it. */
export function unreachable(cause: unknown): OutboundError {
  if (cause instanceof OutboundError) return cause;
  const reason = reasonOf(cause);
  return new OutboundError("unreachable", reason === null ? { cause } : { cause, reason });
}

function reasonOf(cause: unknown): UnreachableReason | null {
  if (isReset(cause)) return "reset";
  const code = codeOf(cause);
  if (code === "ECONNREFUSED") return "refused";
  return code.startsWith("HPE_") ? "bad-response" : null;
}

function isReset(cause: unknown): boolean {
  return ["ECONNRESET", "EPIPE", "ECONNABORTED"].includes(codeOf(cause));
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : "";
}
