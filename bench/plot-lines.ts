// Lines over time, one chart below the other, as one SVG that reads on light and on dark ground.
const width = 760;
const height = 90;
const titleHeight = 30;
const left = 70;
const margin = 16;

export interface Line {
  title: string;
  /** Taken at equal distances in time. */
  values: readonly number[];
}

const style = `
  text { font: 13px system-ui, sans-serif; fill: #7d8590; }
  .title { font-weight: 600; }
  .line { fill: none; stroke: #2f8f5b; stroke-width: 1.5; }
  .ground { stroke: #7d8590; stroke-width: 0.5; }`;

export function drawLines(lines: readonly Line[], minutes: number): string {
  const step = titleHeight + height;
  const bottom = margin + lines.length * step + 24;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${bottom}" width="${width}" height="${bottom}" role="img">
<title>What grows under hours of mixed work</title>
<style>${style}
</style>
${lines.map((line, index) => drawLine(line, margin + index * step)).join('\n')}
<text x="${left}" y="${bottom - 8}">0 min</text>
<text x="${width - margin}" y="${bottom - 8}" text-anchor="end">${Math.round(minutes)} min</text>
</svg>
`;
}

/** From zero on, so that a line that looks steep is steep. */
function drawLine({ title, values }: Line, top: number): string {
  const most = Math.max(...values, Number.MIN_VALUE);
  const ground = top + titleHeight + height - 12;
  const points = values.map((value, index) => {
    const x = left + (index / Math.max(1, values.length - 1)) * (width - left - margin);
    const y = ground - (value / most) * (height - 24);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  return `<text class="title" x="${margin}" y="${top + 16}">${title}</text>
<text x="${left - 8}" y="${ground - height + 36}" text-anchor="end">${Math.round(most).toLocaleString('en-US')}</text>
<text x="${left - 8}" y="${ground}" text-anchor="end">0</text>
<line class="ground" x1="${left}" x2="${width - margin}" y1="${ground}" y2="${ground}"/>
<polyline class="line" points="${points.join(' ')}"/>`;
}
