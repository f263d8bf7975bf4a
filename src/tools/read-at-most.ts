/** The text of an answer; null for one of more bytes, of which the rest is not read. */
export async function readAtMost(response: Response, maxBytes: number): Promise<string | null> {
  if (response.body === null) return "";
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body) {
    bytes += piece.length;
    // Leaving the loop cancels the stream.
    if (bytes > maxBytes) return null;
    pieces.push(piece);
  }
  return new TextDecoder().decode(Buffer.concat(pieces));
}
