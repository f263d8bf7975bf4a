import { parseHostTarget } from "./host-target.ts";

/** The address that a monitor of HTTP asks for; null for one that cannot be asked for. A missing scheme is that of the type. */
export function webAddressOf(type: string, text: string): string | null {
  const trimmed = text.trim();
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed)
    ? trimmed
    : `${type === "http" ? "http" : "https"}://${trimmed}`;
  const url = URL.parse(address);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return null;
  if (url.username !== "" || url.password !== "" || parseHostTarget(url.host) === null) return null;
  return url.href;
}
