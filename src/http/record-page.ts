import { type Static, type TObject, Type } from "typebox";
import { validationFailed } from "../errors.ts";
import { openCursor, sealCursor } from "./sealed-cursor.ts";

const PAGE_MAX = 1000;
const PAGE_DEFAULT = 100;
const ID_BYTES = 8;

export const PageParameters = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: PAGE_MAX,
      default: PAGE_DEFAULT,
      description: `How many at most; ${PAGE_DEFAULT} where it is not given.`,
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: "`nextCursor` of the page before, with the same filters.",
    }),
  ),
});

/** The answer of a list that comes in pages. */
export function pageOf<S extends TObject>(record: S) {
  return Type.Object({
    items: Type.Array(record),
    nextCursor: Type.Union([Type.String(), Type.Null()], { description: "Null on the last page." }),
  });
}

/** Where a page of records begins: those with a smaller id than the last of the page before. */
export interface PageStart {
  readonly beforeId: number | null;
  readonly limit: number;
}

/** What a list goes through: cursors of other organisations, lists or filters are none. */
interface PagedList {
  readonly key: Uint8Array;
  readonly purpose: string;
  readonly organizationId: number;
}

/** Throws VALIDATION_FAILED for a cursor that this list did not give. */
export function pageStart(
  { limit = PAGE_DEFAULT, cursor }: Static<typeof PageParameters>,
  list: PagedList,
): PageStart {
  if (cursor === undefined) return { beforeId: null, limit };
  const payload = openCursor(cursor, ID_BYTES, list);
  if (payload === null)
    throw validationFailed([{ path: "/cursor", code: "custom", message: "is no cursor of this list" }]);
  return { beforeId: Number(payload.readBigUInt64BE()), limit };
}

/** A page as it was read. */
export interface Paged<R> {
  readonly items: R[];
  readonly hasMore: boolean;
}

/** The answer, whose cursor leads to what follows. */
export function pageBody<R extends { readonly id: number }>({ items, hasMore }: Paged<R>, list: PagedList) {
  const last = items.at(-1);
  if (!hasMore || last === undefined) return { items, nextCursor: null };
  const payload = Buffer.alloc(ID_BYTES);
  payload.writeBigUInt64BE(BigInt(last.id));
  return { items, nextCursor: sealCursor(payload, list) };
}
