/**
 * Files in Parquet that hold rows of a table, read in place of it. Their names are ours: the pattern is one name, or
 * several as `start{one,other}end`. `structure` are the columns and their types as ClickHouse writes them.
 */
export type FileSource =
  | { readonly kind: "directory"; readonly pattern: string; readonly structure: string }
  | {
      readonly kind: "bucket";
      /** A named collection of the store with the address and the credentials. */
      readonly collection: string;
      readonly pattern: string;
      readonly structure: string;
    };

/** A place in a statement for a text that travels beside it. */
type AddText = (value: string) => string;

const COLLECTION_PATTERN = /^[a-z][a-z0-9_]{0,63}$/;

/** The table function that reads the files, or writes the one. Throws a RangeError for a collection not of our naming. */
export function fileTable(source: FileSource, addText: AddText): string {
  const pattern = addText(source.pattern);
  const structure = addText(source.structure);
  if (source.kind === "directory") return `file(${pattern}, 'Parquet', ${structure})`;
  if (!COLLECTION_PATTERN.test(source.collection))
    throw new RangeError(`no named collection: ${source.collection}`);
  return `s3(${source.collection}, filename = ${pattern}, format = 'Parquet', structure = ${structure})`;
}
