import fc from "fast-check";

/** Text with everything UTF-8 can say: control characters, combining marks, astral characters; no half surrogates. */
export const anyText = (maxLength: number, minLength = 0): fc.Arbitrary<string> =>
  fc
    .string({
      unit: fc.oneof(
        fc.constantFrom(..."\0\u001f\t\n\r\"\\'\u007f\u2028é漢😀"),
        fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }),
      ),
      minLength,
      maxLength,
    })
    .map((text) => text.toWellFormed());

const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;

export interface NativeEntry {
  message: string;
  ts?: string | number;
  level?: (typeof LEVELS)[number];
  service?: string;
  source?: string;
  host?: string;
  event_id?: string;
  attrs?: Record<string, unknown>;
}

const timestamp = fc.oneof(
  fc
    .tuple(
      fc.date({
        min: new Date("1900-01-01T00:00:00Z"),
        max: new Date("2262-04-10T00:00:00Z"),
        noInvalidDate: true,
      }),
      fc.nat(999_999),
    )
    .map(([date, nanos]) => date.toISOString().replace("Z", `${String(nanos).padStart(6, "0")}Z`)),
  fc.integer({ min: 1, max: 9_223_286_399 }),
  fc.integer({ min: 100_000_000_000, max: 9_223_286_399_999 }),
);

/** Valid entries of the native format. */
export const nativeEntry: fc.Arbitrary<NativeEntry> = fc.record(
  {
    message: anyText(60, 1),
    ts: timestamp,
    level: fc.constantFrom(...LEVELS),
    service: fc.oneof(fc.constantFrom("api", "worker", "счёт"), anyText(20, 1)),
    source: anyText(10),
    host: fc.oneof(fc.constantFrom("node-1", "node-2"), anyText(10)),
    attrs: fc.dictionary(
      anyText(8),
      fc.oneof(anyText(20), fc.jsonValue({ maxDepth: 3, stringUnit: "grapheme" })),
      { maxKeys: 6 },
    ),
  },
  { requiredKeys: ["message"] },
);
