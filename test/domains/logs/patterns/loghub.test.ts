import { expect, test } from "bun:test";
import { measureAccuracy, minePatterns } from "../../../../bench/patterns/accuracy.ts";
import { hasLoghub, readLabelledLines, SYSTEMS } from "../../../../bench/patterns/loghub.ts";

/** Below what one configuration reaches on all systems; a change that falls under one of them makes patterns worse. */
const LEAST: Record<string, { ga: number; fga: number }> = {
  HDFS: { ga: 0.99, fga: 0.99 },
  Hadoop: { ga: 0.99, fga: 0.98 },
  Zookeeper: { ga: 0.99, fga: 0.93 },
  Linux: { ga: 0.99, fga: 0.99 },
  Android: { ga: 0.95, fga: 0.93 },
  Apache: { ga: 0.99, fga: 0.99 },
  OpenSSH: { ga: 0.99, fga: 0.99 },
  OpenStack: { ga: 0.99, fga: 0.99 },
};

const isPresent = hasLoghub();
if (!isPresent) process.stderr.write("patterns of labelled logs: the data is not here, left out\n");

for (const system of SYSTEMS) {
  test.skipIf(!isPresent)(`${system}: lines are grouped as people group them, in any order`, () => {
    const lines = readLabelledLines(system);
    expect(lines).toHaveLength(2000);
    const accuracy = measureAccuracy(minePatterns(lines.map(({ content }) => content)), lines);
    expect(accuracy.ga).toBeGreaterThanOrEqual(LEAST[system]?.ga ?? 1);
    expect(accuracy.fga).toBeGreaterThanOrEqual(LEAST[system]?.fga ?? 1);

    const reversed = lines.toReversed();
    const again = measureAccuracy(minePatterns(reversed.map(({ content }) => content)), reversed);
    expect(again).toEqual(accuracy);
  });
}
