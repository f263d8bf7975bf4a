type Fields = Readonly<Record<string, unknown>>;

/** A record that another program's has become, with what of it has not been taken over. */
export interface ImportedRecord {
  readonly kind: string;
  readonly key: string;
  readonly fields: Fields;
  readonly notes: readonly string[];
}

/** What is read out of another program, until it is written into files. */
export class Imported {
  readonly records: ImportedRecord[] = [];
  /** By kind: what has become no record. */
  readonly leftOut = new Map<string, string[]>();
  /** By the names of files: what nobody should read. */
  readonly secrets = new Map<string, string>();
  readonly #keys = new Set<string>();

  /** A key for a record of that name, of which there is no other. */
  keyFor(kind: string, name: string): string {
    const base = slugOf(name) || kind;
    let key = base;
    for (let number = 2; this.#keys.has(`${kind}/${key}`); number++) key = `${base}-${number}`;
    this.#keys.add(`${kind}/${key}`);
    return key;
  }

  add(kind: string, key: string, fields: Fields, notes: readonly string[]): void {
    this.records.push({ kind, key, fields: said(fields), notes });
  }

  leaveOut(kind: string, what: string): void {
    this.leftOut.set(kind, [...(this.leftOut.get(kind) ?? []), what]);
  }

  /** Keeps a secret in a file of its own and answers what stands for it. */
  secret(name: string, value: string): { readonly secret: string } {
    const file = `secrets/${slugOf(name)}`;
    this.secrets.set(file, value);
    return { secret: `file:${file}` };
  }
}

const SLUG_MAX_CHARS = 60;

/** Small letters, digits and single hyphens of a name. */
export function slugOf(name: string): string {
  const words = name
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-");
  return words.slice(0, SLUG_MAX_CHARS).replaceAll(/^-+|-+$/g, "");
}

/** Fields without those of which nothing is said. */
function said(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  );
}
