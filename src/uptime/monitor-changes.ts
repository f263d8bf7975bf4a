/**
 * Rings on this instance when somebody has changed something about monitors: their settings, their heartbeats, announced
 * work. Nobody may hear it: what is watched is asked for now and then all the same.
 */
export class MonitorChanges {
  #listener: () => void = () => undefined;

  /** There is one: what watches monitors. It must not throw. */
  listen(listener: () => void): void {
    this.#listener = listener;
  }

  readonly wake = (): void => this.#listener();
}
