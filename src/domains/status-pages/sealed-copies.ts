import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Type } from "typebox";
import type { SecretBox } from "../../access/secret-box.ts";
import { lateCheck } from "../../late-check.ts";
import type { PublishedPage } from "./read-page.ts";
import { PublicPage } from "./types.ts";

const PURPOSE = "status-page-copy";
const EXTENSION = ".sealed";
/** The copies of a directory that are opened at a start. */
const READ_MAX = 2_000;

const Copy = lateCheck(
  Type.Object({
    id: Type.Integer(),
    organizationId: Type.Integer(),
    page: PublicPage,
    customDomain: Type.Union([Type.String(), Type.Null()]),
    passwordHash: Type.Union([Type.String(), Type.Null()]),
    passwordVersion: Type.Integer(),
  }),
);

/** The copies of a server. */
export function copiesIn(dataDirectory: string, box: SecretBox): SealedCopies {
  return new SealedCopies({ directory: join(dataDirectory, "status-pages"), box });
}

/**
 * Copies of pages on disk, encrypted, for the hash of a password is among what they hold. One that is torn or of another key
 * is as good as none.
 */
export class SealedCopies {
  readonly #directory: string;
  readonly #box: SecretBox;

  constructor({ directory, box }: { directory: string; box: SecretBox }) {
    this.#directory = directory;
    this.#box = box;
  }

  async write(page: PublishedPage): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const path = this.#pathOf(page.page.slug);
    const temporary = `${path}.${crypto.randomUUID()}.new`;
    await writeFile(temporary, this.#box.seal(JSON.stringify(page), PURPOSE), { mode: 0o600 });
    await rename(temporary, path);
  }

  async read(slug: string): Promise<PublishedPage | null> {
    return this.#open(this.#pathOf(slug));
  }

  async readAll(): Promise<PublishedPage[]> {
    const pages: PublishedPage[] = [];
    for (const name of (await this.#names()).slice(0, READ_MAX)) {
      const page = await this.#open(join(this.#directory, name));
      if (page !== null) pages.push(page);
    }
    return pages;
  }

  /** Removes the copies of every other page. */
  async keepOnly(slugs: readonly string[]): Promise<void> {
    const wanted = new Set(slugs.map(nameOf));
    for (const name of await this.#names())
      if (!wanted.has(name)) await rm(join(this.#directory, name), { force: true });
  }

  async #names(): Promise<string[]> {
    const names = await readdir(this.#directory).catch(unlessMissing);
    return (names ?? []).filter((name) => name.endsWith(EXTENSION));
  }

  async #open(path: string): Promise<PublishedPage | null> {
    const sealed = await readFile(path).catch(unlessMissing);
    if (sealed === null) return null;
    const copy = this.#unsealed(sealed);
    return Copy.Check(copy) ? copy : null;
  }

  #unsealed(sealed: Uint8Array): unknown {
    try {
      return JSON.parse(this.#box.open(sealed, PURPOSE));
    } catch {
      return null;
    }
  }

  #pathOf(slug: string): string {
    return join(this.#directory, nameOf(slug));
  }
}

/** No name of a file says which page it is of. */
function nameOf(slug: string): string {
  return `${createHash("sha256").update(slug).digest("hex")}${EXTENSION}`;
}

function unlessMissing(error: unknown): null {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
  throw error;
}
