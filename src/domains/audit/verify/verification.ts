import {
  VERIFY_MAX_MS,
  VERIFY_MAX_RUNNING,
  VERIFY_MAX_WAITING,
  VERIFY_MAX_WAITING_OF_ONE,
} from "../../../audit/limits.ts";
import { Admission } from "../../../concurrency/admission.ts";
import { patient } from "../../../concurrency/patience.ts";
import { validationFailed } from "../../../errors.ts";
import { type CursorSeal, openCursor, sealCursor } from "../../../http/sealed-cursor.ts";
import { CHAIN_BEGINNING, type ChainPosition } from "./chain-walk.ts";
import type { VerifyAnswer } from "./types.ts";
import { type ChainDependencies, type ChainFinding, verifyChain } from "./verify-chain.ts";

interface VerificationOptions extends ChainDependencies {
  /** Signs cursors; the same for every instance of the server. */
  readonly cursorKey: Uint8Array;
  readonly monotonicMs: () => number;
}

// 1 byte version, 8 place, 8 anchored place, 32 hash.
const VERSION = 1;
const PAYLOAD_BYTES = 49;

/**
 * Verifies audit logs in calls of bounded time. A call that does not reach the end answers with a signed cursor of how
 * far the chain is intact. Nothing is remembered between verifications, also not that a part was intact and anchored:
 * an anchor vouches for what a row said then, and only reading the row again shows whether it still says so.
 */
export class Verification {
  readonly #options: VerificationOptions;
  readonly #admission = new Admission({
    what: "a verification",
    dependency: "postgres",
    maxRunning: VERIFY_MAX_RUNNING,
    maxWaiting: VERIFY_MAX_WAITING,
    maxWaitingOfOne: VERIFY_MAX_WAITING_OF_ONE,
  });

  constructor(options: VerificationOptions) {
    this.#options = options;
  }

  /** Throws VALIDATION_FAILED for a cursor of something else, and DependencyError when a store does not answer. */
  async verify(
    organizationId: number,
    cursor: string | undefined,
    signal: AbortSignal,
  ): Promise<VerifyAnswer> {
    const seal = { key: this.#options.cursorKey, purpose: "audit-verify", organizationId };
    const from = cursor === undefined ? CHAIN_BEGINNING : positionOf(cursor, seal);
    const { monotonicMs } = this.#options;
    const finding = await this.#admission.run({ organizationId }, signal, async () => {
      const deadlineMs = monotonicMs() + patient(VERIFY_MAX_MS);
      const isOver = (): boolean => signal.aborted || monotonicMs() >= deadlineMs;
      return verifyChain(this.#options, organizationId, from, isOver);
    });
    return answerOf(finding, seal);
  }
}

function answerOf(finding: ChainFinding, seal: CursorSeal): VerifyAnswer {
  const { position, isComplete, problem, brokenId, isTailMissing } = finding;
  return {
    ok: isComplete && problem === null,
    checkedRows: position.seq,
    firstBrokenId: brokenId,
    anchoredThrough: position.anchoredThrough,
    missingTail: isTailMissing,
    problem,
    nextCursor: isComplete ? null : cursorOf(position, seal),
  };
}

function cursorOf({ seq, hash, anchoredThrough }: ChainPosition, seal: CursorSeal): string {
  const payload = Buffer.alloc(PAYLOAD_BYTES);
  payload.writeUInt8(VERSION, 0);
  payload.writeBigUInt64BE(BigInt(seq), 1);
  payload.writeBigUInt64BE(BigInt(anchoredThrough), 9);
  payload.set(hash, 17);
  return sealCursor(payload, seal);
}

function positionOf(cursor: string, seal: CursorSeal): ChainPosition {
  const payload = openCursor(cursor, PAYLOAD_BYTES, seal);
  if (payload === null || payload.readUInt8(0) !== VERSION)
    throw validationFailed([
      { path: "/cursor", code: "invalid_string", message: "is not a cursor of a verification" },
    ]);
  return {
    seq: Number(payload.readBigUInt64BE(1)),
    anchoredThrough: Number(payload.readBigUInt64BE(9)),
    hash: payload.subarray(17),
  };
}
