import { openArchiveFiles } from "../archive/log-archive.ts";
import { ArchiveIndex } from "../archive/reading/archive-index.ts";
import { LogRanges } from "../archive/reading/log-ranges.ts";
import { AnchorWriter } from "../audit/anchors/anchor-writer.ts";
import { type Config, publicUrlOf } from "../config/config.ts";
import { RuleCounter } from "../domains/ingest-rules/rule-counts.ts";
import { RuleDirectory } from "../domains/ingest-rules/rule-directory.ts";
import { SourceDirectory } from "../domains/ingest-sources/source-directory.ts";
import { TailHub } from "../domains/logs/tail/tail-hub.ts";
import { Quarantine } from "../domains/quarantine/quarantine.ts";
import { Authenticator } from "../identity/authenticator.ts";
import { BelievedClock } from "../jobs/clock/believed-clock.ts";
import { openBootClock } from "../jobs/clock/boot-clock.ts";
import type { Logger } from "../log.ts";
import { LogReceiver } from "../receive/receive-records.ts";
import { findFreePort } from "../storage/embedded/free-port.ts";
import { openSecretBox } from "../storage/load-secret-key.ts";
import type { Stores } from "../storage/open.ts";
import { loadSigningKey } from "../storage/server-identity.ts";
import { DailyCaps } from "../usage/daily-caps.ts";
import { type Plan, PlanCaps } from "../usage/plan.ts";
import { openServerArchive } from "./archive.ts";
import { openServerEvents } from "./events.ts";
import { openServerIngest } from "./ingest.ts";
import { openServerMail } from "./mail.ts";
import type { Metrics } from "./metrics.ts";
import { createQueryRunner, queryBudgetOf } from "./queries.ts";

interface Foundation {
  readonly config: Config;
  readonly stores: Stores;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** What every domain may use, each under one name for all of them. */
export type Services = Awaited<ReturnType<typeof openServices>>;

/** Opens what domains stand on. Nothing of it works before its part is started. */
export async function openServices({ config, stores, metrics, log }: Foundation) {
  const { postgres: sql, clickhouse } = stores;
  const now = Date.now;
  const files = await openArchiveFiles(config, clickhouse);
  const hub = new TailHub({ log, metrics: metrics.tail });
  const ruleCounter = new RuleCounter({ sql, metrics: metrics.ingestRules, now, log });
  const rules = new RuleDirectory({ sql, counter: ruleCounter, metrics: metrics.ingestRules, now, log });
  const serverIngest = await openServerIngest({
    ...{ config, stores, files, metrics, log },
    committed: hub,
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
  const port = config.port === 0 ? await findFreePort() : config.port;
  const publicUrl = publicUrlOf(config, port);
  const anchors = openAnchors(stores, metrics, log);
  const events = openServerEvents({ sql, metrics, log, onAudited: anchors.wake });
  const { changes } = events;
  const mail = openServerMail({ config, publicUrl, sql, changes, box, metrics, log });
  const plans = new PlanCaps({ plan: planOf(config), sql, now });
  const caps = { token: new DailyCaps({ sql, now }), plan: plans };
  const quarantineBounds = { maxRecords: config.quarantineMaxRecords, maxBytes: config.quarantineMaxBytes };
  const quarantine = new Quarantine({ sql, bounds: quarantineBounds, metrics: metrics.quarantine, now });
  const runner = createQueryRunner(stores, metrics);
  return {
    config,
    /** Where the server listens, and under which address people reach it. */
    port,
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
    cookie: { secure: publicUrl.startsWith("https:") },
    plans,
    caps,
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
    /** Stored and archived entries as one. */
    ranges: new LogRanges({
      runner,
      index: new ArchiveIndex(sql),
      files,
      onUnreadable: (unreadable) => log.error({ files: unreadable }, "archived files cannot be read"),
    }),
    budget: queryBudgetOf(config),
    /** Where archived entries lie; null when no archive is configured. */
    files,
    archive: openServerArchive({ config, files, stores, clock, metrics, log }),
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
