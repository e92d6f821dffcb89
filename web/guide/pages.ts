// The files of the guide: a page for each Markdown file, with navigation around it, and what the pages load.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import {
  addressOf,
  escapeHtml,
  type Heading,
  type Page,
  readSections,
  renderPage,
  type Section,
} from './render.ts';

export function makeFiles(): Map<string, string> {
  const files = new Map<string, string>();
  const assets = ['css', 'js'].map((extension) => {
    const content = readFileSync(path.join(import.meta.dirname, `guide.${extension}`), 'utf8');
    const hash = createHash('sha256').update(content).digest('base64url').slice(0, 12);
    const name = `guide-${hash}.${extension}`;
    files.set(name, content);
    return name;
  });
  const sections = readSections();
  const pages = sections.flatMap((section) => section.pages);
  for (const [index, page] of pages.entries()) {
    const { content, headings } = renderPage(page, pages);
    const around = { previous: pages[index - 1], next: pages[index + 1] };
    files.set(`${page.name}.html`, writePage({ page, sections, content, headings, around, assets }));
  }
  return files;
}

interface PageParts {
  page: Page;
  sections: Section[];
  content: string;
  headings: Heading[];
  around: { previous: Page | undefined; next: Page | undefined };
  assets: string[];
}

function writePage({ page, sections, content, headings, around, assets }: PageParts): string {
  const [style, script] = assets;
  const link = (one: Page, more = '') =>
    `<a href="${addressOf(one.name)}"${more}>${escapeHtml(one.title)}</a>`;
  const navigation = sections.map(
    ({ title, pages }) => `<p class="group">${escapeHtml(title)}</p>
<ul>${pages.map((one) => `<li>${link(one, one === page ? ' aria-current="page"' : '')}</li>`).join('')}</ul>`,
  );
  const contents = headings.map(({ id, title }) => `<li><a href="#${id}">${title}</a></li>`).join('');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(page.title)} – Stamm API</title>
<link rel="icon" href="/icon.svg">
<link rel="stylesheet" href="/docs/${style}">
<script src="/docs/${script}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<a class="brand" href="/docs"><img src="/icon.svg" alt="" width="24" height="24">Stamm API</a>
<button class="menu" type="button" aria-expanded="false" aria-controls="navigation" hidden>Menu</button>
<span class="fill"></span>
<a href="/docs/reference">API reference</a>
<button class="scheme" type="button" hidden>Dark mode</button>
</header>
<div class="columns">
<nav id="navigation" class="side" aria-label="Guide">
${navigation.join('\n')}
<ul>
<li><a href="/docs/reference">API reference</a></li>
<li><a href="/openapi.json">OpenAPI document</a></li>
<li><a href="/docs/postman.json" download="stamm.postman_collection.json">Postman collection</a></li>
<li><a href="/docs/stamm-client.tgz" download>TypeScript client</a></li>
</ul>
</nav>
<main id="content">
${content}
<nav class="around" aria-label="Neighbouring pages">
${around.previous ? `<span>Previous: ${link(around.previous, ' rel="prev"')}</span>` : '<span></span>'}
${around.next ? `<span>Next: ${link(around.next, ' rel="next"')}</span>` : ''}
</nav>
</main>
<aside class="side" aria-label="On this page">${contents ? `<p class="group">On this page</p><ul>${contents}</ul>` : ''}</aside>
</div>
</body>
</html>
`;
}
