// A file that somebody dropped on another page, for the import page to open.
let handed: File | undefined;

export function handOver(file: File): void {
  handed = file;
}

export function takeHanded(): File | undefined {
  const file = handed;
  handed = undefined;
  return file;
}
