import type { RecognisedEntry } from "../../recognise/entry-joiner.ts";
import { LineRecogniser } from "../../recognise/line-recogniser.ts";
import { previewBody } from "../preview.ts";
import { sourceDecoder } from "../source-decoder.ts";
import type { InferredFieldName } from "./candidates.ts";
import { confidenceIn, type Inferred, type InferredField, PREVIEW_MAX_COUNT, rounded } from "./inferred.ts";

const NAMES_MAX_COUNT = 100;
/** What a line that was recognised says of each field. */
const FIELDS: readonly (readonly [InferredFieldName, (entry: RecognisedEntry) => boolean])[] = [
  ["timestamp", ({ time }) => time !== null],
  ["level", ({ level }) => level !== null],
  ["message", ({ form, message }) => form !== "plain" && message !== ""],
  ["service", ({ service }) => service !== null],
  ["host", ({ host }) => host !== null],
];

/** Lines of text need no mapping: what is recognised of them is said, and what they would be stored as. */
export function inferText(lines: readonly string[], now: () => number): Inferred {
  const body = new TextEncoder().encode(lines.join("\n"));
  const entries: RecognisedEntry[] = [];
  const recogniser = new LineRecogniser({ yearReferenceMs: now() });
  recogniser.push(body, (entry) => entries.push(entry));
  recogniser.end((entry) => entries.push(entry));
  const mapping = { format: "text" } as const;
  const fields = FIELDS.map(([field, isThere]) => fieldOf(field, entries.filter(isThere), entries.length));
  const isKnown = entries.some(({ form }) => form !== "plain");
  const decoder = sourceDecoder({ format: "text", mapping, learning: false, now });
  return {
    format: "text",
    mapping,
    preset: null,
    confidence: isKnown ? confidenceIn(fields) : 0,
    fields,
    preview: previewBody(decoder, body).slice(0, PREVIEW_MAX_COUNT),
    alternatives: [],
    unmapped: [...new Set(entries.flatMap(({ attributes }) => [...attributes.keys()]))].slice(
      0,
      NAMES_MAX_COUNT,
    ),
  };
}

function fieldOf(field: InferredFieldName, having: readonly RecognisedEntry[], count: number): InferredField {
  if (having.length === 0) return { field, from: null, confidence: 0, reason: "no line says it" };
  const forms = [...new Set(having.map(({ form }) => form))].join(", ");
  return {
    field,
    from: "the line",
    confidence: rounded(having.length / count),
    reason: `${having.length} of ${count} entries say it, in the form of: ${forms}`,
  };
}
