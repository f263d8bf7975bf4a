import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { filteredLogs, keep, parseSearch } from "../../query/index.ts";
import { idAt, insertRows } from "../domains/logs/stored-rows.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { matchesSearch } from "./matches-search.ts";
import { queryRunner, rowsOf } from "./query-store.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

async function store(organizationId: number, messages: readonly string[]): Promise<void> {
  await insertRows(
    stores.clickhouse,
    messages.map((message, i) => ({ organizationId, ts: 0n, id: idAt(Date.UTC(2026, 0, 1), i), message })),
  );
}

/** The stored messages that match, in no order. */
async function find(organizationId: number, q: string): Promise<string[]> {
  const parsed = parseSearch(q);
  if (!parsed.ok) throw parsed.error;
  const matching = filteredLogs({ search: parsed.condition, service: null, level: null });
  const rows = await rowsOf(queryRunner(stores), keep(matching, ["message"]), organizationId);
  return rows.map(([message]) => String(message));
}

// Letters that test case rules: three forms, several bytes of different number, ASCII look-alikes, no case at all.
const LETTERS = [
  ...'abkKsSiI19 \t\n"\\%_.-[](){}|*+?^$/\0\u0001äÄßẞσςΣжЖǆǅǄÅåſıİẛ磁盘é😀𐐀𐐨ᾳᾼაᲐ',
  "\u212a",
  "\u212b",
];
const text = fc.string({ unit: fc.constantFrom(...LETTERS), maxLength: 24 });

describe("what ClickHouse finds for q", () => {
  test("is what q means, for random texts of every script", async () => {
    let organizationId = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { minLength: 1, maxLength: 30 }),
        fc.infiniteStream(fc.nat()),
        async (texts, dice) => {
          organizationId++;
          const messages = [...new Set(texts)];
          await store(organizationId, messages);
          const roll = (below: number): number => (dice.next().value ?? 0) % below;
          for (let i = 0; i < 12; i++) {
            // Pieces of the messages themselves, cased at random, so that there is something to find.
            const terms = Array.from({ length: 1 + roll(3) }, () => {
              const source = [...(messages[roll(messages.length)] ?? "")];
              const from = roll(source.length + 1);
              const piece = source.slice(from, from + 1 + roll(9)).join("");
              const cased = [piece, piece.toUpperCase(), piece.toLowerCase()][roll(3)] ?? "";
              return `${["", "-", ""][roll(3)]}${roll(2) === 0 ? cased : `"${cased.replaceAll('"', '\\"')}"`}`;
            });
            const q = terms.join([" ", " OR "][roll(2)]);
            if (!parseSearch(q).ok) continue;
            const expected = messages.filter((message) => matchesSearch(q, message));
            expect({ q, found: (await find(organizationId, q)).toSorted() }).toEqual({
              q,
              found: expected.toSorted(),
            });
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  test("is every variant of a letter, wherever it stands", async () => {
    const letters = [
      "σ",
      "ς",
      "Σ",
      "ǆ",
      "ǅ",
      "Ǆ",
      "ж",
      "Ж",
      "ä",
      "Ä",
      "ა",
      "Ა",
      "𐐀",
      "𐐨",
      "ß",
      "ẞ",
      "k",
      "K",
      "\u212a",
    ];
    const messages = letters.flatMap((letter) => [
      letter,
      `x${letter}`,
      `${letter}x`,
      `ж${letter}ж`,
      `long text ${letter} end`,
    ]);
    await store(5000, messages);
    for (const letter of letters)
      for (const q of [letter, `ж${letter}Ж`, `"text ${letter} e"`])
        expect((await find(5000, q)).toSorted()).toEqual(
          messages.filter((m) => matchesSearch(q, m)).toSorted(),
        );
  });

  test("is the message itself for the longest q there can be", async () => {
    const long = Array.from({ length: 1022 }, (_, i) => LETTERS[(i * 7) % LETTERS.length])
      .join("")
      .replaceAll('"', "'");
    await store(5001, [long, `${long}!`, long.slice(1)]);
    expect((await find(5001, `"${long}"`)).toSorted()).toEqual([long, `${long}!`].toSorted());
  });
});
