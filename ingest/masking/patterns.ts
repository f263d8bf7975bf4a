import { CARD } from "./card.ts";
import { EMAIL } from "./email.ts";
import type { MaskPattern } from "./mask-pattern.ts";
import { KEY_PATTERN, PASSWORD_PATTERN, TOKEN_PATTERN } from "./secrets.ts";

/** What a rule calls the patterns of secrets. */
export const MASK_PATTERN_NAMES = ["card", "email", "token", "key", "password"] as const;
export type MaskPatternName = (typeof MASK_PATTERN_NAMES)[number];

/** The patterns by their names. */
export const MASK_PATTERNS: Readonly<Record<MaskPatternName, MaskPattern>> = {
  card: CARD,
  email: EMAIL,
  token: TOKEN_PATTERN,
  key: KEY_PATTERN,
  password: PASSWORD_PATTERN,
};
