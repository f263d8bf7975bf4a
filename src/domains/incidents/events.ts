import { type Static, Type } from "typebox";
import { defineEvent } from "../../changes/events/event-kind.ts";
import { Incident, IncidentUpdate } from "./types.ts";

/**
 * What all five tell; the subject is `incident:<id>`, so that whoever subscribes to several of them in one order hears
 * an incident's story as it went. A property that an incident gets later is optional here, for older events lack it.
 */
const Told = Type.Object({
  /** As it is now, in the form in which the API shows it. */
  incident: Type.Object(Incident.properties),
  /** The how manieth time of being open this is, from 0: an escalation belongs to one of them. */
  run: Type.Integer(),
  /**
   * Whether somebody is to be told. Who is and how, what maintenance holds back, and that some sources only notify and
   * never page (`incident.source.kind`), is up to who tells them; the policy is `incident.escalationPolicyId`.
   */
  notify: Type.Boolean(),
  /** The row of the timeline that says what happened, its text cut; null where none was written. */
  update: Type.Union([Type.Object(IncidentUpdate.properties), Type.Null()]),
});
export type Told = Static<typeof Told>;

export const incidentOpened = defineEvent("incident.opened", Told);
/** A person answers for it: nobody else need be woken. */
export const incidentAcknowledged = defineEvent("incident.acknowledged", Told);
/** A person wrote, or its source says something else: severity, title, monitors. */
export const incidentUpdated = defineEvent("incident.updated", Told);
/** It is back, and acknowledged by nobody: by its source, as one that flaps from now on, or by a person. */
export const incidentReopened = defineEvent("incident.reopened", Told);
/** It is over; `incident.resolution` says why. */
export const incidentResolved = defineEvent("incident.resolved", Told);
