/** Milliseconds of the thread that making a large answer takes at once; everybody else waits for as long. */
const THREAD_SLICE_MS = 8;

let lastTurn: Promise<void> = Promise.resolve();

/**
 * Resolves in a turn of the event loop that no other waits for: whoever makes something large does it in slices, each
 * in a turn of its own, and however many do so, between two slices everybody else's requests go on.
 */
function nextTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => new Promise((resolve) => setImmediate(resolve)));
  return lastTurn;
}

/** Says when a piece of work has had the thread for long enough. */
export class ThreadSlice {
  #startMs = performance.now();

  get isOver(): boolean {
    return performance.now() - this.#startMs > THREAD_SLICE_MS;
  }

  /** Lets others have the thread; the next slice begins when it resolves. */
  async yield(): Promise<void> {
    await nextTurn();
    this.#startMs = performance.now();
  }
}

/** What `make` makes of each, in slices. */
export async function mapInSlices<T, R>(values: Iterable<T>, make: (value: T) => R): Promise<R[]> {
  const slice = new ThreadSlice();
  const made: R[] = [];
  for (const value of values) {
    made.push(make(value));
    if (slice.isOver) await slice.yield();
  }
  return made;
}

/** Joins texts into pieces of a size that is worth sending, in slices. */
export async function* piecesOf(
  texts: Iterable<string>,
  pieceChars: number,
): AsyncGenerator<string, undefined> {
  const slice = new ThreadSlice();
  let piece = "";
  for (const text of texts) {
    piece += text;
    if (piece.length >= pieceChars) {
      yield piece;
      piece = "";
    }
    if (slice.isOver) await slice.yield();
  }
  if (piece !== "") yield piece;
}
