import { DependencyError } from "../errors.ts";

interface AdmissionOptions {
  /** What is asked for here, and of whom, as an error calls it: "a query", "clickhouse". */
  readonly what: string;
  readonly dependency: string;
  readonly maxRunning: number;
  readonly maxWaiting: number;
  /** Of one organisation; the same as of all where none can fill it. */
  readonly maxRunningOfOne?: number;
  readonly maxWaitingOfOne?: number;
  /** Of one person within it. */
  readonly maxRunningOfPerson?: number;
}

/** On whose behalf something is done. */
interface Admitted {
  readonly organizationId: number;
  /** Absent where it does not matter who of the organisation it is. */
  readonly userId?: number;
}

/** What a task would have besides its place. */
interface Demand {
  /** The part it takes of the memory that all share, 0 to 1. */
  readonly memory?: number;
  /** Whether it waits until it has it; one that does not begins without it while others have it, or wait for it. */
  readonly needsMemory?: boolean;
}

/** What a task has when it begins. */
export interface Place {
  readonly hasMemory: boolean;
  /** Tasks that run, this one counted: of all, and of its organisation. */
  readonly running: number;
  readonly runningOfOne: number;
}

interface Task {
  readonly person: number | null;
  readonly memory: number;
  readonly needsMemory: boolean;
}

/** A task that waits for its turn. */
interface Waiting extends Task {
  readonly begin: () => void;
}

/** What one organisation has here. */
interface Organization {
  readonly waiting: Set<Waiting>;
  readonly runningOf: Map<number | null, number>;
  running: number;
  /** The part of the memory that its tasks have. */
  memory: number;
  /** The number of its last place, and of its last with memory; 0 for one that has had none yet. */
  lastTurn: number;
  lastMemoryTurn: number;
}

/**
 * Lets so many tasks run at a time, shared fairly: a place that is free goes to the organisation that runs least, and
 * within it to who came first. Some more wait; the rest is refused. Who runs some already gets another place only
 * while at least as many stay free as it runs, so that the places of a busy hour come free for one that has none.
 *
 * Tasks may share memory besides. Those that need it have turns of their own, so that a large one is not overtaken for
 * ever by smaller ones: first the organisation that has least of it. Nobody else waits for them.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  /** Those that have something here. */
  readonly #organizations = new Map<number, Organization>();
  #running = 0;
  #waiting = 0;
  #turns = 0;
  /** The part of the memory that is taken, a sum of what `exactShare` makes. */
  #memory = 0;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** Organisations that have something running or waiting. */
  get organizations(): number {
    return this.#organizations.size;
  }

  /**
   * Runs the task when its turn comes. Throws a retryable DependencyError when too many wait, and when the signal
   * aborts before the task begins.
   */
  async run<T>(
    { organizationId, userId, memory = 0, needsMemory = false }: Admitted & Demand,
    signal: AbortSignal,
    work: (place: Place) => Promise<T>,
  ): Promise<T> {
    if (signal.aborted) throw this.#notBegun("the caller went away");
    const task: Task = { person: userId ?? null, memory: exactShare(memory), needsMemory };
    const organization = this.#organizations.get(organizationId) ?? this.#enter(organizationId);
    const mayBegin = this.#mayRun(organization, task) && (!needsMemory || this.#isMemoryFree(task));
    const place = mayBegin
      ? this.#begin(organization, task)
      : await this.#turn(organizationId, organization, task, signal);
    try {
      return await work(place);
    } finally {
      this.#end(organizationId, organization, task, place);
    }
  }

  #enter(organizationId: number): Organization {
    const organization: Organization = {
      waiting: new Set(),
      runningOf: new Map(),
      running: 0,
      memory: 0,
      lastTurn: 0,
      lastMemoryTurn: 0,
    };
    this.#organizations.set(organizationId, organization);
    return organization;
  }

  #mayRun({ running, runningOf }: Organization, { person }: Task): boolean {
    const { maxRunning, maxRunningOfOne = maxRunning, maxRunningOfPerson = maxRunning } = this.#options;
    const free = maxRunning - this.#running;
    if (free === 0 || running >= maxRunningOfOne) return false;
    if (person !== null && (runningOf.get(person) ?? 0) >= maxRunningOfPerson) return false;
    return maxRunningOfOne === maxRunning || running < free;
  }

  /** Whether there is memory for this one, and nobody has waited for it longer. */
  #isMemoryFree({ memory }: Task): boolean {
    return this.#memory + memory <= 1 && this.#nextForMemory() === null;
  }

  #begin(organization: Organization, { person, memory, needsMemory }: Task): Place {
    const hasMemory = memory === 0 || needsMemory || this.#isMemoryFree({ person, memory, needsMemory });
    this.#running++;
    organization.running++;
    organization.lastTurn = ++this.#turns;
    organization.runningOf.set(person, (organization.runningOf.get(person) ?? 0) + 1);
    if (hasMemory && memory > 0) {
      this.#memory += memory;
      organization.memory += memory;
      organization.lastMemoryTurn = this.#turns;
    }
    return { hasMemory, running: this.#running, runningOfOne: organization.running };
  }

  #end(
    organizationId: number,
    organization: Organization,
    { person, memory }: Task,
    { hasMemory }: Place,
  ): void {
    this.#running--;
    organization.running--;
    if (hasMemory) {
      this.#memory -= memory;
      organization.memory -= memory;
    }
    const ofPerson = (organization.runningOf.get(person) ?? 0) - 1;
    if (ofPerson === 0) organization.runningOf.delete(person);
    else organization.runningOf.set(person, ofPerson);
    this.#passOn();
    this.#leaveIfIdle(organizationId, organization);
  }

  /** Resolves when there is a place for this one. */
  #turn(organizationId: number, organization: Organization, task: Task, signal: AbortSignal): Promise<Place> {
    const { maxWaiting, maxWaitingOfOne = maxWaiting } = this.#options;
    if (this.#waiting >= maxWaiting || organization.waiting.size >= maxWaitingOfOne) {
      this.#leaveIfIdle(organizationId, organization);
      throw this.#notBegun("too many are waiting");
    }
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        organization.waiting.delete(waiting);
        this.#waiting--;
        this.#leaveIfIdle(organizationId, organization);
        // Who waited behind this one for memory may find enough.
        this.#passOn();
        reject(this.#notBegun("the caller went away"));
      };
      const waiting: Waiting = {
        ...task,
        begin: () => {
          signal.removeEventListener("abort", leave);
          organization.waiting.delete(waiting);
          this.#waiting--;
          resolve(this.#begin(organization, task));
        },
      };
      organization.waiting.add(waiting);
      this.#waiting++;
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  /** Gives away the places that are free. */
  #passOn(): void {
    for (let next = this.#next(); next !== null; next = this.#next()) next.begin();
  }

  /** The first that may run of the organisation that runs least; of several, of the one whose last place is longest ago. */
  #next(): Waiting | null {
    const forMemory = this.#nextForMemory();
    const isItsTurn = (waiting: Waiting): boolean =>
      !waiting.needsMemory || (waiting === forMemory && this.#memory + waiting.memory <= 1);
    return this.#first(isBefore, isItsTurn);
  }

  /** Whose turn it is to have memory: of the organisation that has least of it. */
  #nextForMemory(): Waiting | null {
    return this.#first(hasLessMemory, ({ needsMemory }) => needsMemory);
  }

  #first(
    isAhead: (one: Organization, other: Organization) => boolean,
    isMeant: (waiting: Waiting) => boolean,
  ): Waiting | null {
    let first: Waiting | null = null;
    let ahead: Organization | null = null;
    for (const organization of this.#organizations.values()) {
      if (ahead !== null && !isAhead(organization, ahead)) continue;
      for (const waiting of organization.waiting) {
        if (!isMeant(waiting) || !this.#mayRun(organization, waiting)) continue;
        first = waiting;
        ahead = organization;
        break;
      }
    }
    return first;
  }

  #leaveIfIdle(organizationId: number, { running, waiting }: Organization): void {
    if (running === 0 && waiting.size === 0) this.#organizations.delete(organizationId);
  }

  #notBegun(reason: string): DependencyError {
    const { dependency, what } = this.#options;
    return new DependencyError(dependency, `${what} was not begun: ${reason}`, { retryable: true });
  }
}

function isBefore(one: Organization, other: Organization): boolean {
  return one.running === other.running ? one.lastTurn < other.lastTurn : one.running < other.running;
}

function hasLessMemory(one: Organization, other: Organization): boolean {
  return one.memory === other.memory ? one.lastMemoryTurn < other.lastMemoryTurn : one.memory < other.memory;
}

const SHARE_PARTS = 2 ** 20;

/** Rounded up to a part whose sums and differences are exact, so that nothing is left when all is given back. */
function exactShare(part: number): number {
  return Math.min(1, Math.ceil(part * SHARE_PARTS) / SHARE_PARTS);
}
