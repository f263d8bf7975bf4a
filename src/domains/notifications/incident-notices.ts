import type { TransactionSql } from "postgres";
import type { SecretBox } from "../../access/secret-box.ts";
import { targetsOfRecords } from "../../notify/alert-targets.ts";
import type { ChannelName, Target } from "../../notify/channels/target.ts";
import { supersede, toldTargets } from "../../notify/deliveries/delivery-store.ts";
import type { Teller } from "../../notify/deliveries/tell.ts";
import { defaultTargets } from "./defaults.ts";
import { openIncidentOf } from "./open-incident.ts";
import {
  type IncidentEvent,
  monitorNotification,
  notificationOf,
  type ToldEvent,
  type ToldIncident,
  type ToldOfMonitor,
} from "./words.ts";

interface NoticeDependencies {
  readonly box: SecretBox;
  readonly teller: Teller;
  readonly publicUrl: string;
  /** Called when there is something to send, once it is kept. */
  readonly onTold: () => void;
}

/** In the change of the event that is told of. */
interface Telling {
  readonly tx: TransactionSql;
  readonly organizationId: number;
  readonly nowMs: number;
  readonly afterCommit: (act: () => void) => void;
}

/** Channels whose readers want the end of it, and not first that it began, when they hear of it late. */
const SUPERSEDED: readonly ChannelName[] = [
  "email",
  "chatA",
  "chatB",
  "chatC",
  "chatD",
  "sms",
  "voice",
  "template",
];
/** Channels that wake or cost: they hear what begins and what is over. */
const TERSE: readonly ChannelName[] = ["email", "sms", "voice"];

/** Writes who is told of what becomes of incidents. */
export class IncidentNotices {
  readonly #deps: NoticeDependencies;

  constructor(deps: NoticeDependencies) {
    this.#deps = deps;
  }

  /** `eventId` names the event, so that its receivers are told once. */
  async tell(change: Telling, eventId: number, told: ToldEvent): Promise<void> {
    const { teller, publicUrl, onTold } = this.#deps;
    const { tx, organizationId, nowMs } = change;
    const { event, incident } = told;
    if (event === "resolved")
      await supersede(tx, organizationId, { incidentId: incident.id, channels: SUPERSEDED });
    const targets = (await this.#audience(tx, organizationId, incident)).filter((target) =>
      hears(target, event),
    );
    const due = event === "resolved" ? await this.#toldBefore(change, incident, targets) : targets;
    const written = await teller.tell(
      tx,
      organizationId,
      {
        incidentId: incident.id,
        eventId: `event:${eventId}`,
        notification: notificationOf(told, publicUrl),
        targets: due,
        isPage: false,
      },
      nowMs,
    );
    if (written.length > 0) change.afterCommit(onTold);
  }

  /** Says something of a monitor that is no event of an incident. `eventId` as above. */
  async tellOfMonitor(
    { tx, organizationId, nowMs, afterCommit }: Telling,
    eventId: number,
    said: ToldOfMonitor,
  ): Promise<void> {
    const { teller, publicUrl, onTold } = this.#deps;
    const { monitorId } = said;
    const open = await openIncidentOf(tx, organizationId, `monitor:${monitorId}`);
    // Whoever answered knows.
    if (said.kind === "reminder" && open?.isAcknowledged !== false) return;
    const own = await this.#channelsOf(tx, organizationId, "monitors", [monitorId]);
    const written = await teller.tell(
      tx,
      organizationId,
      {
        incidentId: open?.id ?? null,
        eventId: `event:${eventId}`,
        notification: monitorNotification(said, open?.id ?? null, publicUrl),
        targets: own,
        isPage: false,
      },
      nowMs,
    );
    if (written.length > 0) afterCommit(onTold);
  }

  /** Of monitors and rules their own channels; of everything else, and where they have none, those of the organisation. */
  async #audience(tx: TransactionSql, organizationId: number, incident: ToldIncident): Promise<Target[]> {
    const { source, monitorIds } = incident;
    if (source?.kind === "rule") {
      const { ruleKind } = incident;
      const table = ruleKind === "correlation" ? "correlation_rules" : "log_alerts";
      // Rules about metrics have no channels of their own.
      return this.#channelsOf(tx, organizationId, table, ruleKind === "metric" ? [] : [source.id]);
    }
    const isOfMonitors = source === null || ["monitor", "certificate", "slo"].includes(source.kind);
    return this.#channelsOf(tx, organizationId, "monitors", isOfMonitors ? monitorIds : []);
  }

  async #channelsOf(
    tx: TransactionSql,
    organizationId: number,
    table: "monitors" | "log_alerts" | "correlation_rules",
    ids: readonly number[],
  ): Promise<Target[]> {
    const { box } = this.#deps;
    const own = await targetsOfRecords(tx, box, organizationId, { table, ids });
    return own.length > 0 ? own : defaultTargets(tx, box, organizationId);
  }

  /** Only those who heard that it began hear that it is over. */
  async #toldBefore(
    { tx, organizationId }: Telling,
    { id }: ToldIncident,
    targets: readonly Target[],
  ): Promise<Target[]> {
    const told = await toldTargets(tx, organizationId, id);
    return targets.filter((target) =>
      told.has(this.#deps.teller.hashOf(organizationId, target).toString("base64")),
    );
  }
}

function hears({ channel }: Target, event: IncidentEvent): boolean {
  if (event === "updated") return channel === "webhook";
  return event !== "acknowledged" || !TERSE.includes(channel);
}
