export type { RecognisedEntry, RecogniserState } from "./entry-joiner.ts";
export { LINE_MAX_BYTES as RECOGNISED_LINE_MAX_BYTES } from "./limits.ts";
export { LineRecogniser, type LineRecogniserOptions } from "./line-recogniser.ts";
export { isoText, type NativeEntry, nativeEntryOf } from "./native-entry.ts";
export { LocalZone } from "./time/local-zone.ts";
