import type { LibraryUse } from "../library.ts";
import { DISCOVERY_MAX_COLUMNS } from "../limits.ts";
import type { Relation } from "../plan/relation.ts";
import type { Span } from "../span.ts";
import { refuse } from "./refusal.ts";

/** What a look at the data answered: rows of texts, one for each column of its relation. */
export type DiscoveredRows = readonly (readonly string[])[];

/** A column that the data have, and the types of its values, by their names in Kusto. */
interface DiscoveredColumn {
  readonly name: string;
  readonly types: readonly string[];
}

/** Ends the binding of a query that depends on data that nobody has looked at yet. */
export class DiscoveryNeeded extends Error {
  /** Columns of text, and at most `DISCOVERY_MAX_ROWS` rows of them. */
  readonly relation: Relation;
  readonly span: Span;
  /** What is computed of the texts of its one column; null where they are anything else. */
  readonly computes: LibraryUse | null;

  constructor(relation: Relation, span: Span, computes: LibraryUse | null) {
    super("the query depends on the data");
    this.name = "DiscoveryNeeded";
    this.relation = relation;
    this.span = span;
    this.computes = computes;
  }
}

/** The part of a compilation that keeps count of the looks at the data. */
interface Discoveries {
  readonly discovered: readonly DiscoveredRows[];
  discoveries: number;
}

/** What a look at the data found, in the order in which the query asks for them. Throws DiscoveryNeeded. */
export function discover(
  compilation: Discoveries,
  relation: Relation,
  span: Span,
  computes: LibraryUse | null = null,
): DiscoveredRows {
  const found = compilation.discovered[compilation.discoveries];
  compilation.discoveries++;
  if (found === undefined) throw new DiscoveryNeeded(relation, span, computes);
  return found;
}

/** The columns that a relation of names of columns and types of values tells of. Throws DiscoveryNeeded. */
export function discoverColumns(
  compilation: Discoveries,
  relation: Relation,
  span: Span,
): DiscoveredColumn[] {
  const types = new Map<string, string[]>();
  for (const [name = "", type = ""] of discover(compilation, relation, span))
    types.set(name, [...(types.get(name) ?? []), type]);
  if (types.size > DISCOVERY_MAX_COLUMNS)
    return refuse("TOO_COMPLEX", `The data have more than ${DISCOVERY_MAX_COLUMNS} columns.`, span);
  return [...types].map(([name, of]) => ({ name, types: of }));
}
