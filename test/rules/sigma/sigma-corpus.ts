/**
 * A corpus of the shapes that the public rules of Sigma have, made from a seed: which products they are about, which modifiers,
 * values and conditions they use, and how often. The texts are ours.
 */

import type { Converted } from "../../../src/rules/sigma/convert.ts";

/** A document, and of a shape that is refused the place that has to be told. */
interface CorpusDocument {
  readonly yaml: string;
  readonly refusedAt: string | null;
}

class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 to below 1, the same ones for the same seed. Source: "Mulberry32". */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  /** One of some by their weights. */
  of<T>(weighted: readonly (readonly [number, T])[]): T {
    let at = this.next() * weighted.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, value] of weighted) {
      at -= weight;
      if (at < 0) return value;
    }
    throw new RangeError("nothing to choose from");
  }

  any<T>(values: readonly T[]): T {
    return this.of(values.map((value) => [1, value] as const));
  }
}

interface Source {
  readonly logsource: Readonly<Record<string, string>>;
  readonly fields: readonly string[];
  /** Fields that hold addresses. */
  readonly addresses: readonly string[];
}

const windows = (category: string, fields: readonly string[], addresses: readonly string[] = []): Source => ({
  ...{ logsource: { product: "windows", category }, fields, addresses },
});

/** About three quarters are about Windows, and half of those about processes. */
const SOURCES: readonly (readonly [number, Source])[] = [
  [40, windows("process_creation", ["Image", "CommandLine", "ParentImage", "OriginalFileName", "User"])],
  [7, windows("registry_set", ["TargetObject", "Details", "Image"])],
  [6, windows("file_event", ["TargetFilename", "Image"])],
  [5, windows("ps_script", ["ScriptBlockText"])],
  [4, windows("image_load", ["ImageLoaded", "Image", "Signed"])],
  [3, windows("network_connection", ["Image", "DestinationHostname"], ["DestinationIp"])],
  [2, windows("dns_query", ["QueryName", "Image"])],
  [2, windows("pipe_created", ["PipeName", "Image"])],
  [7, serviceOf("windows", "security", ["EventID", "TargetUserName", "ObjectName"], ["IpAddress"])],
  [3, serviceOf("windows", "system", ["EventID", "Provider_Name", "ServiceName", "ImagePath"])],
  [
    6,
    {
      logsource: { product: "linux", category: "process_creation" },
      ...{ fields: ["Image", "CommandLine", "ParentImage"], addresses: [] },
    },
  ],
  [3, serviceOf("linux", "auditd", ["type", "a0", "a1", "exe", "name"])],
  [
    2,
    {
      logsource: { product: "macos", category: "process_creation" },
      fields: ["Image", "CommandLine"],
      addresses: [],
    },
  ],
  [
    4,
    serviceOf(
      "aws",
      "cloudtrail",
      ["eventSource", "eventName", "errorCode", "userAgent"],
      ["sourceIPAddress"],
    ),
  ],
  [4, serviceOf("azure", "activitylogs", ["operationName", "properties.message", "ResultType"])],
  [2, serviceOf("okta", "okta", ["eventtype", "displaymessage", "outcome.reason"])],
  [1, serviceOf("gcp", "gcp.audit", ["gcp.audit.method_name", "gcp.audit.service_name"])],
  [1, serviceOf("github", "audit", ["action", "actor"])],
  [
    3,
    {
      logsource: { category: "webserver" },
      fields: ["cs-method", "cs-uri-query", "sc-status"],
      addresses: ["c-ip"],
    },
  ],
  [2, { logsource: { category: "proxy" }, fields: ["c-uri", "c-useragent", "cs-host"], addresses: ["c-ip"] }],
];

function serviceOf(
  product: string,
  service: string,
  fields: readonly string[],
  addresses: readonly string[] = [],
): Source {
  return { logsource: { product, service }, fields, addresses };
}

const WORDS =
  "agent build cache deploy export fetch grant host import job key list mount node open print query run sync task".split(
    " ",
  );

/** The corpus of a seed: as many documents as are asked for, correlations with the rules that they name. */
export function sigmaCorpus(count: number, seed: number): CorpusDocument[] {
  const dice = new Dice(seed);
  const documents: CorpusDocument[] = [];
  while (documents.length < count) {
    const number = documents.length;
    if (dice.next() < 0.012) documents.push(...correlated(dice, number));
    else documents.push(ruleOf(dice, number));
  }
  return documents;
}

/** What is refused, as rare as it is among the public rules, and where that stands. */
const REFUSED: readonly (readonly [
  number,
  { readonly field: string; readonly value: string; readonly at: string },
])[] = [
  [4, { field: "User|expand", value: "'%administrators%'", at: "/detection/refused/User|expand" }],
  [4, { field: "CommandLine|re", value: "'run(?!ner)\\d+'", at: "/detection/refused/CommandLine|re" }],
];

function ruleOf(dice: Dice, number: number, name: string | null = null): CorpusDocument {
  const source = dice.of(SOURCES);
  const refused = name === null && dice.next() < 0.008 ? dice.of(REFUSED) : null;
  const selections = selectionsOf(dice, source);
  const names = selections.map(([each]) => each);
  const lines = [
    ...headOf(dice, number, name),
    "logsource:",
    ...Object.entries(source.logsource).map(([key, value]) => `    ${key}: ${value}`),
    "detection:",
    ...selections.flatMap(([each, body]) => [`    ${each}:`, ...body]),
    ...(refused === null ? [] : ["    refused:", `        ${refused.field}: ${refused.value}`]),
    `    condition: ${conditionOf(dice, names)}${refused === null ? "" : " and refused"}`,
    "falsepositives:",
    "    - Work of administrators",
    `level: ${dice.of([
      [1, "informational"],
      [4, "low"],
      [10, "medium"],
      [9, "high"],
      [2, "critical"],
    ])}`,
  ];
  return { yaml: `${lines.join("\n")}\n`, refusedAt: refused === null ? null : refused.at };
}

function headOf(dice: Dice, number: number, name: string | null): string[] {
  const hex = number.toString(16).padStart(12, "0");
  return [
    `title: ${phrase(dice, 4)} ${number}`,
    `id: 00000000-0000-4000-8000-${hex}`,
    ...(name === null ? [] : [`name: ${name}`]),
    "status: test",
    `description: ${phrase(dice, 14)}`,
    "references:",
    ...Array.from(
      { length: dice.between(1, 3) },
      () => `    - https://example.com/${dice.any(WORDS)}/${number}`,
    ),
    "author: Somebody",
    "date: 2026-01-02",
    "tags:",
    "    - attack.execution",
    `    - attack.t${dice.between(1001, 1650)}`,
  ];
}

/** One to four selections, and in every third rule filters. */
function selectionsOf(dice: Dice, source: Source): [string, string[]][] {
  const count = dice.of([
    [50, 1],
    [25, 2],
    [15, 3],
    [10, 4],
  ]);
  const selections = Array.from({ length: count }, (_, i): [string, string[]] => [
    count === 1 ? "selection" : `selection_${WORDS[i]}`,
    bodyOf(dice, source),
  ]);
  const filters = dice.of([
    [66, 0],
    [20, 1],
    [14, 2],
  ]);
  for (let i = 0; i < filters; i++) selections.push([`filter_main_${WORDS[i]}`, bodyOf(dice, source)]);
  return selections;
}

function bodyOf(dice: Dice, source: Source): string[] {
  if (dice.next() < 0.02)
    return Array.from({ length: dice.between(1, 6) }, () => `        - '${phrase(dice, 2)}'`);
  const isList = dice.next() < 0.15;
  const maps = Array.from({ length: isList ? 2 : 1 }, () => {
    const names = new Set(Array.from({ length: dice.between(1, 3) }, () => dice.any(source.fields)));
    // No name twice in a map: of two ranges of addresses the last one stays.
    const fields = new Map(
      [...names].map((field) => fieldOf(dice, source, field)).map((lines) => [lines[0], lines]),
    );
    return [...fields.values()].flat();
  });
  if (!isList) return maps.flat().map((line) => `        ${line}`);
  return maps.flatMap((lines) => lines.map((line, i) => `        ${i === 0 ? "- " : "  "}${line}`));
}

const PATTERN = "'(?i)\\\\[a-z]{2,8}\\d+\\.(?:exe|dll)'";

function fieldOf(dice: Dice, source: Source, field: string): string[] {
  if (field === "EventID") return [`EventID: ${dice.between(1, 7045)}`];
  const [address] = source.addresses;
  const kind = dice.of([
    [30, "contains"],
    [28, "endswith"],
    [8, "startswith"],
    [8, "contains|all"],
    [20, ""],
    [2, "re"],
    [1.5, "windash"],
    [1.5, "cidr"],
    [0.5, "base64offset"],
    [0.3, "exists"],
    [0.2, "fieldref"],
  ]);
  switch (kind) {
    case "re":
      return [`${field}|re: ${PATTERN}`];
    case "cidr":
      return address === undefined
        ? [`${field}: null`]
        : [`${address}|cidr:`, "    - '10.0.0.0/8'", "    - '192.0.2.0/24'", "    - 'fd00::/8'"];
    case "windash":
      return [`${field}|contains|windash: ' -${dice.any(WORDS)} '`];
    case "base64offset":
      return [`${field}|base64offset|contains: '${dice.any(WORDS)}://'`];
    case "exists":
      return [`${field}|exists: true`];
    case "fieldref":
      return [`${field}|fieldref: ${source.fields[0]}`];
    default: {
      const count = dice.of([
        [45, 1],
        [40, 6],
        [13, 15],
        [2, 90],
      ]);
      const name = kind === "" ? field : `${field}|${kind}`;
      if (count === 1 && kind !== "contains|all") return [`${name}: ${textFor(dice)}`];
      return [
        `${name}:`,
        ...Array.from({ length: dice.between(2, count + 1) }, () => `    - ${textFor(dice)}`),
      ];
    }
  }
}

function textFor(dice: Dice): string {
  const [one, other] = [dice.any(WORDS), dice.any(WORDS)];
  return dice.of([
    [40, `'\\${one}${other}.exe'`],
    [25, `' ${one} ${other}'`],
    [15, `'C:\\Windows\\${one}\\${other}'`],
    [8, `'${one}*${other}'`],
    [6, `'${one}.${other}.example'`],
    [4, `${dice.between(0, 9_999)}`],
    [2, `'${one}?${other}*'`],
  ]);
}

function conditionOf(dice: Dice, names: readonly string[]): string {
  const filters = names.some((name) => name.startsWith("filter"));
  const selections = names.filter((name) => name.startsWith("selection"));
  const chosen =
    selections.length === 1
      ? "selection"
      : dice.of([
          [45, "all of selection_*"],
          [35, "1 of selection_*"],
          [10, selections.join(" and ")],
          [10, `(${selections.join(" or ")})`],
        ]);
  if (!filters) return chosen;
  return `${chosen} and not 1 of filter_main_*`;
}

/** A correlation behind the rules that it names; one in any order is refused. */
function correlated(dice: Dice, number: number): CorpusDocument[] {
  const [one, other] = [`base_${number}`, `base_${number + 1}`];
  const { type, more, isTwo, at } = dice.of<{
    type: string;
    more: string;
    isTwo: boolean;
    at: string | null;
  }>([
    [4, { type: "event_count", more: "{ gte: 10 }", isTwo: false, at: null }],
    [3, { type: "value_count", more: "{ gte: 5, field: User }", isTwo: false, at: null }],
    [2, { type: "temporal_ordered", more: "", isTwo: true, at: null }],
    [1, { type: "temporal", more: "", isTwo: true, at: "/correlation/type" }],
  ]);
  const rules = isTwo ? [one, other] : [one];
  const lines = [
    ...headOf(dice, number + rules.length, null),
    "correlation:",
    `    type: ${type}`,
    "    rules:",
    ...rules.map((name) => `        - ${name}`),
    "    group-by:",
    "        - host",
    "    timespan: 10m",
    ...(more === "" ? [] : [`    condition: ${more}`]),
    "level: high",
  ];
  return [
    ...rules.map((name, i) => ruleOf(dice, number + i, name)),
    { yaml: `${lines.join("\n")}\n`, refusedAt: at },
  ];
}

function phrase(dice: Dice, words: number): string {
  return Array.from({ length: words }, () => dice.any(WORDS)).join(" ");
}

/** What became of a document: `taken`, or where and why not. */
export function outcomeOf(converted: Converted): string {
  if ("problems" in converted) {
    const [problem] = converted.problems;
    if (problem === undefined || problem.line < 1 || problem.column < 1) return "refused nowhere";
    return `${problem.path} ${problem.message}`;
  }
  return "taken";
}
