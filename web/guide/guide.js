// Colour scheme, tabs and copy buttons of the guide. In the head, so a dark page does not flash white.
const root = document.documentElement;

function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Without storage the choice lasts until the page is left.
  }
}

function recall(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

// The web app keeps its choice under the same name.
const schemeName = 'stamm-color-scheme';
const languageName = 'stamm-guide-language';
const prefersDark = matchMedia('(prefers-color-scheme: dark)');

function isDark() {
  const chosen = root.dataset.scheme;
  return chosen ? chosen === 'dark' : prefersDark.matches;
}

const chosenScheme = recall(schemeName);
if (chosenScheme === 'dark' || chosenScheme === 'light') root.dataset.scheme = chosenScheme;

function addSchemeButton() {
  const button = document.querySelector('.scheme');
  const label = () => {
    button.textContent = isDark() ? 'Light mode' : 'Dark mode';
  };
  button.addEventListener('click', () => {
    root.dataset.scheme = isDark() ? 'light' : 'dark';
    remember(schemeName, root.dataset.scheme);
    label();
  });
  prefersDark.addEventListener('change', label);
  label();
  button.hidden = false;
}

function addMenu() {
  const button = document.querySelector('.menu');
  button.addEventListener('click', () => {
    const isOpen = button.getAttribute('aria-expanded') === 'true';
    button.setAttribute('aria-expanded', String(!isOpen));
  });
  button.hidden = false;
}

function showLanguage(language) {
  for (const group of document.querySelectorAll('.tabs')) {
    const tabs = [...group.querySelectorAll('[role=tab]')];
    const chosen = tabs.find((tab) => tab.dataset.language === language) ?? tabs[0];
    for (const tab of tabs) {
      const isChosen = tab === chosen;
      tab.setAttribute('aria-selected', String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      document.getElementById(tab.getAttribute('aria-controls')).hidden = !isChosen;
    }
  }
}

function addTabs() {
  for (const group of document.querySelectorAll('.tabs')) {
    const list = group.querySelector('.tab-list');
    const tabs = [...list.querySelectorAll('[role=tab]')];
    list.setAttribute('role', 'tablist');
    list.hidden = false;
    for (const panel of group.querySelectorAll('.panel')) {
      panel.setAttribute('role', 'tabpanel');
      panel.querySelector('.panel-title').hidden = true;
    }
    const choose = (tab) => {
      // Other groups on the page change too: keep this one where the reader sees it.
      const before = tab.getBoundingClientRect().top;
      showLanguage(tab.dataset.language);
      scrollBy(0, tab.getBoundingClientRect().top - before);
      remember(languageName, tab.dataset.language);
    };
    for (const [index, tab] of tabs.entries()) {
      tab.addEventListener('click', () => choose(tab));
      tab.addEventListener('keydown', ({ key }) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
        if (!step) return;
        const next = tabs.at((index + step) % tabs.length);
        next.focus();
        choose(next);
      });
    }
  }
  showLanguage(recall(languageName));
}

function addCopyButtons() {
  // Browsers offer the clipboard on secure pages only.
  if (!navigator.clipboard) return;
  for (const block of document.querySelectorAll('.code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(block.querySelector('code').textContent);
      button.textContent = 'Copied';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 2000);
    });
    block.append(button);
  }
}

document.addEventListener('DOMContentLoaded', () => {
  root.classList.add('scripted');
  addSchemeButton();
  addMenu();
  addTabs();
  addCopyButtons();
});
