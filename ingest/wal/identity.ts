import { ALIGNMENT, decodeHeader, HEADER_BYTES, hasMagic } from "./format.ts";
import { readFully, type WalIo } from "./io.ts";
import { SURVEY_WINDOW_BYTES } from "./limits.ts";

/** 64 random bits that tell this log from every other, in each of its records and tokens. */
export function newIdentity(): bigint {
  return crypto.getRandomValues(new BigUint64Array(1))[0] ?? 0n;
}

export function identityText(identity: bigint): string {
  return identity.toString(16).padStart(16, "0");
}

/** The identity in the first intact header of these files; undefined when there is none. */
export async function findIdentity(
  io: WalIo,
  files: readonly { readonly path: string; readonly base: number }[],
): Promise<bigint | undefined> {
  for (const { path, base } of files) {
    const file = await io.open(path, "read");
    try {
      const bytes = await readFully(file, 0, SURVEY_WINDOW_BYTES);
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      for (let at = 0; at <= bytes.length - HEADER_BYTES; at += ALIGNMENT) {
        if (!hasMagic(view, at)) continue;
        const header = decodeHeader(view, at);
        if (header?.start === base + at) return header.identity;
      }
    } finally {
      await file.close();
    }
  }
  return undefined;
}
