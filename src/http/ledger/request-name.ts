/** What a request that stores entries is recognised by, when it is sent again. */
export interface RequestName {
  /** The same whenever the request is sent again. */
  readonly text: string;
  /** The name of its entries in write-ahead logs; another one when a key that was forgotten is used anew. */
  readonly storedAs: string;
  /** Its entries are known to be stored: it is to be answered and nothing to be stored again. */
  readonly isStored: boolean;
}

/** A request whose sender names it otherwise than by an Idempotency-Key. */
export function ownRequestName(text: string): RequestName {
  return { text, storedAs: text, isStored: false };
}
