import { CARD } from "./card.ts";
import { EMAIL } from "./email.ts";
import type { MaskPattern } from "./mask-pattern.ts";
import { KEY_PATTERN, PASSWORD_PATTERN, TOKEN_PATTERN } from "./secrets.ts";

/** The patterns of secrets that a rule can name. */
export const MASK_PATTERNS = {
  card: CARD,
  email: EMAIL,
  token: TOKEN_PATTERN,
  key: KEY_PATTERN,
  password: PASSWORD_PATTERN,
} as const satisfies Record<string, MaskPattern>;
export type MaskPatternName = keyof typeof MASK_PATTERNS;
