import type { Static, TSchema } from "typebox";
import { Compile } from "typebox/compile";

/** Says whether a value has the form of a schema. */
interface FormCheck<S extends TSchema> {
  Check(value: unknown): value is Static<S>;
}

/** Compiled when it is first asked: that takes milliseconds and memory, and of several hundred schemas a server asks few, a start none. */
export function lateCheck<S extends TSchema>(schema: S): FormCheck<S> {
  const compile = () => Compile(schema);
  let compiled: ReturnType<typeof compile> | undefined;
  return {
    Check: (value): value is Static<S> => {
      compiled ??= compile();
      return compiled.Check(value);
    },
  };
}
