import { gunzipSync, inflateSync } from "node:zlib";
import { constant, type FunctionDefinition, type FunctionTable, simple } from "./definition.ts";
import { constantText } from "./string-operators.ts";

/** Bytes that a text may have unpacked: a few bytes can stand for very many. */
const UNPACKED_MAX_BYTES = 65_536;

/** The store cannot unpack, so this is done as the query is compiled. */
function unpacking(
  summary: string,
  unpack: (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array,
): FunctionDefinition {
  return {
    ...simple(summary, [constant("string", "string")], "string", "never", (call) =>
      call.parameter("String", unpackedText(constantText(call, 0) ?? "", unpack)),
    ),
    approximate: `Of a constant alone, such as a text out of an entry; up to ${UNPACKED_MAX_BYTES} bytes unpacked, else the result is empty.`,
  };
}

function unpackedText(
  base64: string,
  unpack: (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array,
): string {
  try {
    const bytes = unpack(Buffer.from(base64, "base64"), { maxOutputLength: UNPACKED_MAX_BYTES });
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return "";
  }
}

/** Texts that are packed and in Base64. */
export const COMPRESSED_TEXT_FUNCTIONS = {
  gzip_decompress_from_base64_string: unpacking(
    "The text that gzip and Base64 made of another; empty when they did not.",
    gunzipSync,
  ),
  zlib_decompress_from_base64_string: unpacking(
    "The text that zlib and Base64 made of another; empty when they did not.",
    inflateSync,
  ),
} as const satisfies FunctionTable;
