import fc from "fast-check";

export type Schema = Readonly<Record<string, unknown>>;

/** Patterns beyond what can be drawn from, by what they admit. */
const DRAWN_BY_HAND: Readonly<Record<string, fc.Arbitrary<string>>> = {
  "^[^\\p{Cc}\\p{Cs}]*[^\\p{Cc}\\p{Cs}\\p{Z}][^\\p{Cc}\\p{Cs}]*$": fc.stringMatching(
    /^[ -~]{0,20}[!-~][ -~äöü]{0,20}$/,
  ),
  "^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$":
    fc.stringMatching(/^[a-z0-9]{1,20}\.invalid$/),
};
/** What nobody is reached under: such arguments make the server look names up and send mails. */
const NOWHERE = "obs-test.invalid";
const FORMATS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  "date-time": fc
    .date({ min: new Date("2026-01-01"), max: new Date("2026-12-31"), noInvalidDate: true })
    .map((date) => date.toISOString()),
  uri: fc.stringMatching(/^[a-z0-9/]{0,20}$/).map((path) => `https://${NOWHERE}/${path}`),
  email: fc.stringMatching(/^[a-z0-9]{1,20}$/).map((name) => `${name}@${NOWHERE}`),
};
const LIST_MAX = 3;
const TEXT_MAX = 40;

/** Values of members by their names, where a schema does not say all of them: such members are always there; null leaves one out. */
export type ByName = Readonly<Record<string, fc.Arbitrary<unknown> | null>>;

/** Values that a JSON Schema admits, for the keywords that our tools use. Throws an Error for another one. */
export function valuesOf(schema: Schema, byName: ByName = {}): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  if (Array.isArray(schema.anyOf)) return fc.oneof(...schema.anyOf.map((one) => valuesOf(one, byName)));
  switch (schema.type) {
    case "string":
      return textsOf(schema);
    case "integer":
      return fc.integer({ min: numberOf(schema.minimum, -1000), max: numberOf(schema.maximum, 1_000_000) });
    case "number":
      return fc.double({
        ...{ min: numberOf(schema.minimum, -1000), max: numberOf(schema.maximum, 1_000_000), noNaN: true },
      });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return listsOf(schema, byName);
    case "object":
      return objectsOf(schema, byName);
    case undefined:
      return fc.jsonValue({ maxDepth: 1 });
    default:
      throw new Error(`no values for ${JSON.stringify(schema)}`);
  }
}

function textsOf(schema: Schema): fc.Arbitrary<unknown> {
  const min = numberOf(schema.minLength, 0);
  const max = numberOf(schema.maxLength, Number.POSITIVE_INFINITY);
  const fits = (text: string): boolean => [...text].length >= min && [...text].length <= max;
  const byFormat = FORMATS[String(schema.format)];
  if (byFormat !== undefined) return byFormat.filter(fits);
  if (typeof schema.pattern === "string") {
    const drawn = DRAWN_BY_HAND[schema.pattern] ?? fc.stringMatching(new RegExp(schema.pattern, "u"));
    return drawn.filter(fits);
  }
  return fc.string({
    minLength: min,
    maxLength: Math.max(min, Math.min(max, TEXT_MAX)),
    unit: "grapheme-ascii",
  });
}

function listsOf(schema: Schema, byName: ByName): fc.Arbitrary<unknown> {
  const minLength = numberOf(schema.minItems, 0);
  const maxLength = Math.max(minLength, Math.min(numberOf(schema.maxItems, LIST_MAX), LIST_MAX));
  const items = valuesOf(isSchema(schema.items) ? schema.items : {}, byName);
  return schema.uniqueItems === true
    ? fc.uniqueArray(items, { minLength, maxLength, selector: (item) => JSON.stringify(item) })
    : fc.array(items, { minLength, maxLength });
}

function objectsOf(schema: Schema, byName: ByName): fc.Arbitrary<unknown> {
  const properties = isSchema(schema.properties) ? Object.entries(schema.properties) : [];
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const members = properties.flatMap(([name, member]): [string, fc.Arbitrary<unknown>][] => {
    const named = Object.hasOwn(byName, name) ? byName[name] : undefined;
    return named === null ? [] : [[name, named ?? valuesOf(isSchema(member) ? member : {}, byName)]];
  });
  const present = members.map(([name]) => name);
  const named = fc.record(Object.fromEntries(members), {
    requiredKeys: present.filter((name) => required.includes(name) || Object.hasOwn(byName, name)),
  });
  const [pattern] = isSchema(schema.patternProperties) ? Object.entries(schema.patternProperties) : [];
  if (pattern === undefined) return named;
  const [names, value] = pattern;
  const keys = names === "^.*$" ? fc.stringMatching(/^[a-z]{1,10}$/) : fc.stringMatching(/^[A-Za-z]{1,10}$/);
  return fc.dictionary(keys, valuesOf(isSchema(value) ? value : {}, byName), {
    ...{ minKeys: numberOf(schema.minProperties, 0), maxKeys: LIST_MAX },
  });
}

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
