export type JsonObject = { readonly [name: string]: unknown };

/** Members of a schema that hold values of any form, in which nothing is a schema. */
const VALUES = new Set(["examples", "default", "const", "enum"]);

/**
 * What of a document stands once and is referred to. A schema that has a name, its `$id`, is lifted out of wherever it
 * stands, also out of another one.
 */
export class Components {
  readonly #kinds = { schemas: new Map<string, string>(), responses: new Map<string, string>() };

  /** A schema with references in place of those in it that have names. Throws an Error for a name of two different ones. */
  schema(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((item: unknown) => this.schema(item));
    if (!isJsonObject(schema)) return schema;
    const { $id: name, ...rest } = schema;
    const members = Object.entries(typeof name === "string" ? rest : schema).map(([key, member]) => [
      key,
      VALUES.has(key) ? member : this.schema(member),
    ]);
    const lifted: JsonObject = Object.fromEntries(members);
    return typeof name === "string" ? this.#refer("schemas", name, lifted) : lifted;
  }

  /** A reference to a response. */
  response(name: string, response: JsonObject): JsonObject {
    return this.#refer("responses", name, response);
  }

  /** What was lifted so far, by name. */
  lifted(): { readonly schemas: JsonObject; readonly responses: JsonObject } {
    return { schemas: sorted(this.#kinds.schemas), responses: sorted(this.#kinds.responses) };
  }

  #refer(kind: "schemas" | "responses", name: string, content: JsonObject): JsonObject {
    const text = JSON.stringify(content);
    const known = this.#kinds[kind].get(name);
    if (known !== undefined && known !== text) throw new Error(`two different ${kind} are called ${name}`);
    this.#kinds[kind].set(name, text);
    return { $ref: `#/components/${kind}/${name}` };
  }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function sorted(texts: ReadonlyMap<string, string>): JsonObject {
  const entries = [...texts].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, text]): [string, unknown] => [name, JSON.parse(text)]));
}
