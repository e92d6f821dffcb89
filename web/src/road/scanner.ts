// Reads QR codes from the camera: by the browser where it can, otherwise by a library that loads here only.

interface Detector {
  detect(image: HTMLVideoElement | HTMLCanvasElement): Promise<{ rawValue: string }[]>;
}

interface DetectorType {
  new (options: { formats: string[] }): Detector;
  getSupportedFormats(): Promise<readonly string[]>;
}

async function createDetector(): Promise<Detector> {
  const own = (globalThis as { BarcodeDetector?: DetectorType }).BarcodeDetector;
  // Chromium has the class on systems without any format.
  const canRead = (await own?.getSupportedFormats().catch((): string[] => []))?.includes('qr_code');
  if (own && canRead) return new own({ formats: ['qr_code'] });
  const { BarcodeDetector } = await import('qr/decode.js');
  return new BarcodeDetector({ formats: ['qr_code'] });
}

interface Watch {
  signal: AbortSignal;
  onSeeing: () => void;
  /** Says whether the code led somewhere. Otherwise the camera goes on. */
  onCode: (code: string) => Promise<boolean>;
}

/** Reports a code only once while it stays in view. */
export async function watchCodes(
  video: HTMLVideoElement,
  { signal, onSeeing, onCode }: Watch,
): Promise<void> {
  const stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } });
  const stop = () => {
    for (const track of stream.getTracks()) track.stop();
  };
  signal.addEventListener('abort', stop);
  if (signal.aborted) return stop();
  const detector = await createDetector();
  video.srcObject = stream;
  await video.play();
  onSeeing();
  const canvas = document.createElement('canvas');
  let last: string | undefined;
  while (!signal.aborted) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    if (video.videoWidth === 0) continue;
    canvas.width = video.videoWidth;
    canvas.height = video.videoHeight;
    canvas.getContext('2d', { willReadFrequently: true })!.drawImage(video, 0, 0);
    const [found] = await detector.detect(canvas).catch(() => []);
    if (!found || found.rawValue === last) continue;
    last = found.rawValue;
    if (await onCode(found.rawValue)) return stop();
  }
}
