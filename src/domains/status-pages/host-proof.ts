import { createHmac } from "node:crypto";
import { type Static, Type } from "typebox";
import { ApiError } from "../../errors.ts";
import type { TxtResolver } from "../../identity/providers/sso/txt-resolver.ts";

const LABEL = "_obs";
const VALUE_PREFIX = "obs-status-page=";
const WILDCARD = "*";

export const HostRecord = Type.Object(
  {
    customDomain: Type.String({ examples: ["status.example.com"] }),
    provenAt: Type.Union([Type.String({ format: "date-time" }), Type.Null()]),
    record: Type.Object({
      type: Type.Literal("TXT"),
      name: Type.String({ examples: ["_obs.status.example.com"] }),
      value: Type.String({ examples: ["obs-status-page=5mTqk1fJp3vUuVwYtq0xJmJ9sWQGm1rWn0cYz3mWf2E"] }),
    }),
  },
  { $id: "StatusPageHost" },
);
export type HostRecord = Static<typeof HostRecord>;

interface HostProofOptions {
  /** Makes what a record has to say. */
  readonly key: Uint8Array;
  /** Hosts that the operator vouches for; `*.` stands for all below one. */
  readonly vouched: readonly string[];
  readonly resolveTxt: TxtResolver;
}

/**
 * Whose a host is. Anybody can name one, so a page answers on it only when its name servers say so by a record that nobody
 * else was given, or when whoever runs the server does.
 */
export class HostProof {
  readonly #options: HostProofOptions;

  constructor(options: HostProofOptions) {
    this.#options = options;
  }

  isVouched(host: string): boolean {
    return this.#options.vouched.some((pattern) =>
      pattern.startsWith(WILDCARD) ? host.endsWith(pattern.slice(WILDCARD.length)) : host === pattern,
    );
  }

  recordOf(pageId: number, host: string): HostRecord["record"] {
    const token = createHmac("sha256", this.#options.key)
      .update(`host\0${pageId}\0${host}`)
      .digest("base64url");
    return { type: "TXT", name: `${LABEL}.${host}`, value: `${VALUE_PREFIX}${token}` };
  }

  /** Throws DOMAIN_NOT_VERIFIED when the record is not there, UNAVAILABLE when nobody says whether it is. */
  async require(pageId: number, host: string): Promise<void> {
    if (this.isVouched(host)) return;
    const { name, value } = this.recordOf(pageId, host);
    if ((await this.#options.resolveTxt(name)).includes(value)) return;
    throw new ApiError(
      "DOMAIN_NOT_VERIFIED",
      `The TXT record of ${name} is not there; a new one may take a while to be seen.`,
    );
  }
}
