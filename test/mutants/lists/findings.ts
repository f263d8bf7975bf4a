import type { Mutant } from "../mutant.ts";

const FINDER = ["test/entities/entity-finder.test.ts"];
const IOCS = ["test/domains/iocs/iocs.test.ts"];
const FEEDS = ["test/domains/iocs"];
const CONTEXT = ["test/domains/context/context.test.ts"];
const CASES = ["test/server/cases.test.ts"];
const ERRORS = ["test/domains/log-errors/log-errors.test.ts"];
const ONCE = ["test/domains/log-errors/exactly-once.test.ts"];
const TABLES = ["test/domains/kql-tables/tables.test.ts"];
const FUNCTIONS = ["test/domains/kql-functions/functions.test.ts"];

/** What is found in entries and kept: who and what there is, indicators, groups of errors, cases; and what queries are kept of. */
export const FINDINGS: readonly Mutant[] = [
  {
    name: "an answer that holds a part of what entries name is taken for all of it",
    file: "src/entities/entity-finder.ts",
    find: "return rows.length >= maxRows && isDivisible ? null : rows;",
    replace: "return rows;",
    tests: FINDER,
  },
  {
    name: "the entry in the middle of a span that was divided is looked at twice",
    file: "src/entities/entity-finder.ts",
    find: "{ instance, after: middle, through },",
    replace: "{ instance, after: middle - BigInt(LOG_ID_STEP) * 4n, through },",
    tests: FINDER,
  },
  {
    name: "what entries name is noted of another organisation",
    file: "src/entities/entity-finder.ts",
    find: "const own = found.get(Number(organization));\n        if (own === undefined)",
    replace: "const own = [...found.values()][0];\n        if (own === undefined)",
    tests: FINDER,
  },
  {
    name: "indicators that came after a seal began are looked for in it",
    file: "src/entities/indicators/indicator-store.ts",
    find: "JOIN ioc_batches b ON b.id = i.batch_id AND b.from_revision <= ${String(at.revision)}",
    replace: "JOIN ioc_batches b ON b.id = i.batch_id AND b.from_revision <= ${String(at.revision + 1n)}",
    tests: IOCS,
  },
  {
    name: "indicators that have expired are looked for",
    file: "src/entities/indicators/indicator-store.ts",
    find: "WHERE i.expires_at IS NULL OR i.expires_at > ${new Date(at.ms)}`;",
    replace: "WHERE i.id > 0`;",
    tests: IOCS,
  },
  {
    name: "a hit that was told is told again at once",
    file: "src/entities/indicators/indicator-store.ts",
    find: "is_due = known.is_due OR known.told_at < ${new Date(nowMs - againMs)}`;",
    replace: "is_due = known.is_due OR known.told_at < ${new Date(nowMs + againMs)}`;",
    tests: IOCS,
  },
  {
    name: "a hit stays to be told when it was",
    file: "src/entities/indicators/hit-telling.ts",
    find: "UPDATE ioc_hits SET is_due = false, told_at",
    replace: "UPDATE ioc_hits SET is_due = true, told_at",
    tests: IOCS,
  },
  {
    name: "what is let pass is told of",
    file: "src/entities/indicators/match-indicators.ts",
    find: ".filter(({ indicator }) => !allowed(indicator));",
    replace: '.filter(({ indicator }) => indicator.value !== "");',
    tests: IOCS,
  },
  {
    name: "a private address is told of by a wide range",
    file: "src/entities/indicators/match-indicators.ts",
    find: 'known !== null && (known.class === "public" || prefixBits >= known.prefixBits)',
    replace: "known !== null",
    tests: IOCS,
  },
  {
    name: "a look back does not wait for a seal that began before",
    file: "src/entities/indicators/retro-hunt.ts",
    find: "AND NOT EXISTS (SELECT 1 FROM ingest_streams s WHERE s.intent_revision < b.from_revision)\n",
    replace: "\n",
    tests: IOCS,
  },
  {
    name: "a look back finds what seals have found",
    file: "src/entities/indicators/retro-hunt.ts",
    find: "AND value_hash < {revision: UInt64}",
    replace: "AND value_hash < {revision: UInt64} + 1000000",
    tests: IOCS,
  },
  {
    name: "a look back is made in what others have",
    file: "src/entities/indicators/retro-hunt.ts",
    find: "FROM signals WHERE organization_id = {organization: UInt32} AND kind = 'observable'",
    replace: "FROM signals WHERE organization_id > {organization: UInt32} - 1000 AND kind = 'observable'",
    tests: IOCS,
  },
  {
    name: "a feed changes an indicator that a person made",
    file: "src/domains/iocs/put-indicators.ts",
    find: "WHERE excluded.by_person OR NOT known.by_person",
    replace: "WHERE excluded.by_person OR known.id IS NOT NULL",
    tests: FEEDS,
  },
  {
    name: "what a feed does not name any more stays",
    file: "src/domains/iocs/listings.ts",
    find: "tx`listed_at < ${new Date(beforeMs)}`",
    replace: "tx`listed_at < ${new Date(0)}`",
    tests: FEEDS,
  },
  {
    name: "what one feed does not name any more goes from another, too",
    file: "src/domains/iocs/listings.ts",
    find: "other.feed_id <> ${feedId} AND other.gone_at IS NULL",
    replace: "other.feed_id = 0 AND other.gone_at IS NULL",
    tests: FEEDS,
  },
  {
    name: "an alias takes a record's own entity",
    file: "src/entities/entity-store.ts",
    find: "DO UPDATE SET canonical_id = excluded.canonical_id\n      WHERE known.record_id IS NULL`;",
    replace: "DO UPDATE SET canonical_id = excluded.canonical_id`;",
    tests: CONTEXT,
  },
  {
    name: "a case that goes on in another one is changed",
    file: "src/domains/cases/service.ts",
    find: "if (stored.mergedInto !== null)",
    replace: "if (stored.mergedInto === id)",
    tests: CASES,
  },
  {
    name: "evidence is lost when a case is merged",
    file: "src/domains/cases/store.ts",
    find: "snapshot, event_at, user_id, created_at FROM case_evidence\n    WHERE organization_id = ${organizationId} AND case_id = ${from} ON CONFLICT DO NOTHING`;",
    replace:
      "snapshot, event_at, user_id, created_at FROM case_evidence\n    WHERE organization_id = ${organizationId} AND case_id = ${into} ON CONFLICT DO NOTHING`;",
    tests: CASES,
  },
  {
    name: "errors are counted in groups of another organisation",
    file: "src/domains/log-errors/finding/note-errors.ts",
    find: "WHERE g.organization_id = ${organizationId} AND g.fingerprint = x.fingerprint\n    RETURNING",
    replace: "WHERE g.fingerprint = x.fingerprint\n    RETURNING",
    tests: [...ERRORS, ...ONCE],
  },
  {
    name: "what is resolved stays so though it happens again",
    file: "src/domains/log-errors/finding/note-errors.ts",
    find: "status = CASE WHEN r.status = 'resolved' AND s.seen > r.resolved_at THEN 'open' ELSE r.status END,",
    replace: "status = r.status,",
    tests: ERRORS,
  },
  {
    name: "an hour makes any number of groups of errors",
    file: "src/domains/log-errors/finding/note-errors.ts",
    find: "Math.min(ofHour - made, inAll - (row?.groups ?? 0))",
    replace: "inAll - (row?.groups ?? 0)",
    tests: ONCE,
  },
  {
    name: "an organisation has any number of groups of errors",
    file: "src/domains/log-errors/finding/note-errors.ts",
    find: "Math.min(ofHour - made, inAll - (row?.groups ?? 0))",
    replace: "ofHour - made",
    tests: ONCE,
  },
  {
    name: "errors for which there is no group are not counted",
    file: "src/domains/log-errors/finding/note-errors.ts",
    find: "const left = fresh.slice(allowed).reduce((sum, { count }) => sum + count, 0);",
    replace: "const left = 0;",
    tests: ONCE,
  },
  {
    name: "entries of a group that is merged count for nobody",
    file: "src/domains/log-errors/group-store.ts",
    find: "(g.count + coalesce(m.count, 0))::float8 AS count",
    replace: "g.count::float8 AS count",
    tests: ERRORS,
  },
  {
    name: "a group that attracts living ones is forgotten",
    file: "src/domains/log-errors/group-store.ts",
    find: "AND coalesce(r.active_at, g.active_at) < ${new Date(nowMs - KEPT_MS)}",
    replace: "",
    tests: ONCE,
  },
  {
    name: "a kept function may have the name of a kept table",
    file: "src/domains/kql-functions/functions.ts",
    find: "if (functions.has(name) || tables.has(name))",
    replace: "if (functions.has(name))",
    tests: [...FUNCTIONS, ...TABLES],
  },
];
