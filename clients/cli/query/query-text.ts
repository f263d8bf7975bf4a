import { UsageError } from "../cli-error.ts";
import { QUERY_MAX_BYTES } from "../limits.ts";

/** The whole of a stream as a query. Throws UsageError when it is longer than a query can be or says nothing. */
export async function readQueryText(stream: ReadableStream<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > QUERY_MAX_BYTES)
      throw new UsageError(`standard input holds more than ${QUERY_MAX_BYTES} bytes: that is no query`);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}
