import type { Mutant } from "../mutant.ts";

const EVERYWHERE = ["test/server/masking.test.ts"];
const DIRECTORY = ["test/domains/ingest-rules/rule-directory.test.ts"];
const COMPILED = ["test/domains/ingest-rules/compile-rule.test.ts"];
const RULES = ["test/domains/ingest-rules/rules.test.ts"];
const JUDGED = ["test/ingest/entry-rules.test.ts"];
const RAW = ["test/ingest/masking/raw-masker.test.ts"];

/** What organisations drop and mask before it is stored. */
export const MASKING: readonly Mutant[] = [
  {
    name: "an organisation has the rules of another",
    file: "src/domains/ingest-rules/rule-directory.ts",
    find: "const known = this.#known.get(organizationId);\n    if (known === undefined) return null;",
    replace: "const [known] = this.#known.values();\n    if (known === undefined) return null;",
    tests: [...DIRECTORY, ...EVERYWHERE],
  },
  {
    name: "entries are taken in when nobody can tell their rules",
    file: "src/domains/ingest-rules/rule-directory.ts",
    find: 'throw new IngestUnavailableError("rules_unknown", "the rules for entries cannot be looked up", {\n          cause: error,\n        });',
    replace: "return null;",
    tests: DIRECTORY,
  },
  {
    name: "the rules from before a change stand in for those after it",
    file: "src/domains/ingest-rules/rule-directory.ts",
    find: "this.#known.delete(organizationId);\n    this.#flights.delete(organizationId);",
    replace: "this.#flights.delete(organizationId);",
    tests: DIRECTORY,
  },
  {
    name: "what cannot be decided is not masked",
    file: "src/domains/ingest-rules/compile-rule.ts",
    find: 'const whenUndecided = action.kind === "mask";',
    replace: "const whenUndecided = false;",
    tests: COMPILED,
  },
  {
    name: "what cannot be decided is dropped",
    file: "src/domains/ingest-rules/compile-rule.ts",
    find: 'const whenUndecided = action.kind === "mask";',
    replace: "const whenUndecided = true;",
    tests: COMPILED,
  },
  {
    name: "a rule may ask for the present",
    file: "src/domains/ingest-rules/compile-rule.ts",
    find: "if (!Bun.deepEquals(relation, later))",
    replace: "if (relation === later)",
    tests: RULES,
  },
  {
    name: "a sample keeps what it should drop",
    file: "ingest/entry-rules.ts",
    find: "random() * action.keepOneIn >= 1",
    replace: "random() * action.keepOneIn < 1",
    tests: JUDGED,
  },
  {
    name: "an entry that was dropped is stored when others are repeated",
    file: "ingest/request-entries.ts",
    find: "const passed = new Set(dropped);",
    replace: "const passed = new Set<number>();",
    tests: ["test/ingest/rules-at-ingest.test.ts"],
  },
  {
    name: "a repeated entry that is masked is stored again",
    file: "ingest/append-entries.ts",
    find: "const texts = skip.has(row) ? undefined : replaced.get(row);",
    replace: "const texts = replaced.get(row);",
    tests: ["test/ingest/rules-at-ingest.test.ts"],
  },
  {
    name: "records are quarantined unmasked",
    file: "src/receive/receive-records.ts",
    find: 'await maskedRecords(\n      this.#deps.rules,\n      organizationId,\n      outcome.rejections,\n      apart?.kind === "source" ? apart : null,\n    )',
    replace: "outcome.rejections",
    tests: EVERYWHERE,
  },
  {
    name: "samples of a learning source are kept unmasked",
    file: "src/domains/ingest-sources/receive-routes.ts",
    find: "activity.record(source, received, texts);",
    replace: "activity.record(source, received, learned ?? decoder.learned.texts);",
    tests: EVERYWHERE,
  },
  {
    name: "the first of two members of a name is kept",
    file: "ingest/masking/raw-masker.ts",
    find: "return masked === parsed.value ? this.#text(text) : JSON.stringify(masked);",
    replace: "return masked === parsed.value ? text : JSON.stringify(masked);",
    tests: RAW,
  },
];
