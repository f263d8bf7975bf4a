export type { RecognisedEntry, RecogniserState } from "./entry-joiner.ts";
export { LineRecogniser, type LineRecogniserOptions } from "./line-recogniser.ts";
export { type NativeEntry, nativeEntryOf } from "./native-entry.ts";
export { LocalZone } from "./time/local-zone.ts";
