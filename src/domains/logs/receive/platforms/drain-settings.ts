import type { Sql } from "postgres";
import { type Static, Type } from "typebox";
import type { SecretBox } from "../../../../access/secret-box.ts";
import type { Change } from "../../../../changes/change.ts";
import { ApiError } from "../../../../errors.ts";
import { askPostgres } from "../../../../storage/ask-postgres.ts";
import { LookupCache } from "../../../../storage/lookup-cache.ts";
import { inOrganization, lockOrganization } from "../../../../storage/organization-transaction.ts";
import {
  type DrainSettingsRow,
  deleteDrainSettings,
  findDrainSettings,
  putDrainSettings,
} from "./drain-settings-store.ts";
import {
  SETTINGS_CACHE_LIFE_MS,
  SETTINGS_CACHE_MAX,
  SIGNING_SECRET_MAX_CHARS,
  SIGNING_SECRET_MIN_CHARS,
  VERIFICATION_CODE_MAX_CHARS,
} from "./limits.ts";

export const PutDrainSettingsBody = Type.Object(
  {
    secret: Type.Optional(
      Type.Union(
        [
          Type.String({
            minLength: SIGNING_SECRET_MIN_CHARS,
            maxLength: SIGNING_SECRET_MAX_CHARS,
            examples: ["q8Zt3Vx7Lm2Rk9Wc5Yb1Nd6Hs4Pf0JgT"],
          }),
          Type.Null(),
        ],
        { description: "With it, requests must be signed. It is never shown again; null or absent: none." },
      ),
    ),
    verificationCode: Type.Optional(
      Type.Union(
        [
          Type.String({
            pattern: `^[\\x21-\\x7e]{1,${VERIFICATION_CODE_MAX_CHARS}}$`,
            examples: ["5f3e8a91c2d74b60"],
          }),
          Type.Null(),
        ],
        { description: "What the platform wants to read in the header `x-vercel-verify` of answers." },
      ),
    ),
  },
  { $id: "PutDrainSettings", additionalProperties: false },
);

export const DrainSettings = Type.Object(
  {
    signatureRequired: Type.Boolean({ examples: [true] }),
    verificationCode: Type.Union([Type.String(), Type.Null()], { examples: ["5f3e8a91c2d74b60"] }),
    createdAt: Type.String({ format: "date-time" }),
    updatedAt: Type.String({ format: "date-time" }),
  },
  { $id: "DrainSettings" },
);
type DrainSettings = Static<typeof DrainSettings>;

/** What a request of the deployment drain is held to. */
interface DrainChecks {
  readonly secret: string | null;
  readonly verificationCode: string | null;
}

const NO_CHECKS: DrainChecks = { secret: null, verificationCode: null };
const RESOURCE = "deployment-drain-settings";

/** The settings of organisations for their deployment platform's drain. */
export class DeploymentDrainSettings {
  readonly #sql: Sql;
  readonly #box: SecretBox;
  /** Remembers for a moment, also that there are none, so that not every request asks Postgres. */
  readonly #cache: LookupCache<DrainChecks>;

  constructor({ sql, box, now }: { sql: Sql; box: SecretBox; now: () => number }) {
    this.#sql = sql;
    this.#box = box;
    this.#cache = new LookupCache({
      now,
      lifeMs: SETTINGS_CACHE_LIFE_MS,
      max: SETTINGS_CACHE_MAX,
      absentMax: SETTINGS_CACHE_MAX,
    });
  }

  /** Throws DependencyError: while it is not known whether a signature is required, nothing is accepted. */
  async checksOf(organizationId: number): Promise<DrainChecks> {
    const found = await this.#cache.get(String(organizationId), async () => {
      const row = await this.#find(organizationId);
      if (row === null) return null;
      const { sealedSecret, verificationCode } = row;
      return {
        secret: sealedSecret === null ? null : this.#box.open(sealedSecret, purposeOf(organizationId)),
        verificationCode,
      };
    });
    return found ?? NO_CHECKS;
  }

  /** Throws NOT_FOUND when there are none. */
  async describe(organizationId: number): Promise<DrainSettings> {
    const row = await this.#find(organizationId);
    if (row === null) throw noSettings();
    return shown(row);
  }

  /** Replaces the settings. */
  async put(change: Change, body: Static<typeof PutDrainSettingsBody>): Promise<DrainSettings> {
    const { tx, organizationId, nowMs } = change;
    await lockOrganization(tx, organizationId);
    const secret = body.secret ?? null;
    const before = await findDrainSettings(tx, organizationId);
    const row: DrainSettingsRow = {
      sealedSecret: secret === null ? null : this.#box.seal(secret, purposeOf(organizationId)),
      verificationCode: body.verificationCode ?? null,
      createdAtMs: before?.createdAtMs ?? nowMs,
      updatedAtMs: nowMs,
    };
    await putDrainSettings(tx, organizationId, row, nowMs);
    change.record({
      resource: RESOURCE,
      ...(before !== null && { before: shown(before) }),
      after: shown(row),
      ...(secret !== null && { facts: { secretReplaced: true } }),
    });
    change.afterCommit(() => this.#cache.forget(String(organizationId)));
    return shown(row);
  }

  /** Throws NOT_FOUND when there are none. */
  async remove(change: Change): Promise<void> {
    const { tx, organizationId } = change;
    await lockOrganization(tx, organizationId);
    const before = await findDrainSettings(tx, organizationId);
    if (before === null) throw noSettings();
    await deleteDrainSettings(tx, organizationId);
    change.record({ resource: RESOURCE, before: shown(before) });
    change.afterCommit(() => this.#cache.forget(String(organizationId)));
  }

  #find(organizationId: number): Promise<DrainSettingsRow | null> {
    return askPostgres(() =>
      inOrganization(this.#sql, organizationId, (tx) => findDrainSettings(tx, organizationId)),
    );
  }
}

function purposeOf(organizationId: number): string {
  return `deployment-drain-secret:${organizationId}`;
}

function shown({
  sealedSecret,
  verificationCode,
  createdAtMs,
  updatedAtMs,
}: DrainSettingsRow): DrainSettings {
  return {
    signatureRequired: sealedSecret !== null,
    verificationCode,
    createdAt: new Date(createdAtMs).toISOString(),
    updatedAt: new Date(updatedAtMs).toISOString(),
  };
}

function noSettings(): ApiError {
  return new ApiError("NOT_FOUND", "Nothing is configured for the deployment platform's drain.");
}
