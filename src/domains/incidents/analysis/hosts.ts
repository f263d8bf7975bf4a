/** The host that a monitor asks, in small letters, however its target is written; null for what names none. */
export function hostOf(target: string): string | null {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(target) ? target : `tcp://${target}`;
  const host = URL.canParse(text) ? new URL(text).hostname.toLowerCase() : "";
  return host === "" ? null : host;
}
