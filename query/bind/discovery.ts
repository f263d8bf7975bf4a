import { DISCOVERY_MAX_COLUMNS } from "../limits.ts";
import type { Relation } from "../plan/relation.ts";
import type { Span } from "../span.ts";
import { refuse } from "./refusal.ts";

/** A column that the data have, and the types of its values, by their names in Kusto. */
export interface DiscoveredColumn {
  readonly name: string;
  readonly types: readonly string[];
}

/** Ends the binding of a query whose columns depend on data that nobody has looked at yet. */
export class DiscoveryNeeded extends Error {
  /** Two columns of text: the name of a column to come, and the type of a value that it has. */
  readonly relation: Relation;
  readonly span: Span;

  constructor(relation: Relation, span: Span) {
    super("the columns depend on the data");
    this.name = "DiscoveryNeeded";
    this.relation = relation;
    this.span = span;
  }
}

/** The part of a compilation that keeps count of the looks at the data. */
interface Discoveries {
  readonly discovered: readonly (readonly DiscoveredColumn[])[];
  discoveries: number;
}

/** The columns that a look at the data found, in the order in which the query asks for them. Throws DiscoveryNeeded. */
export function discover(compilation: Discoveries, relation: Relation, span: Span): DiscoveredColumn[] {
  const found = compilation.discovered[compilation.discoveries];
  compilation.discoveries++;
  if (found === undefined) throw new DiscoveryNeeded(relation, span);
  if (found.length > DISCOVERY_MAX_COLUMNS)
    return refuse("TOO_COMPLEX", `The data have more than ${DISCOVERY_MAX_COLUMNS} columns.`, span);
  return [...found];
}
