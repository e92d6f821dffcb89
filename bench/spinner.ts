// A program of its own that keeps one processor busy.
import { workFor } from './processor-probe.ts';

const { milliseconds }: { milliseconds: number } = JSON.parse(process.argv[2]!);
process.send!(workFor(milliseconds), () => process.exit());
