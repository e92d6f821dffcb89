// Calls as they arrive. The page shows whether the connection still holds.
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { call } from '../api/client.ts';
import type { RecordedRequest } from './requests.ts';

export type Line = 'connecting' | 'live' | 'lost';

const maxArrived = 200;
const retryMs = 10_000;
/** Counts and groups need not follow each single call. */
const refreshMs = 5000;

export function useLiveRequests(): { line: Line; arrived: readonly RecordedRequest[] } {
  const client = useQueryClient();
  const [line, setLine] = useState<Line>('connecting');
  const [arrived, setArrived] = useState<readonly RecordedRequest[]>([]);

  useEffect(() => {
    let source: EventSource;
    let retry: ReturnType<typeof setTimeout> | undefined;
    let refresh: ReturnType<typeof setTimeout> | undefined;
    let wasLost = false;

    function connect() {
      source = new EventSource('/app/requests/live');
      source.onopen = () => {
        setLine('live');
        // What came meanwhile is in the list.
        if (wasLost) void client.invalidateQueries({ queryKey: ['requests', 'list'] });
        wasLost = false;
      };
      source.onerror = () => {
        wasLost = true;
        setLine('lost');
        // The browser tries again by itself, unless the service has refused: then the session may have ended.
        if (source.readyState !== EventSource.CLOSED) return;
        void call('GET', '/session').catch(() => {});
        clearTimeout(retry);
        retry = setTimeout(connect, retryMs);
      };
      source.addEventListener('request', ({ data }: MessageEvent<string>) => {
        const request = JSON.parse(data) as RecordedRequest;
        setArrived((before) => [request, ...before].slice(0, maxArrived));
        refresh ??= setTimeout(() => {
          refresh = undefined;
          for (const name of ['hours', 'groups']) {
            void client.invalidateQueries({ queryKey: ['requests', name] });
          }
        }, refreshMs);
      });
    }

    connect();
    return () => {
      source.close();
      clearTimeout(retry);
      clearTimeout(refresh);
    };
  }, [client]);

  return { line, arrived };
}
