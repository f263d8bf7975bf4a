import { createHash, timingSafeEqual } from "node:crypto";
import { ApiError } from "../../../errors.ts";

/** Finds the region that a probe stands for by its token. */
export class ProbeAccess {
  readonly #regions: readonly { readonly region: string; readonly digest: Buffer }[];

  constructor(tokens: Readonly<Partial<Record<string, string>>>) {
    this.#regions = Object.entries(tokens).flatMap(([region, token]) =>
      token === undefined ? [] : [{ region, digest: digestOf(token) }],
    );
  }

  /** Throws UNAUTHENTICATED for a token that no region has. */
  regionOf(request: Request): string {
    const given = digestOf(bearerToken(request));
    const found = this.#regions.find(({ digest }) => timingSafeEqual(digest, given));
    if (found === undefined) throw new ApiError("UNAUTHENTICATED", "The token is that of no region.");
    return found.region;
  }
}

function bearerToken(request: Request): string {
  return /^Bearer ([\w-]{1,128})$/i.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";
}

function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
