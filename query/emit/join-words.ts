import type { JoinSource } from "./select-block.ts";

/** How ClickHouse calls each kind of join. */
export const JOINS: Readonly<Record<JoinSource["joinKind"], string>> = {
  inner: "INNER",
  left: "LEFT",
  right: "RIGHT",
  full: "FULL OUTER",
  leftSemi: "LEFT SEMI",
  leftAnti: "LEFT ANTI",
};
