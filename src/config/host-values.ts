import { isHostName, ValueProblem, type ValueType } from "./values.ts";

/** Hosts by name, in small letters; `*` stands for every one. */
export const hostNames: ValueType<readonly string[]> = {
  accepts: "host names separated by commas, or `*`",
  read: (text) => {
    const entries = text.split(",").map((entry) => entry.trim().toLowerCase());
    for (const entry of entries)
      if (entry !== "*" && !isHostName(entry))
        throw new ValueProblem(`has an entry that is no host name: ${JSON.stringify(entry)}`);
    return entries;
  },
};
