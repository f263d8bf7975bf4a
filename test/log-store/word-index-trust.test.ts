/** When searches count on the index of words. */
import { expect, test } from "bun:test";
import { COLUMNS_TRUSTED_MS, UNINDEXED_WORDS_MAX_ROWS } from "../../src/log-store/limits.ts";
import { WordIndex } from "../../src/log-store/word-index.ts";

const { signal } = new AbortController();

/** An index of which each look finds what the test says, at the time the test says. */
function open() {
  const found = { rows: 0, nowMs: 0, meanwhile: (): void => undefined };
  const index = new WordIndex(
    {
      rowsWithoutWords: async () => {
        found.meanwhile();
        return found.rows;
      },
    },
    () => found.nowMs,
  );
  return { index, found };
}

test("it is used where it lacks next to none, and for as long as somebody looked lately", async () => {
  const { index, found } = open();
  expect(index.isComplete()).toBe(false);
  found.rows = UNINDEXED_WORDS_MAX_ROWS;
  await index.look(signal);
  expect(index.isComplete()).toBe(true);
  found.nowMs = COLUMNS_TRUSTED_MS + 1;
  expect(index.isComplete()).toBe(false);
  found.rows = UNINDEXED_WORDS_MAX_ROWS + 1;
  await index.look(signal);
  expect(index.isComplete()).toBe(false);
});

test("it is not used once rows came in without it, also while somebody was looking", async () => {
  const { index, found } = open();
  await index.look(signal);
  index.distrust();
  expect(index.isComplete()).toBe(false);
  found.meanwhile = () => index.distrust();
  await index.look(signal);
  expect(index.isComplete()).toBe(false);
  found.meanwhile = () => undefined;
  await index.look(signal);
  expect(index.isComplete()).toBe(true);
});
