import type { CredentialReader } from "./route.ts";

/** The last segment of the path: the token of senders that are configured with nothing but an address. */
export const lastPathSegment: CredentialReader = (request) => {
  const path = request.url.split("?", 1)[0] ?? "";
  const segments = path.split("/").filter((segment) => segment !== "");
  return segments.at(-1) ?? null;
};
