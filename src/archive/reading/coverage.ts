import { type Static, Type } from "typebox";
import type { ArchivedFile } from "./store.ts";

export const ReadWarning = Type.Object(
  {
    code: Type.Enum(
      [
        "ARCHIVED_DAY_UNREADABLE",
        "ARCHIVE_NOT_ASKED",
        "ENTRIES_MOVING",
        "NO_SUCH_ATTRIBUTE",
        "NO_SUCH_TABLE",
      ],
      { examples: ["ARCHIVED_DAY_UNREADABLE"] },
    ),
    day: Type.Union([Type.String({ format: "date" }), Type.Null()], {
      description: "The day of receipt whose entries may be missing; null where it is not one day.",
      examples: ["2026-01-31"],
    }),
    message: Type.String({ examples: ["Archived entries received on 2026-01-31 cannot be read."] }),
    name: Type.Optional(
      Type.String({
        description: "Of NO_SUCH_ATTRIBUTE and NO_SUCH_TABLE: the name in the query.",
        examples: ["levle"],
      }),
    ),
    start: Type.Optional(Type.Integer({ description: "Its place in the query, from 0.", examples: [0] })),
    end: Type.Optional(Type.Integer({ examples: [5] })),
    suggestion: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: "What was probably meant.",
        examples: ["level"],
      }),
    ),
  },
  { $id: "ReadWarning" },
);
export type ReadWarning = Static<typeof ReadWarning>;

/** What every answer made of stored entries says of what it was made of. */
export const COVERAGE_PROPERTIES = {
  partial: Type.Boolean({
    description:
      "Whether entries may be missing because a part of the store did not answer; `warnings` say which.",
    examples: [false],
  }),
  warnings: Type.Array(ReadWarning, {
    description:
      "Why the answer is partial, which names of the query no entry seems to have, and which tables `union isfuzzy=true` goes on without.",
    examples: [[]],
  }),
};

/** What of the archive an answer was made of. */
export const ArchiveStats = Type.Object(
  {
    files: Type.Integer({
      description: "Archived files that could have entries of the answer.",
      examples: [0],
    }),
    rows: Type.Integer({ description: "Entries they hold; those read count in `rowsRead`.", examples: [0] }),
    bytes: Type.Integer({
      description: "Their size; what was read of it counts in `bytesRead`.",
      examples: [0],
    }),
  },
  { $id: "ArchiveStats", description: "What of the archive was looked into." },
);
type ArchiveStats = Static<typeof ArchiveStats>;

/** What an answer was made of. */
export interface Coverage {
  readonly partial: boolean;
  readonly warnings: ReadWarning[];
  readonly archive: ArchiveStats;
}

/** Collects what an answer is made of while it is read. */
export class CoverageTally {
  readonly #read = new Map<string, ArchivedFile>();
  readonly #unreadable = new Map<string, ArchivedFile>();
  #notAsked = false;
  #moving = false;

  addRead(files: readonly ArchivedFile[]): void {
    for (const file of files) this.#read.set(file.name, file);
  }

  addUnreadable(files: readonly ArchivedFile[]): void {
    for (const file of files) this.#unreadable.set(file.name, file);
  }

  get unreadableFiles(): number {
    return this.#unreadable.size;
  }

  isUnreadable({ name }: ArchivedFile): boolean {
    return this.#unreadable.has(name);
  }

  /** The ledger did not say which files there are. */
  setNotAsked(): void {
    this.#notAsked = true;
  }

  setMoving(): void {
    this.#moving = true;
  }

  finish(): Coverage {
    const warnings: ReadWarning[] = [...new Set([...this.#unreadable.values()].map(({ day }) => day))]
      .sort()
      .map((day) => ({
        code: "ARCHIVED_DAY_UNREADABLE",
        day,
        message: `Archived entries received on ${day} cannot be read.`,
      }));
    if (this.#notAsked)
      warnings.push({
        code: "ARCHIVE_NOT_ASKED",
        day: null,
        message: "It is not known at present which entries the archive has; archived ones are missing.",
      });
    if (this.#moving)
      warnings.push({
        code: "ENTRIES_MOVING",
        day: null,
        message: "Entries were moving to the archive all the while; some may be missing. Ask again.",
      });
    const files = [...this.#read.values()].filter((file) => !this.isUnreadable(file));
    return {
      partial: warnings.length > 0,
      warnings,
      archive: {
        files: files.length,
        rows: files.reduce((sum, { rows }) => sum + rows, 0),
        bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
      },
    };
  }
}
