import type { Mutant } from "../mutant.ts";

const EVERYWHERE = ["test/server/masking.test.ts"];
const DIRECTORY = ["test/domains/ingest-rules/rule-directory.test.ts"];
const COMPILED = ["test/domains/ingest-rules/compile-rule.test.ts"];
const RULES = ["test/domains/ingest-rules/rules.test.ts"];
const JUDGED = ["test/ingest/entry-rules.test.ts"];
const RAW = ["test/ingest/masking/raw-masker.test.ts"];
const IN_PLACE = ["test/ingest/rules-at-ingest.test.ts", "test/ingest/masking"];

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
  {
    name: "of an entry whose texts are masked in place nothing else is masked",
    file: "ingest/masking/masked-texts.ts",
    find: "for (const { mask } of rules) if (!found.isOfTexts(mask, row)) return false;",
    replace: "",
    tests: IN_PLACE,
  },
  {
    name: "a number that is hidden in place stays a number",
    file: "ingest/masking/masked-texts.ts",
    find: "for (const element of elements) if (this.#isJson(row, indexedText(attrs.keys, element))) return false;",
    replace: "",
    tests: IN_PLACE,
  },
  {
    name: "a number that is hidden by its name stays a number",
    file: "ingest/masking/masked-texts.ts",
    find: "    for (let i = first; (elements[i] ?? to) < to; i++)\n      if (this.#isJson(row, indexedText(attrs.keys, elements[i] ?? 0))) return false;\n",
    replace: "",
    tests: IN_PLACE,
  },
  {
    name: "patterns are not looked for where another rule asks for names",
    file: "ingest/masking/masked-texts.ts",
    find: "const hasPatterns = rules.some(",
    replace: "const hasPatterns = rules.every(",
    tests: IN_PLACE,
  },
  {
    name: "texts are masked in the order in which they were found",
    file: "ingest/masking/masked-texts.ts",
    find: "elements.length < 2 ? elements : elements.toSorted((left, right) => left - right)",
    replace: "elements",
    tests: IN_PLACE,
  },
  {
    name: "what was masked beside the texts is left as it was",
    file: "ingest/masking/masked-texts.ts",
    find: "if (!isSame || !masked.attributes.every(",
    replace: "if (!masked.attributes.every(",
    tests: IN_PLACE,
  },
  {
    name: "what becomes a text stays what it was",
    file: "ingest/masking/masked-texts.ts",
    find: "key === received?.key && isJson === received.isJson",
    replace: "key === received?.key",
    tests: IN_PLACE,
  },
  {
    name: "what patterns find beside messages and attributes stays",
    file: "ingest/masking/findings.ts",
    find: "    this.#elsewhere[row] = 1;\n",
    replace: "",
    tests: IN_PLACE,
  },
  {
    name: "what JSON in an attribute spells otherwise stays",
    file: "ingest/masking/maskable-rows.ts",
    find: "      lookForEscapes(attrs.values, (element) => found.patternsOfRow(firstAbove(attrs.ends, element), 0xff));\n",
    replace: "",
    tests: IN_PLACE,
  },
  {
    name: "a field is masked only where it is met first",
    file: "ingest/masking/findings.ts",
    find: "if (keys[mask]?.length !== 0) this.#lookForKeys(mask);",
    replace: "",
    tests: IN_PLACE,
  },
  {
    name: "a name is taken for another of the same hash",
    file: "ingest/native/recent-texts.ts",
    find: "recent !== undefined && isSame(recent.bytes, source, start, end)",
    replace: "recent !== undefined",
    tests: ["test/ingest/native/recent-texts.test.ts"],
  },
  {
    name: "a card is missed where it begins right behind a pair that was looked at",
    file: "ingest/masking/card.ts",
    find: "at < stop; at += RUN_MIN_PAIRS)",
    replace: "at < stop; at += RUN_MIN_PAIRS + 1)",
    tests: IN_PLACE,
  },
  {
    name: "terms are not looked for beside secrets",
    file: "ingest/masking/maskable-rows.ts",
    find: "new LiteralFinder([...secrets, ...terms])",
    replace: "new LiteralFinder(secrets)",
    tests: ["test/domains/ingest-rules/compile-rule.test.ts"],
  },
];
