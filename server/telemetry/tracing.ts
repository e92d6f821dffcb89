// Traces by OpenTelemetry. Its packages load only where its variables name a receiver; otherwise no span exists.
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  Attributes,
  Context,
  Link,
  Span,
  SpanKind,
  TextMapPropagator,
  Tracer,
} from '@opentelemetry/api';
import { expected } from './expected.ts';
import { currentWork, type Work } from './work.ts';

interface Tracing {
  tracer: Tracer;
  propagator: TextMapPropagator;
  api: typeof import('@opentelemetry/api');
}

let tracing: Tracing | undefined;

/** A receiver that is away must not hold up the end of the process. */
const stopAfterMs = 2000;

export interface TracingOptions {
  serviceName: string;
  serviceVersion: string;
  /** Share of the traces that begin here, from 0 to 1. A trace that begins elsewhere brings its own decision. */
  sampledShare: number;
}

/** The exporter reads address, headers and timeout from its own variables. Returns a function that sends the rest. */
export async function startTracing(options: TracingOptions): Promise<() => Promise<void>> {
  const [api, { W3CTraceContextPropagator }, { resourceFromAttributes }, sdk, { OTLPTraceExporter }] =
    await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/core'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/exporter-trace-otlp-http'),
    ]);
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({
      'service.name': options.serviceName,
      'service.version': options.serviceVersion,
      'service.instance.id': `${process.pid}`,
    }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(options.sampledShare) }),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
  tracing = { api, tracer: provider.getTracer('stamm'), propagator: new W3CTraceContextPropagator() };
  return async () => {
    tracing = undefined;
    const sent = provider.shutdown().catch(expected);
    await Promise.race([sent, sleep(stopAfterMs, undefined, { ref: false })]);
  };
}

export function isTracing(): boolean {
  return tracing !== undefined;
}

type Kind = keyof typeof SpanKind;

interface SpanOptions {
  kind: Kind;
  parent?: Context | undefined;
  attributes?: Attributes;
  links?: Link[];
}

function start(name: string, { kind, parent, attributes, links }: SpanOptions): Span | undefined {
  if (!tracing) return undefined;
  const { api, tracer } = tracing;
  const options = { kind: api.SpanKind[kind], ...(attributes && { attributes }), ...(links && { links }) };
  return tracer.startSpan(name, options, parent ?? api.ROOT_CONTEXT);
}

function contextOf(span: Span | undefined): Context | undefined {
  return span && tracing?.api.trace.setSpan(tracing.api.ROOT_CONTEXT, span);
}

type Headers = Record<string, string | string[] | undefined>;

/** Continues the trace that the client names in `traceparent`. */
export function startRequestSpan(method: string, headers: Headers): Span | undefined {
  if (!tracing) return undefined;
  const { api, propagator } = tracing;
  const parent = propagator.extract(api.ROOT_CONTEXT, headers, api.defaultTextMapGetter);
  return start(method, { kind: 'SERVER', parent, attributes: { 'http.request.method': method } });
}

export function endRequestSpan(span: Span, method: string, route: string | undefined, status: number): void {
  if (route) span.updateName(`${method} ${route}`).setAttribute('http.route', route);
  span.setAttribute('http.response.status_code', status);
  if (status >= 500 && tracing) span.setStatus({ code: tracing.api.SpanStatusCode.ERROR });
  span.end();
}

const mostLinks = 100;

/** Belongs to the first request that has a trace, and links the others. */
export function startBatchSpan(kind: string, works: readonly Work[]): Span | undefined {
  if (!tracing) return undefined;
  const [first, ...others] = works.flatMap(({ span }) => span ?? []);
  return start(`batch ${kind}`, {
    kind: 'INTERNAL',
    parent: contextOf(first),
    attributes: { 'stamm.batch.items': works.length },
    links: others.slice(0, mostLinks).map((span) => ({ context: span.spanContext() })),
  });
}

/** Undefined outside of requests: upkeep would only make noise. */
export function startStatementSpan(name: string): Span | undefined {
  const span = currentWork.getStore()?.span;
  if (!span) return undefined;
  const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': name };
  return start(name, { kind: 'CLIENT', parent: contextOf(span), attributes });
}

/** A delivery is a trace of its own: the journal does not record which trace a change came from. */
export function startDeliverySpan(host: string): { span: Span | undefined; headers: Record<string, string> } {
  const span = start('webhook delivery', { kind: 'CLIENT', attributes: { 'server.address': host } });
  const headers: Record<string, string> = {};
  const context = contextOf(span);
  if (context) tracing?.propagator.inject(context, headers, tracing.api.defaultTextMapSetter);
  return { span, headers };
}

export function endSpan(span: Span | undefined, error?: unknown): void {
  if (!span) return;
  if (error !== undefined && tracing) span.setStatus({ code: tracing.api.SpanStatusCode.ERROR });
  span.end();
}
