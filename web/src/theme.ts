import { createTheme, type MantineColorsTuple } from '@mantine/core';

const leaf: MantineColorsTuple = [
  '#eef6f0',
  '#dcebe1',
  '#b8d8c4',
  '#8fc3a4',
  '#6cb088',
  '#4c9a6c',
  '#36835a',
  '#2b6f4a',
  '#225a3c',
  '#194630',
];

/** Neutral tones with a breath of green: the dark theme is not plain black. */
const dark: MantineColorsTuple = [
  '#dde3de',
  '#b9c2bc',
  '#97a29b',
  '#6f7b74',
  '#434d47',
  '#343d38',
  '#28302b',
  '#1b211e',
  '#151a17',
  '#0f1311',
];

export const theme = createTheme({
  primaryColor: 'leaf',
  primaryShade: 7,
  colors: { leaf, dark },
  fontFamily: "'Inter Variable', system-ui, -apple-system, 'Segoe UI', sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SFMono-Regular', 'Cascadia Code', 'Liberation Mono', monospace",
  headings: {
    fontWeight: '650',
    sizes: {
      h1: { fontSize: '1.625rem', lineHeight: '1.25' },
      h2: { fontSize: '1.125rem', lineHeight: '1.35' },
      h3: { fontSize: '0.9375rem', lineHeight: '1.4' },
    },
  },
  defaultRadius: 'md',
  cursorType: 'pointer',
  focusRing: 'auto',
  respectReducedMotion: true,
  components: {
    Modal: {
      defaultProps: {
        centered: true,
        overlayProps: { backgroundOpacity: 0.4, blur: 2 },
        // The head of a dialog is no head of the page.
        attributes: { header: { role: 'none' } },
      },
      styles: { title: { fontWeight: 650, lineHeight: 1.35 } },
    },
    Drawer: {
      defaultProps: { overlayProps: { backgroundOpacity: 0.25 } },
      styles: { title: { fontWeight: 650, lineHeight: 1.35 } },
    },
    Menu: { defaultProps: { shadow: 'md', position: 'bottom-end' } },
    Badge: { defaultProps: { variant: 'light', tt: 'none', fw: 550 } },
    Select: { defaultProps: { checkIconPosition: 'right' } },
  },
});
