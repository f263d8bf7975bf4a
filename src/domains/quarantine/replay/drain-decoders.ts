import {
  DeliveryDecoder,
  DeploymentDrainDecoder,
  ForwardDecoder,
  GelfDecoder,
  JournalDecoder,
  LokiPush,
  type RecordDecoder,
  SplunkEvents,
} from "../../../../ingest/index.ts";

/**
 * The formats of receivers without a configured source whose records are kept in such a form that each is a body of its
 * own. What is kept of other formats, such as a frame that cannot be told from the next, can be looked at and discarded.
 */
export function drainDecoders(): ReadonlyMap<string, RecordDecoder> {
  const decoders = [
    new DeploymentDrainDecoder(),
    new DeliveryDecoder(),
    new SplunkEvents(),
    new LokiPush(),
    new ForwardDecoder(),
    new GelfDecoder(),
    new JournalDecoder(),
  ];
  return new Map(decoders.map((decoder) => [decoder.format, decoder]));
}
