/** Of a corpus of the shapes that public rules have nearly all are taken over, and the rest say where they are not. */
import { expect, test } from "bun:test";
import { convertSigma } from "../../../src/rules/sigma/convert.ts";
import { outcomeOf, sigmaCorpus } from "./sigma-corpus.ts";

const CONVERTED_MIN_SHARE = 0.97;

test("at least 97 of 100 become conditions that can be asked, and the others are told with their places", async () => {
  const corpus = sigmaCorpus(400, 20_260_301);
  const converted = await convertSigma(corpus.map(({ yaml }) => yaml).join("---\n"));
  expect(converted).toHaveLength(corpus.length);
  const outcomes = converted.map((each) => outcomeOf(each));
  const wrong = outcomes.flatMap((outcome, i) => {
    const refusedAt = corpus[i]?.refusedAt ?? null;
    // Beside what is refused by its shape, some of the longest lists are.
    const isRight =
      refusedAt === null
        ? outcome === "taken" || /characters of KQL, more than \d+\.$/.test(outcome)
        : outcome.startsWith(refusedAt);
    return isRight ? [] : [{ outcome, ...corpus[i] }];
  });
  expect(wrong).toEqual([]);
  const taken = outcomes.filter((outcome) => outcome === "taken").length;
  expect(taken / corpus.length).toBeGreaterThanOrEqual(CONVERTED_MIN_SHARE);
  expect(taken).toBeLessThan(corpus.length);
});
