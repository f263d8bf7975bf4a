import { AUTH_OUTCOME, FIELD_SOURCES } from "./field-table.ts";

/** The text of docs/logical-fields.md: which names of which sources stand for what. */
export function logicalFieldReference(): string {
  const sections = FIELD_SOURCES.map(({ name, summary, column, aliases, patterns }) =>
    [
      `## ${name}`,
      "",
      summary,
      "",
      ...(column === null ? [] : [`The column \`${column}\` of the entry, then the attributes:`, ""]),
      aliases.map((alias) => `\`${alias}\``).join(", "),
      ...(patterns.length === 0
        ? []
        : ["", "Then these patterns over the message, of which the group is the value:", ""]),
      ...patterns.map((pattern) => `- \`${pattern}\``),
      "",
    ].join("\n"),
  );
  return [
    "# Logical fields",
    "",
    "Sources call one thing by many names. A logical field is the first of its names that an entry has a text for: rules join",
    "by it (`joinField`), and entities are found in it. This page is made",
    "of the table in `src/rules/fields/field-table.ts`. A dot leads into an object, wherever it begins: `client.ip` is the attribute",
    "`client.ip`, or `ip` in the attribute `client`. An object or a list is never a value.",
    "",
    ...sections,
    `## ${AUTH_OUTCOME.name}`,
    "",
    AUTH_OUTCOME.summary,
    "",
    `Attributes: ${AUTH_OUTCOME.aliases.map((alias) => `\`${alias}\``).join(", ")}, in any case.`,
    "",
    `- failure: \`${AUTH_OUTCOME.failure}\``,
    `- success: \`${AUTH_OUTCOME.success}\``,
    "",
  ].join("\n");
}
