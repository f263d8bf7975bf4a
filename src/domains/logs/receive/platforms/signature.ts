import { createHmac, timingSafeEqual } from "node:crypto";
import { ApiError } from "../../../../errors.ts";

/** In which a deployment platform's drain is signed. */
const SIGNATURE_HEADER = "x-vercel-signature";

/** In which it asks whether an address is its user's, and reads the answer. */
export const VERIFICATION_HEADER = "x-vercel-verify";

const SHA1_HEX = /^[0-9a-f]{40}$/i;

/**
 * Throws SIGNATURE_INVALID unless the request carries the HMAC-SHA1 of its body as it was sent, in hexadecimal, under
 * `secret`. Source: Vercel, "Drains Security".
 */
export function requireSignature(headers: Headers, body: Uint8Array, secret: string): void {
  const given = headers.get(SIGNATURE_HEADER);
  if (given === null)
    throw new ApiError("SIGNATURE_INVALID", `The request is not signed: ${SIGNATURE_HEADER} is missing.`);
  const expected = createHmac("sha1", secret).update(body).digest();
  if (!SHA1_HEX.test(given) || !timingSafeEqual(Buffer.from(given, "hex"), expected))
    throw new ApiError(
      "SIGNATURE_INVALID",
      "The signature of the request does not belong to its body and the configured secret.",
    );
}
