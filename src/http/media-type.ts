import { ApiError } from "../errors.ts";

/** Stands for every content type, also an absent one, in the list of a route. */
export const ANY_MEDIA_TYPE = "*/*";

/**
 * Throws UNSUPPORTED_MEDIA_TYPE unless the Content-Type is one of `accepted` (lower case, without parameters;
 * ANY_MEDIA_TYPE accepts anything) and its charset, when given, is UTF-8.
 */
export function requireMediaType(request: Request, accepted: readonly string[]): void {
  if (accepted.includes(ANY_MEDIA_TYPE)) return;
  const header = request.headers.get("content-type") ?? "";
  if (accepted.includes(header)) return;
  const [type = "", ...parameters] = header.toLowerCase().split(";");
  const charset = parameters
    .map((parameter) => parameter.trim())
    .find((parameter) => parameter.startsWith("charset="));
  if (
    accepted.includes(type.trim()) &&
    (charset === undefined || /^charset="?(utf-?8|us-ascii)"?$/.test(charset))
  )
    return;
  throw new ApiError(
    "UNSUPPORTED_MEDIA_TYPE",
    `The content type must be ${accepted.join(" or ")}${charset === undefined ? "" : " in UTF-8"}.`,
  );
}
