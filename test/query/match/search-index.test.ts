import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { filteredLogs, keep, parseSearch, SearchIndex, TermFinder, termsOf } from "../../../query/index.ts";
import { idAt, insertRows } from "../../domains/logs/stored-rows.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner, rowsOf } from "../query-store.ts";
import { textRows } from "./text-rows.ts";

let stores: TestStores;
let organizations = 0;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

/** The texts that match q, by their place, without the store. */
function matching(texts: readonly string[], q: string): number[] {
  const parsed = parseSearch(q);
  if (!parsed.ok) throw parsed.error;
  if (parsed.condition === null) return texts.map((_, row) => row);
  const rows = textRows(texts);
  const one = new SearchIndex(rows).rowsMatching(parsed.condition).toArray();
  const finder = new TermFinder([...termsOf(parsed.condition), "some other", "abcd", "Kelvin"]);
  expect(new SearchIndex(rows, finder).rowsMatching(parsed.condition).toArray()).toEqual(one);
  return one;
}

async function store(texts: readonly string[]): Promise<number> {
  const organizationId = ++organizations;
  await insertRows(
    stores.clickhouse,
    texts.map((message, i) => ({ organizationId, ts: 0n, id: idAt(Date.UTC(2026, 0, 1), i), message })),
  );
  return organizationId;
}

/** The same by the store. */
async function found(organizationId: number, q: string): Promise<number[]> {
  const parsed = parseSearch(q);
  if (!parsed.ok) throw parsed.error;
  const logs = filteredLogs({ search: parsed.condition, service: null, level: null });
  const rows = await rowsOf(queryRunner(stores), keep(logs, ["id"]), organizationId);
  const first = idAt(Date.UTC(2026, 0, 1), 0);
  return rows.map(([id]) => Number(BigInt(String(id)) - first)).toSorted((left, right) => left - right);
}

// Letters with three forms, with several bytes, with ASCII look-alikes, with none; and what patterns take for theirs.
const LETTERS = [
  ...'abkKsSiIzZ@[`{19 \t\n"\\%_.-(*?^$|\0\u0001\u007fäÄßẞσςΣжЖǆǅǄÅåſıİẛ磁é😀𐐀𐐨ᾳᾼაᲐ\u212a\u212b\ufeff',
];
const text = fc.string({ unit: fc.constantFrom(...LETTERS), maxLength: 24 });

describe("a search without the store", () => {
  test("finds what ClickHouse finds, for random texts of every script", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { minLength: 1, maxLength: 40 }),
        fc.infiniteStream(fc.nat()),
        async (texts, dice) => {
          const organizationId = await store(texts);
          const roll = (below: number): number => (dice.next().value ?? 0) % below;
          for (let i = 0; i < 12; i++) {
            // Pieces of the texts themselves, cased at random, so that there is something to find.
            const terms = Array.from({ length: 1 + roll(3) }, () => {
              const source = [...(texts[roll(texts.length)] ?? "")];
              const from = roll(source.length + 1);
              const piece = source.slice(from, from + 1 + roll(9)).join("");
              const cased = [piece, piece.toUpperCase(), piece.toLowerCase()][roll(3)] ?? "";
              return `${["", "-", ""][roll(3)]}${roll(2) === 0 ? cased : `"${cased.replaceAll('"', '\\"')}"`}`;
            });
            const q = terms.join([" ", " OR "][roll(2)]);
            if (!parseSearch(q).ok) continue;
            expect({ q, rows: matching(texts, q) }).toEqual({ q, rows: await found(organizationId, q) });
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  test("does not find a term that begins in one text and ends in the next", () => {
    expect(matching(["ab", "cd", "", "abcd", "a"], "bc")).toEqual([3]);
    expect(matching(["a", "a", "", "a"], "aa")).toEqual([]);
    expect(matching(["xaaa", "aaax", "aa"], "aaa")).toEqual([0, 1]);
  });

  test("finds many terms in one pass as it finds each of them", () => {
    fc.assert(
      fc.property(
        fc.array(text, { minLength: 1, maxLength: 20 }),
        fc.array(text),
        fc.infiniteStream(fc.nat()),
        (texts, others, dice) => {
          const rows = textRows(texts);
          const pieces = texts.map((source) => {
            const from = (dice.next().value ?? 0) % (source.length + 1);
            return source.slice(from, from + 4 + ((dice.next().value ?? 0) % 6));
          });
          const terms = [...others, ...pieces].filter((term) => term.isWellFormed());
          const many = new SearchIndex(rows, new TermFinder(terms));
          for (const term of terms)
            expect(many.rowsContaining(term).toArray()).toEqual(
              new SearchIndex(rows).rowsContaining(term).toArray(),
            );
        },
      ),
    );
  });

  test("finds in every one of many texts", () => {
    const texts = Array.from({ length: 1000 }, (_, i) => `text ${i} of THIS test`);
    expect(matching(texts, "this")).toHaveLength(1000);
    expect(matching(texts, "-this")).toEqual([]);
    expect(matching(texts, '"text 99"').length).toBe(11);
  });
});
