// Bar charts as one SVG that reads on light and on dark ground.
import type { Chart } from './scenario.ts';

const width = 760;
const labelWidth = 290;
const valueWidth = 110;
const barHeight = 18;
const barGap = 8;
const titleHeight = 34;
const chartGap = 26;
const margin = 16;

const legend = 'Bars are medians, lines reach from the smallest round to the largest. Green is Stamm.';

/** A grey that reads on white and on black: an image does not know what it is put on. */
const style = `
  text { font: 13px system-ui, sans-serif; fill: #7d8590; }
  .title { font-weight: 600; }
  .reference { fill: #3b82a0; }
  .ours { fill: #2f8f5b; }
  .range { stroke: #c9a227; stroke-width: 2.5; }`;

export function drawCharts(charts: readonly Chart[]): string {
  const drawn: string[] = [];
  let top = margin;
  for (const chart of charts) {
    drawn.push(drawChart(chart, top));
    top += titleHeight + chart.bars.length * (barHeight + barGap) + chartGap;
  }
  drawn.push(`<text x="${margin}" y="${top}">${legend}</text>`);
  top += margin;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top}" width="${width}" height="${top}" role="img">
<title>What npm run bench measured</title>
<style>${style}
</style>
${drawn.join('\n')}
</svg>
`;
}

function drawChart({ title, unit, bars }: Chart, top: number): string {
  const most = Math.max(...bars.map(({ value, high }) => Math.max(value, high ?? 0)), Number.MIN_VALUE);
  const scale = (width - labelWidth - valueWidth - margin) / most;
  const lines = bars.map(({ label, value, low, high, isReference }, index) => {
    const y = top + titleHeight + index * (barHeight + barGap);
    const middle = y + barHeight / 2;
    const range =
      low === undefined || high === undefined
        ? ''
        : `<line class="range" x1="${at(labelWidth + low * scale)}" x2="${at(labelWidth + high * scale)}" y1="${middle}" y2="${middle}"/>`;
    const end = labelWidth + Math.max(value, high ?? 0) * scale;
    const kind = isReference ? 'reference' : 'ours';
    return `<text x="${labelWidth - 10}" y="${y + 13}" text-anchor="end">${escapeXml(label)}</text>
<rect class="${kind}" x="${labelWidth}" y="${y}" width="${at(value * scale)}" height="${barHeight}" rx="2"/>${range}
<text x="${at(end + 8)}" y="${y + 13}">${formatValue(value)} ${escapeXml(unit)}</text>`;
  });
  return `<text class="title" x="${margin}" y="${top + 18}">${escapeXml(title)}</text>\n${lines.join('\n')}`;
}

function at(place: number): string {
  return place.toFixed(1);
}

function formatValue(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
