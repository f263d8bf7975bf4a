interface Making<B, R> {
  /** Makes records at once, and answers them in their order. */
  readonly together: (bodies: readonly B[]) => Promise<readonly R[]>;
  /** Makes a record, or changes the one of its key. */
  readonly alone: (body: B) => Promise<R>;
}

/**
 * Makes records at once, and behind them one after the other those that have to be made alone, `isAlone` by their places. Answers
 * all in the order of their bodies.
 */
export async function makeMany<B, R>(
  bodies: readonly B[],
  isAlone: readonly boolean[],
  { together, alone }: Making<B, R>,
): Promise<R[]> {
  const places = bodies.map((body, place) => ({ body, place }));
  const most = places.filter(({ place }) => isAlone[place] !== true);
  const made = most.length === 0 ? [] : await together(most.map(({ body }) => body));
  const records = new Array<R>(bodies.length);
  for (const [i, { place }] of most.entries()) {
    const record = made[i];
    if (record === undefined) throw new Error("a record was lost");
    records[place] = record;
  }
  for (const { body, place } of places) if (isAlone[place] === true) records[place] = await alone(body);
  return records;
}

/** What a body is known by, and whether there is a record of that already. */
export interface PutKey {
  readonly key: string;
  readonly isTaken: boolean;
}

/** The same where what has the key of a record that is there, or of a body before it, changes that one. `keys` are those of the bodies. */
export function putMany<B, R>(
  bodies: readonly B[],
  keys: readonly PutKey[],
  making: Making<B, R>,
): Promise<R[]> {
  const seen = new Set<string>();
  const isAlone = keys.map(({ key, isTaken }) => {
    const isKnown = isTaken || seen.has(key);
    seen.add(key);
    return isKnown;
  });
  return makeMany(bodies, isAlone, making);
}
