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

/** A task that waits for its turn. */
interface Waiting {
  readonly userId: number | null;
  readonly begin: () => void;
}

/** What one organisation has here. */
interface Organization {
  readonly waiting: Set<Waiting>;
  readonly runningOf: Map<number | null, number>;
  running: number;
  /** The number of its last place; 0 for one that has had none yet. */
  lastTurn: number;
}

/**
 * Lets so many tasks run at a time, shared fairly: a place that is free goes to the organisation that runs least, and
 * within it to who came first. Some more wait; the rest is refused. Who runs some already gets another place only
 * while at least as many stay free as it runs, so that the places of a busy hour come free for one that has none.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  /** Those that have something here. */
  readonly #organizations = new Map<number, Organization>();
  #running = 0;
  #waiting = 0;
  #turns = 0;

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
    { organizationId, userId }: Admitted,
    signal: AbortSignal,
    task: () => Promise<T>,
  ): Promise<T> {
    if (signal.aborted) throw this.#notBegun("the caller went away");
    const person = userId ?? null;
    const organization = this.#organizations.get(organizationId) ?? this.#enter(organizationId);
    if (this.#mayRun(organization, person)) this.#begin(organization, person);
    else await this.#turn(organizationId, organization, person, signal);
    try {
      return await task();
    } finally {
      this.#end(organizationId, organization, person);
    }
  }

  #enter(organizationId: number): Organization {
    const organization: Organization = { waiting: new Set(), runningOf: new Map(), running: 0, lastTurn: 0 };
    this.#organizations.set(organizationId, organization);
    return organization;
  }

  #mayRun({ running, runningOf }: Organization, person: number | null): boolean {
    const { maxRunning, maxRunningOfOne = maxRunning, maxRunningOfPerson = maxRunning } = this.#options;
    const free = maxRunning - this.#running;
    if (free === 0 || running >= maxRunningOfOne) return false;
    if (person !== null && (runningOf.get(person) ?? 0) >= maxRunningOfPerson) return false;
    return maxRunningOfOne === maxRunning || running < free;
  }

  #begin(organization: Organization, person: number | null): void {
    this.#running++;
    organization.running++;
    organization.lastTurn = ++this.#turns;
    organization.runningOf.set(person, (organization.runningOf.get(person) ?? 0) + 1);
  }

  #end(organizationId: number, organization: Organization, person: number | null): void {
    this.#running--;
    organization.running--;
    const ofPerson = (organization.runningOf.get(person) ?? 0) - 1;
    if (ofPerson === 0) organization.runningOf.delete(person);
    else organization.runningOf.set(person, ofPerson);
    this.#passOn();
    this.#leaveIfIdle(organizationId, organization);
  }

  /** Resolves when there is a place for this one. */
  #turn(
    organizationId: number,
    organization: Organization,
    userId: number | null,
    signal: AbortSignal,
  ): Promise<void> {
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
        reject(this.#notBegun("the caller went away"));
      };
      const waiting: Waiting = {
        userId,
        begin: () => {
          signal.removeEventListener("abort", leave);
          organization.waiting.delete(waiting);
          this.#waiting--;
          this.#begin(organization, userId);
          resolve();
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
    let next: Waiting | null = null;
    let least: Organization | null = null;
    for (const organization of this.#organizations.values()) {
      if (least !== null && !isBefore(organization, least)) continue;
      for (const waiting of organization.waiting) {
        if (!this.#mayRun(organization, waiting.userId)) continue;
        next = waiting;
        least = organization;
        break;
      }
    }
    return next;
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
