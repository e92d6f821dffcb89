// Before the first paint, so that a dark page does not flash white. A file, since inline scripts are not allowed.
try {
  const chosen = localStorage.getItem('stamm-color-scheme') ?? 'auto';
  const isDark = chosen === 'auto' ? matchMedia('(prefers-color-scheme: dark)').matches : chosen === 'dark';
  document.documentElement.dataset.mantineColorScheme = isDark ? 'dark' : 'light';
} catch {
  // Without storage the browser's own scheme is taken.
}
