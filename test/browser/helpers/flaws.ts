// Finds what a person would call broken in a page, without knowing how it should look.
import type { Page } from 'playwright-core';

/** One line for each flaw that stays. A menu follows its field some frames after the window changes. */
export async function findFlaws(page: Page): Promise<string[]> {
  let flaws = await page.evaluate(lookForFlaws);
  for (let frame = 0; flaws.length > 0 && frame < 60; frame += 1) {
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
    flaws = await page.evaluate(lookForFlaws);
  }
  return flaws;
}

/** Self-contained, since Playwright sends its text to the browser. */
function lookForFlaws(): string[] {
  const flaws: string[] = [];
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth)
    flaws.push(`wider than the screen by ${root.scrollWidth - root.clientWidth}`);

  const nameOf = (element: Element) => {
    const words = element.getAttribute('aria-label') ?? element.textContent ?? '';
    return `<${element.tagName.toLowerCase()}> ${words.trim().slice(0, 60)}`;
  };
  const isShown = (element: Element) =>
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true });

  // A text that is cut off without dots.
  for (const element of document.querySelectorAll<HTMLElement>(
    'h1, h2, h3, dt, dd, th, label, button, button span, a, a span, p, li > span',
  )) {
    const style = getComputedStyle(element);
    const isCut = element.scrollWidth > element.clientWidth + 2 && element.clientWidth > 1;
    const isHiding = ['hidden', 'clip'].includes(style.overflowX) && style.textOverflow !== 'ellipsis';
    if (isShown(element) && isCut && isHiding) flaws.push(`cut off: ${nameOf(element)}`);
  }

  // A text that is missing would show its key.
  const key =
    /\b(actions|navigation|table|record|form|home|api|people|attention|import|requests|map|bin|views|search|settings)\.[a-z]+[A-Za-z]*\b(?!\.)/;
  const missing = key.exec(document.body.innerText);
  if (missing) flaws.push(`text without words: ${missing[0]}`);

  // Something to click that lies under something else to click.
  const clickable = 'a[href], button, input, select, textarea, [role="switch"], [role="tab"]';
  const isClipped = (element: Element, x: number, y: number) => {
    for (let parent = element.parentElement; parent; parent = parent.parentElement) {
      const style = getComputedStyle(parent);
      if (style.overflowX === 'visible' && style.overflowY === 'visible') continue;
      const box = parent.getBoundingClientRect();
      if (x < box.left || x > box.right || y < box.top || y > box.bottom) return true;
    }
    return false;
  };
  // A bar that floats over a page covers something else after scrolling.
  const isFloating = (element: Element) => {
    for (let at: Element | null = element; at; at = at.parentElement) {
      if (['sticky', 'fixed'].includes(getComputedStyle(at).position)) return true;
    }
    return false;
  };
  for (const element of document.querySelectorAll(clickable)) {
    const box = element.getBoundingClientRect();
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const isInView = box.width > 2 && box.height > 2 && x >= 0 && y >= 0 && x < innerWidth && y < innerHeight;
    if (!isInView || !isShown(element) || isClipped(element, x, y)) continue;
    const top = document.elementFromPoint(x, y)?.closest(clickable);
    if (!top || top === element || top.contains(element) || element.contains(top)) continue;
    if (isFloating(top)) continue;
    // An input may hold a button.
    const isInside = element.closest('[class*="Input-wrapper"]')?.contains(top) ?? false;
    if (!isInside) flaws.push(`covered: ${nameOf(element)} by ${nameOf(top)}`);
  }
  return flaws;
}
