// Turns the Markdown of docs/guide into pages. People read the same files in the repository, so they hold no directives. A
// paragraph of links to examples becomes tabs.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import csharp from 'highlight.js/lib/languages/csharp';
import http from 'highlight.js/lib/languages/http';
import json from 'highlight.js/lib/languages/json';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import typescript from 'highlight.js/lib/languages/typescript';
import { Marked, type Token, type Tokens } from 'marked';

const root = path.resolve(import.meta.dirname, '../..');
const guide = path.join(root, 'docs/guide');
const home = 'first-call';

for (const [name, language] of Object.entries({ bash, csharp, http, json, php, python, typescript }))
  hljs.registerLanguage(name, language);

const languageOfExtension: Record<string, string> = {
  '.sh': 'bash',
  '.ts': 'typescript',
  '.py': 'python',
  '.php': 'php',
  '.cs': 'csharp',
};
const languageOfFence: Record<string, string> = { sh: 'bash', json: 'json', http: 'http' };

export interface Page {
  /** The last part of its address; the first page has the address /docs itself. */
  name: string;
  title: string;
  file: string;
}

export interface Section {
  title: string;
  pages: Page[];
}

export interface Heading {
  id: string;
  title: string;
}

/** The order and the groups of the pages, from the list that readers of the repository see. */
export function readSections(): Section[] {
  const sections: Section[] = [];
  for (const token of new Marked().lexer(readFileSync(path.join(guide, 'README.md'), 'utf8'))) {
    if (token.type === 'heading' && token.depth === 2) sections.push({ title: token.text, pages: [] });
    if (token.type !== 'list') continue;
    for (const link of linksIn(token)) {
      const file = path.resolve(guide, link.href);
      const name = path.basename(file, '.md').toLowerCase();
      sections.at(-1)!.pages.push({ name, title: link.text, file });
    }
  }
  return sections;
}

function linksIn(token: Token): Tokens.Link[] {
  if (token.type === 'link') return [token as Tokens.Link];
  const inner: Token[] = ('items' in token ? token.items : 'tokens' in token && token.tokens) || [];
  return inner.flatMap(linksIn);
}

export function addressOf(name: string): string {
  return name === home ? '/docs' : `/docs/${name}`;
}

/** The content of a page, and its headings of the second level. */
export function renderPage(page: Page, pages: readonly Page[]): { content: string; headings: Heading[] } {
  const headings: Heading[] = [];
  const marked = new Marked({ gfm: true });
  const used = new Set<string>();
  let groups = 0;
  let tables = 0;

  marked.use({
    renderer: {
      heading({ tokens, depth, text }) {
        const inner = this.parser.parseInline(tokens);
        if (depth === 1) return `<h1>${inner}</h1>\n`;
        const id = uniqueId(slugOf(text), used);
        if (depth === 2) headings.push({ id, title: inner.replace(/<[^>]+>/g, '') });
        const anchor = `<a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`;
        return `<h${depth} id="${id}">${inner} ${anchor}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        return `<a href="${escapeHtml(resolveLink(href, page, pages))}">${this.parser.parseInline(tokens)}</a>`;
      },
      code({ text, lang = '' }) {
        return renderCode(text, languageOfFence[lang]);
      },
      table(token) {
        const cell = (tag: 'td' | 'th', tokens: Token[]) =>
          `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`;
        const rows = token.rows.map((row) => {
          // A code in the first cell can be linked to, as /docs/error-codes#rate_limited.
          const code = /^`([\w-]+)`$/.exec(row[0]?.text ?? '')?.[1];
          const id = code && page.name === 'error-codes' ? ` id="${uniqueId(code, used)}"` : '';
          return `<tr${id}>${row.map(({ tokens }) => cell('td', tokens)).join('')}</tr>`;
        });
        // A column of names may have no title, and then has no heading for a screen reader either.
        const titles = token.header.map(({ text, tokens }) => cell(text ? 'th' : 'td', tokens));
        const head = `<thead><tr>${titles.join('')}</tr></thead>`;
        tables += 1;
        return `<div class="table" role="region" aria-label="Table ${tables}" tabindex="0"><table>${head}<tbody>${rows.join('\n')}</tbody></table></div>\n`;
      },
      paragraph({ tokens }) {
        const links = tokens.filter((token): token is Tokens.Link => token.type === 'link');
        const isExamples = links.length > 1 && links.every(({ href }) => href.startsWith('../examples/'));
        if (!isExamples) return `<p>${this.parser.parseInline(tokens)}</p>\n`;
        groups += 1;
        return renderTabs(`example-${groups}`, links, page);
      },
    },
  });
  return { content: marked.parse(readFileSync(page.file, 'utf8')) as string, headings };
}

/** Without JavaScript the examples stand below each other, each with its title. */
function renderTabs(group: string, links: readonly Tokens.Link[], page: Page): string {
  const tabs = links.map(
    ({ text }, index) =>
      `<button type="button" role="tab" id="${group}-tab-${index}" aria-controls="${group}-panel-${index}" data-language="${escapeHtml(text)}">${escapeHtml(text)}</button>`,
  );
  const panels = links.map(({ text, href }, index) => {
    const file = path.resolve(path.dirname(page.file), href);
    const code = renderCode(readFileSync(file, 'utf8').trimEnd(), languageOfExtension[path.extname(file)]);
    return `<div class="panel" id="${group}-panel-${index}" aria-labelledby="${group}-tab-${index}"><p class="panel-title">${escapeHtml(text)}</p>${code}</div>`;
  });
  return `<div class="tabs"><div class="tab-list" aria-label="Programming language" hidden>${tabs.join('')}</div>${panels.join('\n')}</div>\n`;
}

function renderCode(text: string, language: string | undefined): string {
  const code = language ? hljs.highlight(text, { language }).value : escapeHtml(text);
  return `<div class="code"><pre tabindex="0"><code>${code}</code></pre></div>\n`;
}

/** Fails the build for a link that would lead nowhere on the served pages. */
function resolveLink(href: string, page: Page, pages: readonly Page[]): string {
  if (/^(https:\/\/|\/|#)/.test(href)) return href;
  const [target = '', fragment] = href.split('#');
  const file = path.resolve(path.dirname(page.file), target);
  const known = pages.find((one) => one.file === file);
  if (known) return addressOf(known.name) + (fragment ? `#${fragment}` : '');
  // The changelog is read in the repository too, and links to pages that only operators need.
  if (page.name === 'changelog') return '/docs/versions';
  throw new Error(`${path.relative(root, page.file)} links to ${href}, which is no page of the guide.`);
}

function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
}

function uniqueId(wanted: string, used: Set<string>): string {
  let id = wanted;
  for (let count = 2; used.has(id); count += 1) id = `${wanted}-${count}`;
  used.add(id);
  return id;
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
