import type { Mapping } from "../mapping.ts";

/** A mapping for what a known product sends. */
export interface Preset {
  /** What a source's `preset` says, at most 64 characters. */
  readonly name: string;
  readonly title: string;
  /** What sends it, and what has to be set there. */
  readonly description: string;
  readonly format: "json" | "ndjson" | "cef";
  readonly mapping: Mapping;
  /** One invented record as the product sends it: a JSON value, a text for CEF. */
  readonly sample: unknown;
  /** What all its records have, and hardly any other product's: by these a sample is recognised. */
  readonly signs: readonly Sign[];
}

/** A path that leads to a value, or one whose value looks in a certain way. */
export type Sign = string | { readonly path: string; readonly value: RegExp };
