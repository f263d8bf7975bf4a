/** What of a batch a filter lets through, when requests of several organizations became durable together. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { CommittedBlock } from "../../../../ingest/index.ts";
import { BatchMatcher } from "../../../../src/domains/logs/tail/batch-matcher.ts";
import { readTailFilter } from "../../../../src/domains/logs/tail/read-filter.ts";
import type { TailParameters } from "../../../../src/domains/logs/tail/types.ts";
import { committedRequests, type SentEntries } from "./committed-batch.ts";

/** Neighbours, so that no order of their numbers tells them apart. */
const ORGANIZATIONS = [6, 7, 8];
const FILTERS: readonly TailParameters[] = [
  {},
  { level: "error" },
  { service: "api" },
  { q: "disk" },
  { q: "disk", level: "warn", service: "web" },
  // Decided by the columns and the messages, by an attribute, and row by row.
  { query: 'level == "error" or service == "web"' },
  { query: 'message has "disk"' },
  { query: "status >= 500" },
  { query: 'level != "warn" and (message startswith "d" or status == 200)' },
];

const entry = fc.record(
  {
    message: fc.constantFrom("disk full", "disk", "fine", "d"),
    level: fc.constantFrom("warn", "error"),
    service: fc.constantFrom("api", "web"),
    attrs: fc.record({ status: fc.constantFrom(200, 503) }, { requiredKeys: [] }),
  },
  { requiredKeys: ["message"] },
);
const request: fc.Arbitrary<SentEntries> = fc.record({
  organizationId: fc.constantFrom(...ORGANIZATIONS),
  entries: fc.array(entry, { minLength: 1, maxLength: 6 }),
});

/** The hosts of the entries that a filter shows; null when only the store can tell. */
function hostsShown(
  organizationId: number,
  parameters: TailParameters,
  requests: readonly SentEntries[],
): string[] | null {
  const matcher = new BatchMatcher(new CommittedBlock(committedRequests(requests).block), null);
  const matched = matcher.entriesOf(organizationId, readTailFilter(parameters, {}, 0));
  return matched?.first(matched.count).map(({ json }) => String(JSON.parse(json).host)) ?? null;
}

/** The host of every entry says whose it is and which, so that no other can be taken for it. */
function marked(requests: readonly SentEntries[]): SentEntries[] {
  let number = 0;
  return requests.map(({ organizationId, entries }) => ({
    organizationId,
    entries: entries.map((sent) => ({ ...sent, host: `${organizationId}-${number++}` })),
  }));
}

describe("a batch of several organizations", () => {
  test("shows each what a batch of its own entries alone would", () => {
    let mixed = 0;
    fc.assert(
      fc.property(fc.array(request, { minLength: 1, maxLength: 8 }), (drawn) => {
        const requests = marked(drawn);
        if (new Set(requests.map(({ organizationId }) => organizationId)).size > 1) mixed++;
        for (const organizationId of ORGANIZATIONS) {
          const own = requests.filter((sent) => sent.organizationId === organizationId);
          for (const parameters of FILTERS) {
            const alone = own.length === 0 ? [] : hostsShown(organizationId, parameters, own);
            expect(hostsShown(organizationId, parameters, requests)).toEqual(alone);
          }
        }
      }),
      { numRuns: 50 },
    );
    expect(mixed).toBeGreaterThan(0);
  });

  test("shows each its own, whichever asks first, and counts no others", () => {
    const requests = [7, 6, 8, 7, 6].map((organizationId) => ({
      organizationId,
      entries: [{ message: `of ${organizationId}` }],
    }));
    const { block } = committedRequests(requests);
    for (const order of [ORGANIZATIONS, ORGANIZATIONS.toReversed()]) {
      const matcher = new BatchMatcher(new CommittedBlock(block), null);
      const all = readTailFilter({}, {}, 0);
      const shown = order.map((organizationId) => {
        const matched = matcher.entriesOf(organizationId, all);
        const messages = matched?.first(matched.count).map(({ json }) => JSON.parse(json).message);
        return [organizationId, matcher.countOf(organizationId), messages];
      });
      expect(shown.toSorted()).toEqual([
        [6, 2, ["of 6", "of 6"]],
        [7, 2, ["of 7", "of 7"]],
        [8, 1, ["of 8"]],
      ]);
    }
  });
});
