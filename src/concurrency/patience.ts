/**
 * How many times longer than usual this process waits for what takes milliseconds on an ordinary machine. Like the speed of the
 * machine it is the same for everything in the process, so nobody hands it on.
 */
let factor = 1;

/** Said once, before anything is waited for. */
export function setPatience(times: number): void {
  factor = times;
}

/** So long does this process wait for what usually gets `ms`. */
export function patient(ms: number): number {
  return ms * factor;
}

/** The same of what a statement may take. */
export function patientBudget<Budget extends { readonly maxExecutionMs: number }>(budget: Budget): Budget {
  return { ...budget, maxExecutionMs: patient(budget.maxExecutionMs) };
}
