/** A body in the bytes in which it is sent. */
export interface EncodedBody {
  readonly contentType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}
