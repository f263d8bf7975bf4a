export type JsonObject = { readonly [name: string]: unknown };

/** Members of a schema that hold values of any form, in which nothing is a schema. */
const VALUES = new Set(["examples", "default", "const", "enum"]);

/**
 * What of a document stands once and is referred to. A schema that has a name, its `$id`, is lifted out of wherever it
 * stands, also out of another one.
 */
export class Components {
  readonly #schemas = new Map<string, string>();
  readonly #responses = new Map<string, JsonObject>();
  /** What was made of each schema: many stand in several places. */
  readonly #made = new WeakMap<JsonObject, JsonObject>();

  /** A schema with references in place of those in it that have names. Throws an Error for a name of two different ones. */
  schema(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((item: unknown) => this.schema(item));
    if (!isJsonObject(schema)) return schema;
    const known = this.#made.get(schema);
    if (known !== undefined) return known;
    const made = this.#lift(schema);
    this.#made.set(schema, made);
    return made;
  }

  /** A reference to the response of a name, which is made when it is first asked for. */
  response(name: string, make: () => JsonObject): JsonObject {
    if (!this.#responses.has(name)) this.#responses.set(name, make());
    return { $ref: `#/components/responses/${name}` };
  }

  /** What was lifted so far, by name. */
  lifted(): { readonly schemas: JsonObject; readonly responses: JsonObject } {
    const schemas = [...this.#schemas].map(([name, text]): [string, unknown] => [name, JSON.parse(text)]);
    return { schemas: sorted(schemas), responses: sorted([...this.#responses]) };
  }

  #lift({ $id: name, ...members }: JsonObject): JsonObject {
    const lifted: JsonObject = Object.fromEntries(
      Object.entries(members).map(([key, member]) => [key, VALUES.has(key) ? member : this.schema(member)]),
    );
    // In a list of properties it is one of them.
    if (typeof name !== "string") return name === undefined ? lifted : { ...lifted, $id: this.schema(name) };
    const text = JSON.stringify(lifted);
    const known = this.#schemas.get(name);
    if (known !== undefined && known !== text) throw new Error(`two different schemas are called ${name}`);
    this.#schemas.set(name, text);
    return { $ref: `#/components/schemas/${name}` };
  }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function sorted(entries: readonly (readonly [string, unknown])[]): JsonObject {
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
