/** What two sets of rows have in common when they are the same rows. */
export interface RowsDigest {
  readonly rows: number;
  /** Sum of the hashes of all columns, so that the order does not matter. */
  readonly checksum: string;
}

/** What two sets of entries have in common when they are the same entries, whatever they say. */
export interface IdsDigest {
  readonly rows: number;
  readonly ids: string;
}

export interface FileDigest extends RowsDigest, IdsDigest {
  readonly firstOrganizationId: number;
  readonly lastOrganizationId: number;
  readonly minTs: bigint;
  readonly maxTs: bigint;
  readonly bytes: number;
}
