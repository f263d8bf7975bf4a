import type { Sql } from "postgres";
import { Type } from "typebox";
import { ApiError } from "../../../errors.ts";
import { route } from "../../../http/define-route.ts";
import { sseResponse } from "../../../http/sse.ts";
import { monotonicMs, slotTimeAt } from "../../../probes/schedule/slot-clock.ts";
import { askPostgres } from "../../../storage/ask-postgres.ts";
import type { RunnableRow } from "../scheduling/assignment-store.ts";
import { PROBE_RESULTS_MAX_BYTES, PROBE_STREAMS_MAX } from "./limits.ts";
import { ProbeAccess } from "./probe-access.ts";
import { keepResults } from "./probe-result-store.ts";
import { RegionFeed, type RegionFeedOptions } from "./region-feed.ts";
import { ProbeResultsAnswer, ProbeResultsBody } from "./types.ts";

const TAG = "Probes";

interface RegionDependencies<Row extends RunnableRow> extends RegionFeedOptions<Row> {
  readonly sql: Sql;
  readonly tokens: Readonly<Partial<Record<string, string>>>;
  /** Results came. */
  readonly onResults: () => void;
}

/** How probes in other regions hear what they are to check, and say what they found. */
export function regionDomain<Row extends RunnableRow>(deps: RegionDependencies<Row>) {
  const access = new ProbeAccess(deps.tokens);
  const streams = new Set<RegionFeed<Row>>();
  const open = (region: string): RegionFeed<Row> => {
    if (streams.size >= PROBE_STREAMS_MAX)
      throw new ApiError("RATE_LIMITED", "Too many probes are connected.", { retryAfterSeconds: 10 });
    const feed: RegionFeed<Row> = new RegionFeed(deps, region, () => streams.delete(feed));
    streams.add(feed);
    return feed;
  };
  return {
    routes: [
      route({
        method: "GET",
        path: "/api/v1/probes/assignments",
        tag: TAG,
        summary: "Stream what a probe is to check",
        // The token is the operator's (`PROBE_TOKENS`) and belongs to no organisation.
        access: "public",
        rateLimit: "probe",
        responses: {
          200: {
            description:
              "Server-sent events: `time` with the clock that slots go by, `assign` with monitors, `drop` with ids of monitors, " +
              "`known` with the ids of all there are.",
            contentType: "text/event-stream",
            schema: Type.String(),
          },
        },
        errors: ["UNAUTHENTICATED"],
        idleTimeoutSec: 0,
        handler: ({ request }) => sseResponse(open(access.regionOf(request))),
      }),
      route({
        method: "POST",
        path: "/api/v1/probes/results",
        tag: TAG,
        summary: "Hand in what a probe found; a repetition changes nothing",
        access: "public",
        rateLimit: "probe",
        effect: "ingest",
        body: { kind: "json", schema: ProbeResultsBody, maxBytes: PROBE_RESULTS_MAX_BYTES },
        responses: { 200: { description: "They are kept", schema: ProbeResultsAnswer } },
        errors: ["UNAUTHENTICATED"],
        handler: async ({ request }, { body }) => {
          const region = access.regionOf(request);
          const clock = deps.time();
          if (clock === null)
            throw new ApiError("UNAVAILABLE", "The server is starting.", { retryAfterSeconds: 2 });
          const nowMs = slotTimeAt(clock, monotonicMs());
          const taken = await askPostgres(() => keepResults(deps.sql, region, body.results, nowMs));
          if (taken > 0) deps.onResults();
          return { status: 200, body: { taken } };
        },
      }),
    ],
    endStreams: async () => {
      for (const feed of streams) feed.cancel();
    },
  };
}
