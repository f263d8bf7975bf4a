import { openArchiveFiles } from "../archive/log-archive.ts";
import { ArchiveIndex } from "../archive/reading/archive-index.ts";
import { EXTENT_TRUSTED_MS } from "../archive/reading/limits.ts";
import { LogRanges } from "../archive/reading/log-ranges.ts";
import { AnchorWriter } from "../audit/anchors/anchor-writer.ts";
import type { Config } from "../config/config.ts";
import { AcknowledgeLinks } from "../domains/escalation/acknowledge-link.ts";
import { Escalations } from "../domains/escalation/escalations.ts";
import { RuleCounter } from "../domains/ingest-rules/rule-counts.ts";
import { RuleDirectory } from "../domains/ingest-rules/rule-directory.ts";
import { SourceDirectory } from "../domains/ingest-sources/source-directory.ts";
import { TailHub } from "../domains/logs/tail/tail-hub.ts";
import { IncidentNotices } from "../domains/notifications/incident-notices.ts";
import { Quarantine } from "../domains/quarantine/quarantine.ts";
import { PublishedPages } from "../domains/status-pages/published-pages.ts";
import { pagesIn } from "../domains/status-pages/read-page.ts";
import { copiesIn } from "../domains/status-pages/sealed-copies.ts";
import { Authenticator } from "../identity/authenticator.ts";
import { BelievedClock } from "../jobs/clock/believed-clock.ts";
import { openBootClock } from "../jobs/clock/boot-clock.ts";
import { KeptDirectory } from "../kql/kept/kept-directory.ts";
import { KeptRows } from "../kql/kept/kept-rows.ts";
import { openLibrary } from "../kql/library/open-library.ts";
import type { Logger } from "../log.ts";
import { AttributeAccess } from "../log-store/attribute-access.ts";
import { openUpkeep, openWordIndex } from "../log-store/upkeep.ts";
import { OutboundPolicy } from "../outbound/outbound-policy.ts";
import { LogReceiver } from "../receive/receive-records.ts";
import { StoredMarks } from "../rules/seal/stored-marks.ts";
import { openSecretBox } from "../storage/load-secret-key.ts";
import type { Stores } from "../storage/open.ts";
import { loadSigningKey } from "../storage/server-identity.ts";
import { MonitorChanges } from "../uptime/monitor-changes.ts";
import { DailyCaps } from "../usage/daily-caps.ts";
import { type Plan, PlanCaps } from "../usage/plan.ts";
import { openServerArchive } from "./archive.ts";
import { openCounting } from "./counting.ts";
import { openServerEvents } from "./events.ts";
import { openServerIngest } from "./ingest.ts";
import { openServerMail } from "./mail.ts";
import type { Metrics } from "./metrics.ts";
import { channelEndpoints, openServerNotifications, openTeller } from "./notifications.ts";
import { createQueryRunner, openExternalFiles, queryBudgetOf } from "./queries.ts";

/** On which the services stand. */
export interface Foundation {
  readonly config: Config;
  readonly stores: Stores;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Under which address people reach the server. */
  readonly publicUrl: string;
}

/** What every domain may use, each under one name for all of them. */
export type Services = Awaited<ReturnType<typeof openServices>>;

/** Opens what domains stand on. Nothing of it works before its part is started. */
export async function openServices({ config, stores, metrics, log, publicUrl }: Foundation) {
  const { postgres: sql, clickhouse } = stores;
  const now = Date.now;
  const files = await openArchiveFiles(config, clickhouse);
  const hub = new TailHub({ log, metrics: metrics.tail });
  const ruleCounter = new RuleCounter({ sql, metrics: metrics.ingestRules, now, log });
  const rules = new RuleDirectory({ sql, counter: ruleCounter, metrics: metrics.ingestRules, now, log });
  const marks = new StoredMarks();
  const words = openWordIndex(clickhouse, () => performance.now());
  const serverIngest = await openServerIngest({
    ...{ config, stores, files, metrics, log },
    stored: marks.stored,
    committed: hub,
    onUnindexed: () => words.distrust(),
    rulesOf: (organizationId) => rules.entryRulesOf(organizationId),
  });
  const { ingest } = serverIngest;
  const box = await openSecretBox(sql, config.secretKey, config.dataDirectory);
  const clock = new BelievedClock({
    sql,
    now,
    bootTime: openBootClock(),
    confirmedMs: config.archiveClockConfirmedMs,
  });
  const anchors = openAnchors(stores, metrics, log);
  const endpoints = channelEndpoints(config);
  const teller = await openTeller(sql, box, endpoints);
  const onTold = (): void => notifications.wake();
  const notices = new IncidentNotices({ box, teller, publicUrl, onTold });
  const acknowledgeLinks = new AcknowledgeLinks({
    key: await loadSigningKey(sql, "acknowledge-links"),
    ...{ publicUrl, now },
  });
  const escalations = new Escalations({
    ...{ sql, box, teller, publicUrl, onTold, log },
    acknowledgeLink: acknowledgeLinks.linkFor,
    changes: () => changes,
  });
  const subscribers = { notices, escalations };
  const events = openServerEvents({ sql, metrics, log, subscribers, onAudited: anchors.wake });
  const { changes } = events;
  const mail = openServerMail({ config, publicUrl, sql, changes, box, metrics, log });
  const policy = new OutboundPolicy({
    allow: config.outboundAllow ?? [],
    allowPrivate: config.outboundAllowPrivate,
  });
  const notifications = openServerNotifications({
    ...{ sql, box, endpoints, policy, mail: mail.transport, metrics, log },
  });
  const plans = new PlanCaps({ plan: planOf(config), sql, now });
  const caps = { token: new DailyCaps({ sql, now }), plan: plans };
  const quarantineBounds = { maxRecords: config.quarantineMaxRecords, maxBytes: config.quarantineMaxBytes };
  const quarantine = new Quarantine({ sql, bounds: quarantineBounds, metrics: metrics.quarantine, now });
  const runner = createQueryRunner(stores, metrics);
  const keptRows = new KeptRows({ sql, clickhouse, now });
  const attributes = new AttributeAccess(sql, () => performance.now());
  const ranges = new LogRanges({
    runner,
    attributes,
    words,
    index: new ArchiveIndex(sql, EXTENT_TRUSTED_MS),
    files,
    onUnreadable: (unreadable) => log.error({ files: unreadable }, "archived files cannot be read"),
  });
  const counting = openCounting({
    ...{ config, stores, ranges, marks, changes, metrics, log },
    isRecovered: () => ingest.wal.ledger.flushedThrough >= ingest.wal.recoveredEnd,
    isDrained: () => ingest.wal.ledger.flushedThrough >= ingest.wal.durableEnd,
  });
  return {
    config,
    /** Under which address people reach the server. */
    publicUrl,
    stores,
    sql,
    clickhouse,
    metrics,
    log,
    /** Milliseconds since 1970. */
    now,
    /** The time by which things age. */
    clock,
    /** Encrypts secrets at rest. */
    box,
    /** Signs the cursors of searches. */
    cursorKey: await loadSigningKey(sql, "search-cursor"),
    authenticator: new Authenticator({ sql, now, log }),
    /** What an organisation tells everyone, as everyone sees it. */
    statusPages: new PublishedPages({
      ...{ source: pagesIn(sql), now, log },
      copies: copiesIn(config.dataDirectory, box),
    }),
    statusPageKey: await loadSigningKey(sql, "status-pages"),
    cookie: { secure: publicUrl.startsWith("https:") },
    plans,
    caps,
    /** Where requests may go that people of an organisation have the server send. */
    policy,
    teller,
    onTold,
    escalations,
    acknowledgeLinks,
    notifications,
    mail,
    enqueueMail: mail.enqueue,
    anchors,
    events,
    changes,
    ingest,
    serverIngest,
    storedRequests: serverIngest.storedRequests,
    /** Hears of every committed batch. */
    hub,
    sources: new SourceDirectory({ sql, now }),
    /** What becomes of entries before they are stored. */
    rules,
    ruleCounter,
    quarantineBounds,
    /** Takes logs in formats that others define. */
    receiver: new LogReceiver({ ingest: ingest, caps, quarantine, rules }),
    runner,
    /** Rings when something about monitors has changed. */
    monitorChanges: new MonitorChanges(),
    /** What organisations keep for their queries: under which names, and rows. */
    kept: new KeptDirectory({ sql, now, log }),
    keptRows,
    /** Files of other servers that queries read. */
    externals: openExternalFiles({ config, policy, keptRows, now }),
    /** What computes the functions of queries that no store does. */
    library: await openLibrary(config.geoDatabase ?? null),
    /** Stored and archived entries as one. */
    ranges,
    /** Attributes that the log store has columns of. */
    attributes,
    upkeep: openUpkeep({ sql, clickhouse, access: attributes, words, log }),
    counting,
    budget: queryBudgetOf(config),
    /** Where archived entries lie; null when no archive is configured. */
    files,
    archive: openServerArchive({
      ...{ config, files, stores, clock, metrics, log },
      heldSince: counting.unsealedSince,
    }),
  };
}

/** What every organisation may have. */
function planOf(config: Config): Plan {
  return {
    name: config.planName,
    maxMonitors: config.planMaxMonitors,
    monthlyChecks: config.planMonthlyChecks,
    monthlyLogBytes: config.planMonthlyLogBytes,
  };
}

function openAnchors({ postgres: sql, clickhouse }: Stores, metrics: Metrics, log: Logger): AnchorWriter {
  const anchors = new AnchorWriter({ sql, clickhouse, metrics: metrics.audit, now: Date.now, log });
  metrics.onCollect(() => metrics.audit.lagSec.set(anchors.lagSec));
  return anchors;
}
