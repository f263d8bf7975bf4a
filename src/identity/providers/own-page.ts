import { ApiError } from "../../errors.ts";

/**
 * Refuses a navigation that another site has begun. To link an identity is a change that a GET begins, so a foreign
 * page could otherwise begin it for a person whom it has signed in to its own account at the provider. Browsers say
 * where a navigation comes from wherever the connection can be trusted (https, or the same machine).
 */
export function requireOwnPage(request: Request): void {
  const site = request.headers.get("sec-fetch-site");
  if (site === null || site === "same-origin" || site === "none") return;
  throw new ApiError("FORBIDDEN", "Begin this from a page of this server.");
}
