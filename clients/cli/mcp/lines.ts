/**
 * The lines of a stream, without their ends and without empty ones; null for a line of more characters, which is left out. The
 * end of the stream ends a line, too.
 */
export async function* linesOf(
  stream: AsyncIterable<Uint8Array>,
  maxChars: number,
): AsyncGenerator<string | null> {
  const decoder = new TextDecoder();
  let begun = "";
  let isTooLong = false;
  for await (const bytes of stream) {
    const parts = decoder.decode(bytes, { stream: true }).split("\n");
    const rest = parts.pop() ?? "";
    for (const part of parts) {
      const line = begun + part;
      begun = "";
      if (isTooLong || line.length > maxChars) yield null;
      else if (line.trim() !== "") yield line;
      isTooLong = false;
    }
    if (!isTooLong) begun += rest;
    if (begun.length > maxChars) {
      isTooLong = true;
      begun = "";
    }
  }
  if (isTooLong) yield null;
  else if (begun.trim() !== "") yield begun;
}
