import { UsageError } from "../cli-error.ts";

export const DEFAULT_URL = "http://127.0.0.1:8080";

/** The server's address without a trailing slash. A path is kept, for servers behind a prefix. */
export function parseBaseUrl(text: string, origin: string): string {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw new UsageError(`${origin} is not an http or https address: ${text}`);
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
    throw new UsageError(`${origin} takes an address without user, query or fragment`);
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

/** True when the server is this machine. */
export function isLoopback(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl);
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
}
