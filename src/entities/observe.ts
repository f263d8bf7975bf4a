import { ThreadSlice } from "../concurrency/thread-turns.ts";
import { type EntityType, entityKey } from "./entity-key.ts";
import type { SeenEntity } from "./entity-store.ts";
import type { IndicatorValue } from "./indicators/indicator-value.ts";
import { internetNames, isCertain, observableOf } from "./observables.ts";
import type { EntityName, SeenEdge } from "./signal-labels.ts";

/** How often something was seen, and when, in milliseconds since 1970; `sampleId` is an entry that shows it. */
interface Sighting {
  readonly n: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly sampleId: bigint;
}

export interface SeenObservable extends Sighting {
  readonly indicator: IndicatorValue;
  readonly where: EntityName;
}

interface SeenLink extends Sighting {
  readonly kind: SeenEdge;
  readonly from: EntityName;
  readonly to: EntityName;
}

/** What entries of a range say of one organisation's entities. */
export interface Observations {
  readonly entities: readonly SeenEntity[];
  /** What is kept, for who lists it later. */
  readonly observables: readonly SeenObservable[];
  /** Names that are likely those of files and classes: looked for among what is listed now, and not kept. */
  readonly doubtful: readonly SeenObservable[];
  readonly links: readonly SeenLink[];
}

type Row = readonly unknown[];

/** Where something was seen whose entry says neither host nor service. */
const NOWHERE: EntityName = { type: "service", key: "unknown" };

/** Puts together what the rows of `candidatesPlan`, `actorsPlan` and `agentsPlan` say. */
export async function observe(
  candidates: readonly Row[],
  actors: readonly Row[],
  agents: readonly Row[],
): Promise<Observations> {
  const slice = new ThreadSlice();
  const entities = new Map<string, SeenEntity>();
  const observables = new Map<string, SeenObservable>();
  const doubtful = new Map<string, SeenObservable>();
  let isOfInternet: Awaited<ReturnType<typeof internetNames>> | undefined;
  const links = new Map<string, SeenLink>();
  const see = (type: EntityType, text: unknown, at: Sighting): EntityName | null => {
    const name = String(text ?? "")
      .slice(0, 512)
      .toWellFormed();
    const key = entityKey(type, name);
    if (key === null) return null;
    const id = `${type}\t${key}`;
    const known = entities.get(id);
    const firstMs = Math.min(at.firstMs, known?.firstMs ?? at.firstMs);
    const lastMs = Math.max(at.lastMs, known?.lastMs ?? at.lastMs);
    entities.set(id, {
      type,
      key,
      name: known?.name ?? (type === "identity" ? name.trim() : key),
      firstMs,
      lastMs,
    });
    return { type, key };
  };
  const link = (kind: SeenEdge, from: EntityName | null, to: EntityName | null, at: Sighting): void => {
    if (from === null || to === null) return;
    const id = [kind, from.type, from.key, to.type, to.key].join("\t");
    links.set(id, { kind, from, to, ...together(links.get(id), at) });
  };
  for (const [candidate, host, service, ...rest] of candidates) {
    if (slice.isOver) await slice.yield();
    const indicator = observableOf(String(candidate));
    if (indicator === null) continue;
    const at = sightingOf(rest);
    const onHost = see("host", host, at);
    const where = onHost ?? see("service", service, at) ?? NOWHERE;
    const { type, value } = indicator;
    const isKnown = isCertain(String(candidate));
    const found = type === "hash" || !isKnown ? null : see(type, value, at);
    if (type === "domain") link("uses", onHost, found, at);
    const id = [type, value, where.type, where.key].join("\t");
    if (!isKnown) isOfInternet ??= await internetNames();
    const among = isKnown || isOfInternet?.(value) === true ? observables : doubtful;
    among.set(id, { indicator, where, ...together(among.get(id), at) });
  }
  for (const [service, host, user, address, outcome, ...rest] of actors) {
    if (slice.isOver) await slice.yield();
    const at = sightingOf(rest);
    const [inService, onHost] = [see("service", service, at), see("host", host, at)];
    const [who, from] = [see("identity", user, at), see("ip", address, at)];
    link("runs_on", inService, onHost, at);
    link("calls", from, inService, at);
    link("uses", who, inService, at);
    // Whoever only tries to sign in as somebody is neither there nor where he signs in from.
    if (outcome === "failure") continue;
    link("uses", who, onHost, at);
    link("logged_in_from", who, from, at);
  }
  for (const [agent, model, tool, service, ...rest] of agents) {
    if (slice.isOver) await slice.yield();
    const at = sightingOf(rest);
    const who = see("ai_agent", agent, at);
    link("uses", who, see("model", model, at), at);
    link("calls", who, see("tool", tool, at), at);
    link("runs_on", who, see("service", service, at), at);
  }
  return {
    entities: [...entities.values()],
    observables: [...observables.values()],
    doubtful: [...doubtful.values()],
    links: [...links.values()],
  };
}

function sightingOf([n, firstMs, lastMs, sampleId]: Row): Sighting {
  return {
    n: Number(n),
    firstMs: Number(firstMs),
    lastMs: Number(lastMs),
    sampleId: BigInt(String(sampleId)),
  };
}

function together(known: Sighting | undefined, { n, firstMs, lastMs, sampleId }: Sighting): Sighting {
  if (known === undefined) return { n, firstMs, lastMs, sampleId };
  return {
    n: known.n + n,
    firstMs: Math.min(known.firstMs, firstMs),
    lastMs: Math.max(known.lastMs, lastMs),
    sampleId: known.sampleId > sampleId ? known.sampleId : sampleId,
  };
}
