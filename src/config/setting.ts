import type { ValueType } from "./values.ts";

/** The declaration of a setting: the only place where it is spelled. */
interface SettingSpec<T> {
  /** The environment variable. */
  readonly name: string;
  /** The text that is read when the variable is unset or empty; without it the value is null then. */
  readonly default?: string;
  /** What the documentation says in place of the default. */
  readonly defaultText?: string;
  readonly type: ValueType<T>;
  readonly meaning: string;
  /** The value may hold a password and is never repeated. */
  readonly secret?: boolean;
}

/** One row of the table of settings. `V` is the type of its value, null included where it may be absent. */
export interface Setting<V> extends SettingSpec<unknown> {
  /** The value for the text of the variable, empty when it is unset. Throws `ValueProblem`. */
  readonly read: (text: string) => V;
}

/** Declares a setting; one without a default may be absent. */
export function setting<T>(spec: SettingSpec<T> & { readonly default: string }): Setting<T>;
export function setting<T>(spec: SettingSpec<T> & { readonly default?: never }): Setting<T | null>;
export function setting<T>(spec: SettingSpec<T>): Setting<T | null> {
  return {
    ...spec,
    read: (given) => {
      const text = given || spec.default;
      return text === undefined ? null : spec.type.read(text);
    },
  };
}
