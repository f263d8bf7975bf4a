import { storableText } from "../../../storage/storable-text.ts";
import { type GroupedError, groupError } from "../grouping/group-error.ts";
import {
  DISTINCT_MAX_OF_SEAL,
  GROUPS_MAX_OF_SEAL,
  PLACE_MAX_CHARS,
  PLACES_MAX_OF_SEAL,
  SAMPLES_MAX,
} from "./limits.ts";
import type { StoredError } from "./read-errors.ts";

/** A release or an environment, and how often it was named. Times are milliseconds since 1970. */
export interface PlaceTally {
  readonly kind: "release" | "environment";
  readonly value: string;
  count: number;
  firstMs: number;
  lastMs: number;
}

/** An hour of the entries' own time. */
interface HourTally {
  n: number;
  firstMs: number;
  lastMs: number;
}

/** What a range has of one group. */
export interface GroupTally {
  readonly organizationId: number;
  readonly service: string;
  /** Of the first of them. */
  readonly error: GroupedError;
  readonly firstId: bigint;
  count: number;
  firstMs: number;
  lastMs: number;
  /** Of the first and the last that name one; empty without. */
  firstRelease: string;
  lastRelease: string;
  /** The newest. */
  readonly sampleIds: bigint[];
  readonly places: Map<string, PlaceTally>;
  readonly hours: Map<number, HourTally>;
}

/** What a range has of an organisation. */
interface OrganizationTally {
  readonly groups: readonly GroupTally[];
  /** Errors that are of no group, by their hour. */
  readonly otherHours: ReadonlyMap<number, HourTally>;
}

/** What is counted of an organisation so far. */
interface Counted {
  readonly groups: Map<string, GroupTally>;
  readonly other: Map<number, HourTally>;
}

const HOUR_MS = 3_600_000;

/** Puts errors together as they are read, in the order of their ids; what it answers depends on nothing else. */
export class ErrorTally {
  readonly #organizations = new Map<number, Counted>();

  add(entry: StoredError): void {
    const error = groupError(entry);
    if (error === null) return;
    const own = this.#of(entry.organizationId);
    let group = own.groups.get(error.fingerprint);
    if (group === undefined && own.groups.size >= DISTINCT_MAX_OF_SEAL) makeRoom(own);
    if (group === undefined) {
      group = newGroup(entry, error);
      own.groups.set(error.fingerprint, group);
    }
    countEntry(group, entry);
  }

  /** Of each organisation the groups with most errors, the largest first. */
  organizations(): ReadonlyMap<number, OrganizationTally> {
    const tallies = [...this.#organizations].map(([id, { groups, other }]): [number, OrganizationTally] => {
      const ranked = byCount(groups);
      const otherHours = new Map(other);
      for (const group of ranked.slice(GROUPS_MAX_OF_SEAL)) joinHours(otherHours, group);
      return [id, { groups: ranked.slice(0, GROUPS_MAX_OF_SEAL), otherHours }];
    });
    return new Map(tallies.filter(([, { groups }]) => groups.length > 0));
  }

  #of(organizationId: number): Counted {
    let own = this.#organizations.get(organizationId);
    if (own === undefined) {
      own = { groups: new Map(), other: new Map() };
      this.#organizations.set(organizationId, own);
    }
    return own;
  }
}

/** The groups with most errors first, of as many those that came first. */
function byCount(groups: ReadonlyMap<string, GroupTally>): GroupTally[] {
  return [...groups.values()].toSorted(
    (left, right) => right.count - left.count || (left.firstId < right.firstId ? -1 : 1),
  );
}

/**
 * Counts the half with fewest errors as of no group, so that a fault that begins among texts that never repeat is found whenever it does:
 * it is lost only where as many others as there is room for come between two of its errors.
 */
function makeRoom({ groups, other }: Counted): void {
  for (const group of byCount(groups).slice(Math.ceil(DISTINCT_MAX_OF_SEAL / 2))) {
    joinHours(other, group);
    groups.delete(group.error.fingerprint);
  }
}

function newGroup({ organizationId, service, id, seenMs }: StoredError, error: GroupedError): GroupTally {
  return {
    ...{ organizationId, service, error, firstId: id, count: 0, firstMs: seenMs, lastMs: seenMs },
    ...{ firstRelease: "", lastRelease: "", sampleIds: [], places: new Map(), hours: new Map() },
  };
}

function countEntry(group: GroupTally, { id, tsMs, seenMs, attrs }: StoredError): void {
  group.count++;
  group.firstMs = Math.min(group.firstMs, seenMs);
  group.lastMs = Math.max(group.lastMs, seenMs);
  group.sampleIds.push(id);
  if (group.sampleIds.length > SAMPLES_MAX) group.sampleIds.shift();
  countHour(group.hours, tsMs);
  const release = nameOf(attrs["service.version"]);
  if (release !== "") {
    if (group.firstRelease === "") group.firstRelease = release;
    group.lastRelease = release;
  }
  countPlace(group, "release", release, seenMs);
  const environment = attrs["deployment.environment.name"] ?? attrs["deployment.environment"];
  countPlace(group, "environment", nameOf(environment), seenMs);
}

function countPlace({ places }: GroupTally, kind: PlaceTally["kind"], value: string, atMs: number): void {
  if (value === "") return;
  const key = `${kind} ${value}`;
  const known = places.get(key);
  if (known === undefined) {
    if (places.size < PLACES_MAX_OF_SEAL)
      places.set(key, { kind, value, count: 1, firstMs: atMs, lastMs: atMs });
    return;
  }
  known.count++;
  known.firstMs = Math.min(known.firstMs, atMs);
  known.lastMs = Math.max(known.lastMs, atMs);
}

function countHour(hours: Map<number, HourTally>, atMs: number): void {
  joinHour(hours, Math.floor(atMs / HOUR_MS) * HOUR_MS, { n: 1, firstMs: atMs, lastMs: atMs });
}

function joinHours(hours: Map<number, HourTally>, group: GroupTally): void {
  for (const [hour, tally] of group.hours) joinHour(hours, hour, tally);
}

function joinHour(hours: Map<number, HourTally>, hour: number, { n, firstMs, lastMs }: HourTally): void {
  const known = hours.get(hour);
  if (known === undefined) hours.set(hour, { n, firstMs, lastMs });
  else {
    known.n += n;
    known.firstMs = Math.min(known.firstMs, firstMs);
    known.lastMs = Math.max(known.lastMs, lastMs);
  }
}

function nameOf(text: string | undefined): string {
  return storableText((text ?? "").slice(0, PLACE_MAX_CHARS)).trim();
}
