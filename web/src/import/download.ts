export function saveBlob(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The browser has to begin the download first.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
