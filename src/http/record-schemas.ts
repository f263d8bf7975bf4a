import {
  type TInteger,
  type TNull,
  type TObject,
  type TOptional,
  type TSchema,
  type TString,
  type TUnion,
  Type,
} from "typebox";

type Fields = Readonly<Record<string, TSchema>>;
type Optional<F extends Fields> = { [Name in keyof F]: TOptional<F[Name]> };
type Nullable<F extends Fields> = { [Name in keyof F]: TUnion<[F[Name], TNull]> };

/** The id of a record in a path: decimal digits; what is no id is 404, as an unknown one is. */
export const IdParams = Type.Object({ id: Type.String({ pattern: "^[1-9][0-9]{0,14}$" }) });

const Time = Type.String({ format: "date-time" });

function nullable<S extends TSchema>(schema: S): TUnion<[S, TNull]> {
  return Type.Union([schema, Type.Null()]);
}

/** What every record has besides its fields. */
type Stamps = { id: TInteger; createdAt: TString; updatedAt: TString };

interface RecordSchemas<R extends Fields, O extends Fields> {
  /** Body of POST: what is optional may be absent. */
  readonly create: TObject<R & Optional<O>>;
  /** Body of PATCH: what is absent stays as it is, null takes an optional field away. */
  readonly update: TObject<Optional<R> & Optional<Nullable<O>>>;
  /** The record as it is answered: what is optional and not set is null. */
  readonly record: TObject<Stamps & R & Nullable<O>>;
}

/** The three schemas of a kind of record, from one list of its fields. The document calls them after `name`. */
export function recordSchemas<R extends Fields, O extends Fields>(fields: {
  readonly name: string;
  readonly required: R;
  readonly optional: O;
}): RecordSchemas<R, O> {
  const required = mapped<R, Optional<R>>(fields.required, Type.Optional);
  const optional = mapped<O, Optional<O>>(fields.optional, Type.Optional);
  const clearable = mapped<O, Nullable<O>>(fields.optional, nullable);
  const closed = { additionalProperties: false };
  return {
    create: Type.Object({ ...fields.required, ...optional }, { $id: `Create${fields.name}`, ...closed }),
    update: Type.Object(
      { ...required, ...mapped<Nullable<O>, Optional<Nullable<O>>>(clearable, Type.Optional) },
      { $id: `Update${fields.name}`, ...closed },
    ),
    record: Type.Object(
      {
        id: Type.Integer({ examples: [17] }),
        ...fields.required,
        ...clearable,
        createdAt: Time,
        updatedAt: Time,
      },
      { $id: fields.name },
    ),
  };
}

/** Every field changed in the same way; `G` says what that makes of each. */
function mapped<F extends Fields, G extends Record<keyof F, TSchema>>(
  fields: F,
  change: (schema: TSchema) => TSchema,
): G {
  const made = Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, change(schema)]));
  if (!hasNames<G>(made, Object.keys(fields))) throw new Error("a field was lost");
  return made;
}

/** Whether an object has the names of `G`; what stands under them was made by `change`. */
function hasNames<G extends Fields>(made: Fields, names: readonly string[]): made is G {
  return names.every((name) => name in made);
}
