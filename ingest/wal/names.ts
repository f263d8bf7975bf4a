import { join } from "node:path";
import { writeFileAtomically } from "./atomic-file.ts";
import { hash64 } from "./checksum.ts";
import { identityText, newIdentity } from "./identity.ts";
import { isMissingFile, readFully, type WalIo } from "./io.ts";
import { NAMES_MAX } from "./limits.ts";
import type { Reserve } from "./reserve.ts";

const FILE_NAME = "names";
/** Far more than `NAMES_MAX` names take. */
const FILE_BYTES_MAX = 64 * 1024;

/** What the log is called from a position on. */
interface LogName {
  readonly since: number;
  readonly name: string;
}

interface Recorded {
  /** The directory that the newest name was made for, see `WalIo.placeOf`. */
  readonly place: string | null;
  readonly names: readonly LogName[];
}

/**
 * What the log is called outside of its files: in tokens, and wherever somebody asks it later what it holds. The identity
 * in its records is copied along with them; a copy takes a name of its own for what it writes itself, so that it never
 * says anything in the name of its original. What it found keeps the name under which the original may be inserting it.
 */
export class LogNames {
  /** Oldest first, at least one. */
  readonly #names: readonly LogName[];

  private constructor(names: readonly LogName[]) {
    this.#names = names;
  }

  /**
   * The names of the log in `directory`, whose records have `identity` and whose next one begins at `nextPosition`. Where
   * the file system does not tell directories apart, a copy is not noticed.
   */
  static async open(
    io: WalIo,
    directory: string,
    reserve: Reserve,
    { identity, nextPosition }: { identity: bigint; nextPosition: number },
  ): Promise<LogNames> {
    const place = await io.placeOf(directory);
    const first = [{ since: 0, name: identityText(identity) }];
    const recorded = await load(io, directory);
    if (recorded !== "missing" && recorded !== "unreadable" && recorded.place === place)
      return new LogNames(recorded.names);
    const before = typeof recorded === "string" ? first : recorded.names;
    const own = { since: nextPosition, name: identityText(newIdentity()) };
    // Without a record the log is new, or of a server that made none.
    const isOwn =
      recorded === "missing" || (recorded !== "unreadable" && [recorded.place, place].includes(null));
    const names = isOwn ? before : [...before, own].slice(-NAMES_MAX);
    await reserve.spend(() => writeFileAtomically(io, directory, FILE_NAME, encode({ place, names })));
    return new LogNames(names);
  }

  /** For what is written from now on. */
  get present(): string {
    return this.at(Number.POSITIVE_INFINITY);
  }

  /** Those before the present one, oldest first. */
  get earlier(): readonly string[] {
    return this.#names.slice(0, -1).map(({ name }) => name);
  }

  /** For what begins at this position. */
  at(position: number): string {
    const [oldest] = this.#names;
    const name = this.#names.findLast(({ since }) => since <= position) ?? oldest;
    if (name === undefined) throw new Error("a log has a name");
    return name.name;
  }

  /** Where the name ends that `position` has. */
  endAt(position: number): number {
    return this.#names.find(({ since }) => since > position)?.since ?? Number.POSITIVE_INFINITY;
  }
}

async function load(io: WalIo, directory: string): Promise<Recorded | "missing" | "unreadable"> {
  try {
    const file = await io.open(join(directory, FILE_NAME), "read");
    try {
      return decode(await readFully(file, 0, FILE_BYTES_MAX)) ?? "unreadable";
    } finally {
      await file.close();
    }
  } catch (error) {
    if (isMissingFile(error)) return "missing";
    throw error;
  }
}

/** A line with the hash of the second one, which is JSON. */
function encode(recorded: Recorded): Uint8Array {
  const json = JSON.stringify(recorded);
  return new TextEncoder().encode(`${hashText(json)}\n${json}\n`);
}

function decode(bytes: Uint8Array): Recorded | undefined {
  const [hash, json = ""] = new TextDecoder().decode(bytes).split("\n");
  if (hash !== hashText(json)) return undefined;
  const recorded: unknown = JSON.parse(json);
  return isRecorded(recorded) ? recorded : undefined;
}

function hashText(json: string): string {
  return identityText(hash64(new TextEncoder().encode(json)));
}

function isRecorded(value: unknown): value is Recorded {
  if (typeof value !== "object" || value === null || !("place" in value) || !("names" in value)) return false;
  const { place, names } = value;
  return (
    (place === null || typeof place === "string") &&
    Array.isArray(names) &&
    names.length > 0 &&
    names.every(({ since, name }) => Number.isSafeInteger(since) && typeof name === "string")
  );
}
