import { storableText } from "../../storage/storable-text.ts";

/** Bytes of a value written as JSON. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** A text as Postgres takes it, cut so that it has no more bytes as JSON, in which a sign may have six. */
export function boundedText(text: string, maxBytes: number): string {
  // A sign has a byte at least, and its halves stay together.
  let kept = storableText(text.slice(0, maxBytes));
  if (kept.length === text.length && jsonBytes(kept) <= maxBytes) return kept;
  const signs = [...kept];
  let [fits, tooMany] = [0, signs.length];
  while (fits < tooMany - 1) {
    const half = (fits + tooMany) >> 1;
    if (jsonBytes(`${signs.slice(0, half).join("")}…`) <= maxBytes) fits = half;
    else tooMany = half;
  }
  kept = signs.slice(0, fits).join("");
  return `${kept}…`;
}

/** Names and texts as Postgres takes them. */
export function cleanTexts(texts: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [storableText(name), storableText(text)]),
  );
}
