// Traces as a part of the process.
import type { Config } from '../../config.ts';
import { startTracing } from '../../telemetry/tracing.ts';
import { version } from '../../version.ts';

/** Returns a function that stops them. */
export async function startTraces(config: Config): Promise<() => Promise<void>> {
  const hasReceiver =
    config.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined ||
    config.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT !== undefined;
  if (!hasReceiver) return async () => {};
  return startTracing({
    serviceName: config.OTEL_SERVICE_NAME,
    serviceVersion: version,
    sampledShare: config.OTEL_TRACES_SAMPLER_ARG,
  });
}
