import { setting } from "./setting.ts";
import { bytes, integer, MIB } from "./values.ts";

const MILLION = 1_000_000;
const DAY_SECONDS = 86_400;

/** The way of entries to the store, and what is remembered of it. */
export const INGEST_SETTINGS = {
  walMaxBytes: setting({
    name: "WAL_MAX_BYTES",
    default: "2GiB",
    meaning:
      "Bound of the write-ahead log. When ClickHouse is away for so long that it is full, ingest answers 503.",
    type: bytes(64 * MIB),
  }),
  ingestMaxInFlightBytes: setting({
    name: "INGEST_MAX_IN_FLIGHT_BYTES",
    default: "64MiB",
    meaning:
      "Bound of accepted bodies that are not yet in the write-ahead log; beyond it ingest answers 503.",
    type: bytes(8 * MIB),
  }),
  dedupeWindowSeconds: setting({
    name: "DEDUPE_WINDOW_SECONDS",
    default: String(DAY_SECONDS),
    meaning:
      "A log with an `event_id` that this server took within this time is dropped, as far back as `DEDUPE_MAX_EVENTS` reaches.",
    type: integer(1, DAY_SECONDS),
  }),
  dedupeMaxEvents: setting({
    name: "DEDUPE_MAX_EVENTS",
    default: "8000000",
    meaning:
      "Event ids remembered at the same time, 21 to 32 bytes of memory each, used only as they come: the default is 260 MB at " +
      "most. When more come within the window the oldest are forgotten, but none within ten minutes: then ingest answers " +
      "503, with the default at some 10 000 new ids a second.",
    type: integer(1_000, 1_000 * MILLION),
  }),
  idempotencyHoldSeconds: setting({
    name: "IDEMPOTENCY_HOLD_SECONDS",
    default: "900",
    meaning:
      "When an instance died before it answered a request with an `Idempotency-Key` that stores logs, the others answer its " +
      "repetitions with 503 for so long, or until it is back and says whether the logs are stored; then they store them.",
    type: integer(1, DAY_SECONDS),
  }),
} as const;
