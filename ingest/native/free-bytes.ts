/**
 * Gives the memory of bytes back at once, of which nobody has another view. The collector would do so, too, but takes its
 * time with what is large and not its own, while more of it comes. Bytes that share their buffer with others are left alone.
 */
export function freeBytes({ buffer, length }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) freeBuffer(buffer);
}

/** The same of a buffer, whatever views there are. */
export function freeBuffer(buffer: ArrayBufferLike): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
}
