import { compileKql, emit, guardPlan, type QueryScope } from "../../query/index.ts";
import { quantile } from "./quantile.ts";

/** Enough for the just-in-time compiler to have settled. */
const WARM_UP_TURNS = 1500;
const TURNS = 1000;

/** Microseconds. */
interface CompileTime {
  readonly p50Us: number;
  readonly p99Us: number;
  /** Text to typed plan. */
  readonly planP50Us: number;
  /** Typed plan to SQL. */
  readonly emitP50Us: number;
}

/** Compiles every text in turn, so that no query has the caches to itself. */
export function measureCompilation(
  texts: readonly string[],
  nowNs: bigint,
  scope: QueryScope,
): CompileTime[] {
  const plans: number[][] = texts.map(() => []);
  const emits: number[][] = texts.map(() => []);
  for (let turn = -WARM_UP_TURNS; turn < TURNS; turn++) {
    for (const [i, text] of texts.entries()) {
      const startMs = performance.now();
      const compilation = compileKql(text, { nowNs });
      const planMs = performance.now();
      if (!compilation.ok) throw new Error(`${text}: ${compilation.diagnostics[0]?.message}`);
      emit(guardPlan(compilation.query.relation, scope));
      const endMs = performance.now();
      if (turn < 0) continue;
      plans[i]?.push(planMs - startMs);
      emits[i]?.push(endMs - planMs);
    }
  }
  return texts.map((_, i) => {
    const [plan = [], emission = []] = [plans[i], emits[i]];
    const whole = plan.map((ms, turn) => ms + (emission[turn] ?? 0));
    return {
      p50Us: microseconds(quantile(whole, 0.5)),
      p99Us: microseconds(quantile(whole, 0.99)),
      planP50Us: microseconds(quantile(plan, 0.5)),
      emitP50Us: microseconds(quantile(emission, 0.5)),
    };
  });
}

function microseconds(ms: number): number {
  return Math.round(ms * 10_000) / 10;
}
