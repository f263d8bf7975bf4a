import { createBrotliDecompress, createUnzip, createZstdDecompress, constants as zlib } from "node:zlib";
import type { Answer } from "../../outbound/exchange.ts";
import type { OutboundScope } from "../../outbound/outbound-scope.ts";
import { CheckFailure } from "../check-failure.ts";
import { CHECK_BODY_MAX_BYTES } from "../limits.ts";

interface BodyText {
  readonly text: string;
  /** Whether there was more than is read. */
  readonly isCutOff: boolean;
}

/** The body of an answer as text, unpacked as far as a body is read. Throws CheckFailure, `bad_response`, for what cannot be unpacked. */
export async function bodyText(answer: Answer, scope: OutboundScope): Promise<BodyText> {
  const { bytes, isCutOff } = await unpacked(answer, scope);
  return { text: decoderOf(answer.headers.get("content-type") ?? "").decode(bytes), isCutOff };
}

/** Judges by a text of which the end may be missing: what is not decided by what was read is not known. */
export function judgeKeyword(
  { text, isCutOff }: BodyText,
  keyword: string,
  matchType: "contains" | "not_contains",
): void {
  const isFound = text.includes(keyword);
  if (!isFound && isCutOff) throw new CheckFailure("body_too_large", { status: "unknown" });
  if (isFound !== (matchType === "contains")) throw new CheckFailure("keyword");
}

const UTF8 = new TextDecoder();

/** A character set that nobody knows says nothing of the text. */
function decoderOf(contentType: string): TextDecoder {
  const charset = /;\s*charset="?([^\s";]+)/i.exec(contentType)?.[1]?.toLowerCase() ?? "utf-8";
  const isLatin = ["iso-8859-1", "latin1", "us-ascii", "windows-1252"].includes(charset);
  if (isLatin) return new TextDecoder("windows-1252");
  return charset === "utf-16le" ? new TextDecoder("utf-16le") : UTF8;
}

interface Unpacked {
  readonly bytes: Uint8Array;
  readonly isCutOff: boolean;
}

async function unpacked(answer: Answer, scope: OutboundScope): Promise<Unpacked> {
  const { body, isCutOff } = answer;
  const unpack = unpackerOf(answer.headers.get("content-encoding") ?? "identity");
  if (unpack === null) return { bytes: body, isCutOff };
  scope.hold(unpack);
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    const finish = (isMore: boolean): void => {
      resolve({ bytes: Buffer.concat(chunks).subarray(0, CHECK_BODY_MAX_BYTES), isCutOff: isMore });
      unpack.destroy();
    };
    unpack.on("data", (chunk: Uint8Array) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > CHECK_BODY_MAX_BYTES) finish(true);
    });
    unpack.on("end", () => finish(isCutOff));
    unpack.on("error", (cause) => reject(new CheckFailure("bad_response", { cause })));
    unpack.end(body);
  });
}

function unpackerOf(encoding: string) {
  // The end of what was packed may lie beyond what was read.
  switch (encoding.trim().toLowerCase()) {
    case "gzip":
    case "x-gzip":
    case "deflate":
      return createUnzip({ finishFlush: zlib.Z_SYNC_FLUSH });
    case "br":
      return createBrotliDecompress({ finishFlush: zlib.BROTLI_OPERATION_FLUSH });
    case "zstd":
      return createZstdDecompress({ finishFlush: zlib.ZSTD_e_flush });
    default:
      return null;
  }
}
